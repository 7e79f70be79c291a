import { useLocation } from 'preact-iso';
import { BATCHES, shownOf } from '../../api/jobs.js';
import type { Batch, BatchShown, FileBatch } from '../../api/jobs.js';
import { usePages } from '../../api/pages.js';
import type { Page as ListPage } from '../../api/pages.js';
import { StatusBadge } from '../../ui/figures/badge.js';
import { Button } from '../../ui/button/button.js';
import { formatCount } from '../../ui/text/format.js';
import { Loaded } from '../../ui/table/loaded.js';
import { LoadMore } from '../../ui/table/load-more.js';
import { useQueryFlag } from '../../ui/form/query.js';
import { Page } from '../../ui/page.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { currentSession } from '../../api/session.js';
import { Code } from '../../ui/text/code.js';
import { KEY_VARIABLE } from '../../ui/snippets/snippets.js';
import { Empty } from '../../ui/table/states.js';
import './batches.css';
import { BatchProgress } from './batch-progress.js';
import { NewBatch } from './new-batch.js';

/** The longest page of batches. */
const PAGE_ROWS = 50;

export function Batches() {
  const { route } = useLocation();
  const [isOpen, setOpen] = useQueryFlag('new');
  const pages = usePages<Batch | FileBatch>(`${BATCHES}?limit=${PAGE_ROWS}`, {
    topics: ['jobs'],
    mostRows: PAGE_ROWS,
  });
  const open = (): void => setOpen(true);
  return (
    <Page
      title="Batches"
      staleSince={pages.staleSince}
      actions={
        <Button tone="primary" icon="plus" onClick={open}>
          New batch
        </Button>
      }
    >
      <Loaded of={pages} rows={6}>
        {(batches) =>
          batches.length === 0 ? (
            <NoBatches onNew={open} />
          ) : (
            <>
              <Table
                caption="Batches"
                saveAs="batches"
                pages={{ ...pages, next: async (...at) => shownPage(await pages.next(...at)) }}
                columns={COLUMNS}
                rows={batches.map(shownOf)}
                rowKey={({ id }) => id}
              />
              <LoadMore pages={pages} what="batch" many="batches" />
            </>
          )
        }
      </Loaded>
      {isOpen && (
        <NewBatch onClose={() => setOpen(false)} onMade={({ id }) => route(`/batches/${id}`)} />
      )}
    </Page>
  );
}

function shownPage({ data, has_more }: ListPage<Batch | FileBatch>): ListPage<BatchShown> {
  return { data: data.map(shownOf), has_more };
}

const COLUMNS: readonly Column<BatchShown>[] = [
  { head: 'Status', ifWide: true, cell: ({ status }) => <StatusBadge status={status} /> },
  {
    head: 'Batch',
    isName: true,
    kind: 'grow',
    below: (batch) => <Below batch={batch} />,
    cell: ({ id, label }) => (
      <a href={`/batches/${id}`} class={label === null ? 'mono' : ''}>
        {label ?? id}
      </a>
    ),
  },
  {
    head: 'Progress',
    ifWide: true,
    cell: (batch) => <BatchProgress batch={batch} />,
  },
  {
    head: 'Finished',
    kind: 'number',
    ifWide: true,
    cell: (batch) => doneOf(batch),
  },
  {
    head: 'Failed',
    kind: 'number',
    ifWide: true,
    ifRoom: true,
    cell: ({ failed }) => <span class={failed === 0 ? 'soft' : 'bad'}>{formatCount(failed)}</span>,
  },
  {
    head: 'Created',
    kind: 'number',
    ifWide: true,
    cell: ({ created }) => <Ago at={created * 1_000} />,
  },
];

function Below({ batch }: { readonly batch: BatchShown }) {
  return (
    <>
      <StatusBadge status={batch.status} /> {doneOf(batch)},{' '}
      {batch.failed > 0 && <span class="bad">{formatCount(batch.failed)} failed, </span>}
      <Ago at={batch.created * 1_000} />
    </>
  );
}

function doneOf(batch: BatchShown): string {
  return `${formatCount(finishedOf(batch))} of ${formatCount(batch.total)}`;
}

function finishedOf({ processed, failed, canceled }: BatchShown): number {
  return processed + failed + canceled;
}

interface NoBatchesProps {
  readonly onNew: () => void;
}

function NoBatches({ onNew }: NoBatchesProps) {
  return (
    <Empty icon="layers" title="No batches yet." text={NEXT}>
      <Code text={snippet(currentSession().gateway.base_url)} label="Copy the snippet" />
      <Button onClick={onNew}>Paste or upload lines</Button>
    </Empty>
  );
}

const NEXT =
  'A batch is up to 256 requests that are submitted together. Replace MODEL with one of your ' +
  'models, or paste lines here.';

function snippet(baseUrl: string): string {
  const body = { model: 'MODEL', messages: [{ role: 'user', content: 'Say hello.' }] };
  const requests = [{ endpoint: '/v1/chat/completions', body }];
  return [
    `curl ${baseUrl}/batches \\`,
    `  -H "Authorization: Bearer ${KEY_VARIABLE}" \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify({ label: 'first', requests }, null, 2)}'`,
  ].join('\n');
}
