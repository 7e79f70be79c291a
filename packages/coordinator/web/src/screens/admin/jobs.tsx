import { useLocation } from 'preact-iso';
import { admin, useAdmin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { JOB_STATUSES, isActive, isRetryable } from '../../api/jobs.js';
import { StatusBadge } from '../../ui/figures/badge.js';
import { formatMs } from '../../ui/text/format.js';
import { statusLabel } from '../../ui/text/labels.js';
import { JobNote } from '../../ui/table/job-columns.js';
import { Loaded } from '../../ui/table/loaded.js';
import { LoadMore } from '../../ui/table/load-more.js';
import { useClearQuery } from '../../ui/form/query.js';
import { Empty, NoMatch } from '../../ui/table/states.js';
import { Short } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { PAGE_ROWS, useAdminPages } from './admin-pages.js';
import { LISTS } from './every.js';
import { FacetBar, chosenOf } from './facet-bar.js';
import { Rows } from './listing.js';
import type { RowAction } from '../../ui/table/row-menu.js';

type Job = AdminResult<'job.list'>[number];

const STATUS = {
  name: 'status',
  label: 'Status',
  options: [
    { value: 'active', label: 'Queued or running' },
    ...JOB_STATUSES.map((value) => ({ value, label: statusLabel(value) })),
  ],
};

/** Who, what and how far; never the contents of requests or answers. */
export function Jobs() {
  const { query } = useLocation();
  const users = useAdmin('user.list', {}, LISTS).data ?? [];
  const owner = {
    name: 'user',
    label: 'Member',
    options: users.map(({ id, name }) => ({ value: id, label: name })),
  };
  const status = chosenOf(STATUS, query);
  // Requested with the value in the URL, before its name is known.
  const user = query['user'] ?? '';
  const pages = useAdminPages(
    'job.list',
    {
      user: user === '' ? null : user,
      status: JOB_STATUSES.find((one) => one === status) ?? null,
      active: status === 'active',
      limit: PAGE_ROWS,
    },
    LISTS,
  );
  return (
    <>
      <FacetBar facets={[STATUS, owner]} />
      <Loaded of={pages} rows={10}>
        {(rows) =>
          rows.length === 0 ? (
            <None isFiltered={status !== '' || user !== ''} />
          ) : (
            <>
              <Rows
                caption="Jobs"
                columns={COLUMNS}
                rows={rows}
                pages={pages}
                nameOf={({ id }) => `job ${id}`}
                actionsOf={actionsOf}
                onDone={pages.refresh}
              />
              <LoadMore pages={pages} what="job" />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function None({ isFiltered }: { readonly isFiltered: boolean }) {
  const clear = useClearQuery();
  if (isFiltered) return <NoMatch what="jobs" onClear={clear} />;
  return (
    <Empty
      icon="list-checks"
      title="There are no jobs yet."
      text="Calls with async: true, and batches, become jobs."
    />
  );
}

const COLUMNS: readonly Column<Job>[] = [
  { head: 'Status', ifWide: true, cell: ({ status }) => <StatusBadge status={status} /> },
  {
    head: 'Model',
    isName: true,
    below: (job) => <Below job={job} />,
    cell: ({ model }) => <span class="mono">{model}</span>,
  },
  { head: 'Member', ifWide: true, cell: ({ owner }) => <Short text={owner ?? '–'} /> },
  {
    head: 'Provider',
    ifWide: true,
    ifRoom: true,
    cell: ({ provider }) =>
      provider === null ? <span class="soft">–</span> : <Short text={provider} />,
  },
  { head: 'Note', kind: 'grow', ifWide: true, cell: (job) => <JobNote job={job} /> },
  { head: 'Took', kind: 'number', ifWide: true, ifRoom: true, cell: (job) => tookOf(job) },
  { head: 'Created', kind: 'number', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
];

/** Owner, age, and the reason for its state. */
function Below({ job }: { readonly job: Job }) {
  return (
    <>
      <StatusBadge status={job.status} /> {job.owner ?? '–'}, <Ago at={job.created_at} />
      <JobNote job={job} />
    </>
  );
}

function tookOf({ started_at: started, finished_at: finished }: Job) {
  if (started === null || finished === null) return <span class="soft">–</span>;
  return formatMs(Math.max(0, finished - started));
}

function actionsOf(job: Job): readonly RowAction[] {
  const { id, owner } = job;
  return [
    ...(isActive(job)
      ? [
          {
            kind: 'ask',
            text: 'Cancel job',
            title: `Cancel this job of ${owner ?? 'somebody'}?`,
            explain:
              'If it runs, it is stopped on its GPU, and what it has done so far is lost. ' +
              'It can be retried.',
            async run() {
              await admin('job.cancel', { job: id });
              return 'The job is canceled.';
            },
          } as const,
        ]
      : []),
    ...(isRetryable(job)
      ? [
          {
            kind: 'now',
            text: 'Retry',
            async run() {
              await admin('job.retry', { job: id });
              return 'The job is queued again.';
            },
          } as const,
        ]
      : []),
  ];
}
