import { useState } from 'preact/hooks';
import { BATCHES, FILES, shownOf } from '../../api/jobs.js';
import type { FileBatch } from '../../api/jobs.js';
import { requestJson } from '../../api/request.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { CopyText } from '../../ui/button/copy.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { toast } from '../../ui/dialog/toasts.js';
import { StatusBadge } from '../../ui/figures/badge.js';
import { Page } from '../../ui/page.js';
import { Facts } from '../../ui/text/facts.js';
import { plural } from '../../ui/text/format.js';
import { Ago } from '../../ui/text/time.js';
import { BatchProgress } from './batch-progress.js';

interface FileBatchProps {
  readonly batch: FileBatch;
  readonly staleSince: number | null;
  readonly onDone: () => Promise<void>;
}

/** A batch whose requests are the lines of a file: its jobs are not listed. */
export function FileBatchPage({ batch, staleSince, onDone }: FileBatchProps) {
  const shown = shownOf(batch);
  const fault = batch.errors?.data[0]?.message;
  return (
    <Page
      title="Batch of a file"
      staleSince={staleSince}
      actions={<FileBatchActions batch={batch} onDone={onDone} />}
      lead={
        <span class="row">
          <StatusBadge status={shown.status} />
          <CopyText text={batch.id} label="Copy the id" />
          <span>
            {plural(shown.total, 'request')} to {batch.endpoint}, created{' '}
            <Ago at={shown.created * 1_000} />
          </span>
        </span>
      }
    >
      <section class="card">
        <h2 class="unseen">Progress</h2>
        <BatchProgress batch={shown} withLegend />
      </section>
      {fault !== undefined && <p class="bad">{fault}</p>}
      {batch.metadata !== null && (
        <section class="section">
          <h2>Metadata</h2>
          <Facts rows={Object.entries(batch.metadata)} />
        </section>
      )}
    </Page>
  );
}

function FileBatchActions({ batch, onDone }: Omit<FileBatchProps, 'staleSince'>) {
  const [isAsking, setAsking] = useState(false);
  const { id, output_file_id: output, error_file_id: errors } = batch;
  const cancel = async (): Promise<void> => {
    await requestJson(`${BATCHES}/${id}/cancel`, { method: 'POST' });
    await onDone();
    toast('Canceled all requests that had not ended.');
  };
  return (
    <>
      <LinkButton href="/batches" tone="quiet" icon="arrow-left">
        All batches
      </LinkButton>
      {batch.status === 'in_progress' && (
        <Button tone="danger" icon="ban" onClick={() => setAsking(true)}>
          Cancel
        </Button>
      )}
      {errors !== null && (
        <LinkButton icon="download" href={`${FILES}/${errors}/content`} download="">
          Errors
        </LinkButton>
      )}
      {output !== null && (
        <LinkButton tone="primary" icon="download" href={`${FILES}/${output}/content`} download="">
          Answers
        </LinkButton>
      )}
      {isAsking && (
        <Confirm
          title="Cancel this batch?"
          text="Requests that wait or run are canceled. Answers that are there are kept."
          verb="Cancel the batch"
          action={cancel}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
