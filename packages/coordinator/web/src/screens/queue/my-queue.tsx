import { cancelJob } from '../../api/jobs.js';
import type { Job } from '../../api/jobs.js';
import { usePages } from '../../api/pages.js';
import { useToastedAct } from '../../ui/form/act.js';
import { StatusBadge } from '../../ui/figures/badge.js';
import { Button } from '../../ui/button/button.js';
import { formatCount } from '../../ui/text/format.js';
import { JobNote, jobColumns } from '../../ui/table/job-columns.js';
import { Loaded } from '../../ui/table/loaded.js';
import { LoadMore } from '../../ui/table/load-more.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { toast } from '../../ui/dialog/toasts.js';

const MOVED = ['queue', 'jobs'] as const;

interface OwnJobsProps {
  /** Of the list. */
  readonly url: string;
  readonly caption: string;
  readonly onChange: () => Promise<void>;
}

/** The single jobs of a group, the oldest first. */
export function OwnJobs({ url, caption, onChange }: OwnJobsProps) {
  const pages = usePages<Job>(url, { topics: MOVED });
  const cancel = async (id: string): Promise<void> => {
    const { canceled, status } = await cancelJob(id);
    await Promise.all([pages.refresh(), onChange()]);
    toast(canceled ? 'Canceled. It can be retried from Jobs.' : `It had already ended: ${status}.`);
  };
  return (
    <Loaded of={pages} rows={3}>
      {(jobs) => (
        <>
          <Table
            caption={caption}
            saveAs="queued-jobs"
            pages={pages}
            columns={[...COLUMNS, cancelColumn(cancel)]}
            rows={jobs}
            rowKey={({ id }) => id}
          />
          <LoadMore pages={pages} what="job" />
        </>
      )}
    </Loaded>
  );
}

const COLUMNS: readonly Column<Job>[] = [
  ...jobColumns({ below: (job) => <Below job={job} />, isInBatch: true }),
  { head: 'Place', kind: 'number', ifWide: true, cell: (job) => placeOf(job) },
  { head: 'Waits for', ifWide: true, cell: (job) => <Waits job={job} /> },
  { head: 'Queued', ifWide: true, cell: ({ queued_at: at }) => <Ago at={Date.parse(at)} /> },
];

/** The coordinator counts positions up to this one. */
const MAX_COUNTED = 4_000;

function placeOf({ status, position }: Job) {
  if (status !== 'QUEUED' || position === null || position === undefined) {
    return <span class="soft">–</span>;
  }
  return position > MAX_COUNTED
    ? `after #${formatCount(MAX_COUNTED)}`
    : `#${formatCount(position)}`;
}

/** The group has the reason why its jobs wait; jobs that may not run yet have their own. */
function Waits({ job }: { readonly job: Job }) {
  if (job.status === 'QUEUED') {
    return job.position === null ? <JobNote job={job} /> : null;
  }
  return (
    <span class="soft">
      started <Ago at={job.started_at === null ? null : Date.parse(job.started_at)} />
    </span>
  );
}

/** Its state, its position, and what it waits for. */
function Below({ job }: { readonly job: Job }) {
  return (
    <>
      <StatusBadge status={job.status} /> {job.status === 'QUEUED' && placeOf(job)}{' '}
      <Waits job={job} />
    </>
  );
}

function cancelColumn(cancel: (id: string) => Promise<void>): Column<Job> {
  return {
    head: 'Actions',
    unseenHead: true,
    kind: 'end',
    cell: (job) => <CancelButton job={job} cancel={cancel} />,
  };
}

function CancelButton({ job, cancel }: { job: Job; cancel: (id: string) => Promise<void> }) {
  const act = useToastedAct(() => cancel(job.id));
  return (
    <Button
      small
      busy={act.isBusy}
      aria-label={`Cancel job ${job.id}`}
      onClick={() => void act.run()}
    >
      Cancel
    </Button>
  );
}
