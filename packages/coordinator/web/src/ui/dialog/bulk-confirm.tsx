import { useEffect, useState } from 'preact/hooks';
import { changeJobs, countJobs } from '../../api/bulk-jobs.js';
import type { BulkResult, BulkVerb, ChosenJobs } from '../../api/bulk-jobs.js';
import { Button } from '../button/button.js';
import { useAct } from '../form/act.js';
import { FaultText } from '../table/states.js';
import { formatCount, plural } from '../text/format.js';
import { Dialog } from './dialog.js';
import { toast } from './toasts.js';

interface BulkConfirmProps {
  readonly verb: BulkVerb;
  readonly jobs: ChosenJobs;
  /** The number of these jobs; null: it is counted. */
  readonly count: number | null;
  /** After the change, also of a part of them. */
  readonly onDone: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks before many jobs are canceled or retried, and says how many. */
export function BulkConfirm({ verb, jobs, count: known, onDone, onClose }: BulkConfirmProps) {
  const [count, setCount] = useState<Count | null>(
    known === null ? null : { jobs: known, isCapped: false },
  );
  const [changed, setChanged] = useState(0);
  const counting = useAct(async () => {
    if ('where' in jobs && known === null) setCount(await counted(verb, jobs.where));
  });
  useEffect(() => void counting.run(), []);
  const act = useAct(async () => {
    try {
      tell(verb, await changeJobs(verb, jobs, setChanged));
    } finally {
      await onDone();
    }
    onClose();
  });
  const those = count === null ? 'these jobs' : textOf(count);
  return (
    <Dialog title={`${VERBS[verb].title} ${those}?`} onClose={onClose}>
      <p>{VERBS[verb].text}</p>
      <p class="soft" role="status">
        {count === null && counting.fault === null && 'Counting…'}
        {act.isBusy && changed > 0 && `${formatCount(changed)} done…`}
      </p>
      <FaultText fault={act.fault ?? counting.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Keep them as they are</Button>
        <Button
          tone={verb === 'cancel' ? 'danger' : 'primary'}
          busy={act.isBusy}
          disabled={count === null || count.jobs === 0}
          onClick={() => void act.run()}
        >
          {VERBS[verb].title} {those}
        </Button>
      </div>
    </Dialog>
  );
}

const VERBS = {
  cancel: {
    title: 'Cancel',
    text:
      'Those that run are stopped on their GPU, and what they have done so far is lost. ' +
      'They can be retried.',
    done: 'Canceled',
  },
  retry: {
    title: 'Retry',
    text: 'Each is queued again with the same request. Their errors and results are cleared.',
    done: 'Queued again',
  },
} as const;

interface Count {
  readonly jobs: number;
  /** There are this many or more. */
  readonly isCapped: boolean;
}

async function counted(verb: BulkVerb, where: Parameters<typeof countJobs>[0]): Promise<Count> {
  const { cancelable, retryable, is_capped: isCapped } = await countJobs(where);
  return { jobs: verb === 'cancel' ? cancelable : retryable, isCapped };
}

function textOf({ jobs, isCapped }: Count): string {
  return isCapped ? `${formatCount(jobs)} or more jobs` : plural(jobs, 'job');
}

function tell(verb: BulkVerb, { changed, unchanged, stopped }: BulkResult): void {
  const done = `${VERBS[verb].done}: ${plural(changed, 'job')}.`;
  const rest = unchanged === 0 ? '' : ` ${plural(unchanged, 'job')} had changed meanwhile.`;
  toast(`${done}${rest} ${stopped ?? ''}`.trim(), stopped === null ? 'good' : 'bad');
}
