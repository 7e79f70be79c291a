import { useState } from 'preact/hooks';
import { BATCHES, isActive, isRetryable, retryJob, withEach } from '../../api/jobs.js';
import type { BatchDetail } from '../../api/jobs.js';
import { requestJson } from '../../api/request.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { plural } from '../../ui/text/format.js';
import { saveText } from '../../ui/text/save-text.js';
import { toast } from '../../ui/dialog/toasts.js';
import { batchResults } from './batch-results.js';

interface BatchActionsProps {
  readonly batch: BatchDetail;
  readonly onDone: () => Promise<void>;
}

export function BatchActions({ batch, onDone }: BatchActionsProps) {
  const [isAsking, setAsking] = useState(false);
  const again = retryableOf(batch);
  const active = batch.jobs.filter(isActive);
  const retry = useToastedAct(() => retryAll(again, onDone));
  const download = useToastedAct(async () => {
    const text = await batchResults(batch);
    saveText(`${batch.id}.jsonl`, 'application/jsonl', text);
  });
  const cancel = async (): Promise<void> => {
    await requestJson(`${BATCHES}/${batch.id}/cancel`, { method: 'POST' });
    await onDone();
    toast('Canceled what had not ended.');
  };
  return (
    <>
      <LinkButton href="/batches" tone="quiet" icon="arrow-left">
        All batches
      </LinkButton>
      {active.length > 0 && (
        <Button tone="danger" icon="ban" onClick={() => setAsking(true)}>
          Cancel
        </Button>
      )}
      {again.length > 0 && (
        <Button icon="rotate-ccw" busy={retry.isBusy} onClick={() => void retry.run()}>
          Retry {again.length} {again[0]?.status.toLowerCase()}
        </Button>
      )}
      <Button
        tone="primary"
        icon="download"
        busy={download.isBusy}
        onClick={() => void download.run()}
      >
        Download results
      </Button>
      {isAsking && (
        <Confirm
          title="Cancel this batch?"
          text={CANCEL}
          verb={`Cancel ${plural(active.length, 'job')}`}
          action={cancel}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

const CANCEL = 'Its jobs that wait or run are canceled. What is finished stays as it is.';

/** What failed; where nothing has, what was canceled, which somebody wanted so. */
function retryableOf({ jobs }: BatchDetail): BatchDetail['jobs'] {
  const failed = jobs.filter(({ status }) => status === 'FAILED');
  return failed.length > 0 ? failed : jobs.filter(isRetryable);
}

async function retryAll(jobs: BatchDetail['jobs'], onDone: () => Promise<void>): Promise<void> {
  const ids = jobs.map(({ id }) => id);
  const { done, fault } = await withEach(ids, retryJob);
  await onDone();
  if (fault === null) toast(`Queued ${plural(done.length, 'job')} again.`);
  else
    toast(`Queued ${done.length} of ${plural(ids.length, 'job')} again. ${fault.message}`, 'bad');
}
