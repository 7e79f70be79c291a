import { useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { BATCHES, isActive, isRetryable, shownOf, withEach, JOBS } from '../../api/jobs.js';
import type { BatchDetail, FileBatch, JobDetail } from '../../api/jobs.js';
import { useSnapshot } from '../../api/snapshot.js';
import { StatusBadge } from '../../ui/figures/badge.js';
import { LinkButton, Button } from '../../ui/button/button.js';
import { CopyText } from '../../ui/button/copy.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { typeLabel } from '../../ui/text/labels.js';
import { Page } from '../../ui/page.js';
import { Empty, Unanswered } from '../../ui/table/states.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { requestJson } from '../../api/request.js';
import { useToastedAct } from '../../ui/form/act.js';
import { BulkConfirm } from '../../ui/dialog/bulk-confirm.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { saveText } from '../../ui/text/save-text.js';
import { toast } from '../../ui/dialog/toasts.js';
import { fileOfJob } from '../../ui/work/thumb.js';
import { WorkName } from '../../ui/work/work-name.js';
import { BatchProgress } from './batch-progress.js';
import { FileBatchPage } from './file-batch.js';
import './batches.css';

const LIVE_EVERY_MS = 2_000;

/** For a batch that is done: its failed jobs may be retried elsewhere. */
const DONE_EVERY_MS = 30_000;

export function Batch() {
  const id = useRoute().params['id'] ?? '';
  return <OneBatch key={id} id={id} />;
}

function OneBatch({ id }: { readonly id: string }) {
  const [everyMs, setEveryMs] = useState(LIVE_EVERY_MS);
  const { data, fault, staleSince, refresh } = useSnapshot<BatchDetail | FileBatch>(
    `${BATCHES}/${encodeURIComponent(id)}`,
    { everyMs, topics: ['jobs'] },
  );
  const paceMs = data !== undefined && hasEnded(data) ? DONE_EVERY_MS : LIVE_EVERY_MS;
  if (paceMs !== everyMs) setEveryMs(paceMs);
  if (data === undefined) {
    return (
      <Page title="Batch">
        <Unanswered fault={fault} onRetry={() => void refresh()}>
          <Empty icon="search" title={`There is no batch ${id} of yours.`} text={GONE}>
            <LinkButton href="/batches">All batches</LinkButton>
          </Empty>
        </Unanswered>
      </Page>
    );
  }
  if (data.object === 'batch') {
    return <FileBatchPage batch={data} staleSince={staleSince} onDone={refresh} />;
  }
  return (
    <Page
      title={data.label ?? 'Batch'}
      staleSince={staleSince}
      actions={<BatchActions batch={data} onDone={refresh} />}
      lead={
        <span class="row">
          <StatusBadge status={data.status} />
          <CopyText text={data.id} label="Copy the id" />
          <span>
            created <Ago at={data.created * 1_000} />
          </span>
        </span>
      }
    >
      <section class="card">
        <h2 class="unseen">Progress</h2>
        <BatchProgress batch={data} withLegend />
      </section>
      <section class="section">
        <h2>Jobs</h2>
        <Table
          caption="Jobs of the batch"
          saveAs="batch"
          columns={COLUMNS}
          rows={data.jobs}
          rowKey={keyOf}
        />
      </section>
    </Page>
  );
}

function hasEnded(batch: BatchDetail | FileBatch): boolean {
  return shownOf(batch).queued + shownOf(batch).processing === 0;
}

const GONE = 'A batch is deleted with the last of its jobs.';

type BatchJob = BatchDetail['jobs'][number];

const COLUMNS: readonly Column<BatchJob>[] = [
  { head: '#', kind: 'number', cell: ({ index }) => formatCount(index) },
  {
    head: 'Job',
    isName: true,
    kind: 'grow',
    below: ({ status }) => <StatusBadge status={status} />,
    cell: (job) => <WorkName work={job} href={`/jobs/${job.id}`} file={fileOfJob(job)} isInBatch />,
  },
  { head: 'Type', ifWide: true, cell: ({ inference_type: type }) => typeLabel(type) },
  {
    head: 'Status',
    ifWide: true,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
];

function keyOf({ id }: BatchJob): string {
  return id;
}

interface BatchActionsProps {
  readonly batch: BatchDetail;
  readonly onDone: () => Promise<void>;
}

function BatchActions({ batch, onDone }: BatchActionsProps) {
  const [isAsking, setAsking] = useState(false);
  const again = retryableOf(batch);
  const active = batch.jobs.filter(isActive);
  const [isRetrying, setRetrying] = useState(false);
  const download = useToastedAct(async () => {
    const text = await batchResults(batch);
    saveText(`${batch.id}.jsonl`, 'application/jsonl', text);
  });
  const cancel = async (): Promise<void> => {
    await requestJson(`${BATCHES}/${batch.id}/cancel`, { method: 'POST' });
    await onDone();
    toast('Canceled all jobs that had not ended.');
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
        <Button icon="rotate-ccw" onClick={() => setRetrying(true)}>
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
      {isRetrying && (
        <BulkConfirm
          verb="retry"
          jobs={{ ids: again.map(({ id }) => id) }}
          count={again.length}
          onDone={onDone}
          onClose={() => setRetrying(false)}
        />
      )}
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

const CANCEL = 'Jobs that wait or run are canceled. Finished jobs stay as they are.';

/** The failed jobs; if there are none, the canceled ones, which were canceled on purpose. */
function retryableOf({ jobs }: BatchDetail): BatchDetail['jobs'] {
  const failed = jobs.filter(({ status }) => status === 'FAILED');
  return failed.length > 0 ? failed : jobs.filter(isRetryable);
}

/** One line of JSON per job, in the order of the batch. Throws a `Fault`. */
async function batchResults({ jobs }: BatchDetail): Promise<string> {
  const lines = new Map<string, string>();
  const { fault } = await withEach(
    jobs.map(({ id }) => id),
    async (id) => {
      const job = await requestJson<JobDetail>(`${JOBS}/${id}`);
      lines.set(id, JSON.stringify(lineOf(job)));
    },
  );
  // An incomplete file would look complete.
  if (fault !== null) throw fault;
  const texts = jobs.map(({ id, index }) => `{"index":${index},${lines.get(id)?.slice(1)}`);
  return `${texts.join('\n')}\n`;
}

function lineOf({ id, status, model, endpoint, result, assets, error }: JobDetail) {
  return { id, status, model, endpoint, result: result ?? null, assets, error };
}
