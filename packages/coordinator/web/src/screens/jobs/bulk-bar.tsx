import { useState } from 'preact/hooks';
import { cancelJob, isActive, isRetryable, retryJob, withEach } from '../../api/jobs.js';
import type { Job, Outcome } from '../../api/jobs.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { plural } from '../../ui/text/format.js';
import { SelectionBar } from '../../ui/table/selection-bar.js';
import { toast } from '../../ui/dialog/toasts.js';
import type { Choose } from './job-table.js';

interface BulkBarProps {
  /** Those that are chosen. */
  readonly jobs: readonly Job[];
  readonly onChoose: Choose;
  readonly onChange: () => Promise<void>;
}

export function BulkBar({ jobs, onChoose, onChange }: BulkBarProps) {
  const [isAsking, setAsking] = useState(false);
  const active = jobs.filter(isActive);
  const retryable = jobs.filter(isRetryable);
  const run = async (verb: string, those: readonly Job[], action: Action): Promise<void> => {
    const outcome = await withEach(
      those.map(({ id }) => id),
      action,
    );
    tell(verb, those.length, outcome);
    // What was left stays chosen, to be tried again.
    const done = new Set(outcome.done);
    onChoose(new Set(jobs.map(({ id }) => id).filter((id) => outcome.fault && !done.has(id))));
    await onChange();
  };
  const retry = useAct(() => run('Retried', retryable, retryJob));
  return (
    <SelectionBar
      what="jobs"
      count={plural(jobs.length, 'job')}
      onClear={() => onChoose(new Set())}
    >
      <Button
        small
        icon="rotate-ccw"
        busy={retry.isBusy}
        disabled={retryable.length === 0}
        onClick={() => void retry.run()}
      >
        Retry {retryable.length}
      </Button>
      <Button
        small
        tone="danger"
        icon="ban"
        disabled={active.length === 0}
        onClick={() => setAsking(true)}
      >
        Cancel {active.length}
      </Button>
      {isAsking && (
        <Confirm
          title={`Cancel ${plural(active.length, 'job')}?`}
          text={CANCEL}
          verb={`Cancel ${plural(active.length, 'job')}`}
          action={() => run('Canceled', active, cancelJob)}
          onClose={() => setAsking(false)}
        />
      )}
    </SelectionBar>
  );
}

const CANCEL =
  'Those that run are stopped on their GPU, and what they have done so far is lost. ' +
  'They can be retried.';

type Action = (id: string) => Promise<unknown>;

function tell(verb: string, count: number, { done, fault }: Outcome): void {
  if (fault === null) toast(`${verb} ${plural(count, 'job')}.`);
  else toast(`${verb} ${done.length} of ${plural(count, 'job')}. ${fault.message}`, 'bad');
}
