import { useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { BATCHES } from '../../api/jobs.js';
import type { BatchDetail } from '../../api/jobs.js';
import { useSnapshot } from '../../api/snapshot.js';
import { StatusBadge } from '../../ui/figures/badge.js';
import { LinkButton } from '../../ui/button/button.js';
import { CopyText } from '../../ui/button/copy.js';
import { formatCount } from '../../ui/text/format.js';
import { Page } from '../../ui/page.js';
import { Empty, Unanswered } from '../../ui/table/states.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { BatchActions } from './batch-actions.js';
import { BatchProgress } from './batch-progress.js';
import './batches.css';

const LIVE_EVERY_MS = 2_000;
/** Of a batch that is done: somebody may still retry what failed. */
const DONE_EVERY_MS = 30_000;

export function Batch() {
  const id = useRoute().params['id'] ?? '';
  return <OneBatch key={id} id={id} />;
}

function OneBatch({ id }: { readonly id: string }) {
  const [everyMs, setEveryMs] = useState(LIVE_EVERY_MS);
  const { data, fault, staleSince, refresh } = useSnapshot<BatchDetail>(
    `${BATCHES}/${encodeURIComponent(id)}`,
    { everyMs, topics: ['jobs'] },
  );
  const paceMs = data?.status === 'DONE' ? DONE_EVERY_MS : LIVE_EVERY_MS;
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
        <Table caption="Jobs of the batch" columns={COLUMNS} rows={data.jobs} rowKey={keyOf} />
      </section>
    </Page>
  );
}

const GONE = 'A batch is deleted with the last of its jobs.';

type BatchJob = BatchDetail['jobs'][number];

const COLUMNS: readonly Column<BatchJob>[] = [
  { head: '#', kind: 'number', cell: ({ index }) => formatCount(index) },
  {
    head: 'Job',
    isName: true,
    below: ({ status }) => <StatusBadge status={status} />,
    cell: ({ id }) => (
      <a class="mono" href={`/jobs/${id}`}>
        {id}
      </a>
    ),
  },
  { head: 'Type', ifWide: true, cell: ({ inference_type: type }) => type },
  {
    head: 'Status',
    kind: 'grow',
    ifWide: true,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
];

function keyOf({ id }: BatchJob): string {
  return id;
}
