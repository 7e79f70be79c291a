import { JOBS, cancelJob } from '../../api/jobs.js';
import type { Job, QueueSummary } from '../../api/jobs.js';
import { usePages } from '../../api/pages.js';
import { useToastedAct } from '../../ui/form/act.js';
import { StatusBadge } from '../../ui/figures/badge.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { timesIn } from '../../ui/text/dates.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { jobColumns } from '../../ui/table/job-columns.js';
import { Loaded } from '../../ui/table/loaded.js';
import { LoadMore } from '../../ui/table/load-more.js';
import { Empty } from '../../ui/table/states.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { toast } from '../../ui/dialog/toasts.js';

const OWN = ['jobs'] as const;
const MOVED = ['queue', 'jobs'] as const;

interface MyQueueProps {
  readonly summary: QueueSummary;
  readonly onChange: () => Promise<void>;
}

/** The member's jobs that have not ended, the next one first, with what each waits for. */
export function MyQueue({ summary, onChange }: MyQueueProps) {
  // Jobs of other members change only the positions of queued jobs.
  const topics = summary.queued > 0 ? MOVED : OWN;
  const pages = usePages<Job>(`${JOBS}?active=1&order=asc&limit=50`, { topics });
  const cancel = async (id: string): Promise<void> => {
    const { canceled, status } = await cancelJob(id);
    await Promise.all([pages.refresh(), onChange()]);
    toast(canceled ? 'Canceled. It can be retried from Jobs.' : `It had already ended: ${status}.`);
  };
  return (
    <section class="section">
      <h2>Your jobs</h2>
      <Loaded of={pages} rows={3}>
        {(jobs) =>
          jobs.length === 0 ? (
            <NothingQueued summary={summary} />
          ) : (
            <>
              <Table
                caption="Your jobs"
                saveAs="queued-jobs"
                columns={[...COLUMNS, cancelColumn(cancel)]}
                rows={jobs}
                rowKey={({ id }) => id}
              />
              <LoadMore pages={pages} what="job" />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function NothingQueued({ summary }: { readonly summary: QueueSummary }) {
  const { free_slots: free, slots } = summary.capacity;
  const text =
    slots === 0
      ? 'No slot is online: what you queue now waits until a provider is online.'
      : `${formatCount(free)} of ${plural(slots, 'slot')} free.`;
  return (
    <Empty icon="circle-check" title="Nothing queued." text={text}>
      <LinkButton href="/playground">Try a model</LinkButton>
    </Empty>
  );
}

const COLUMNS: readonly Column<Job>[] = [
  ...jobColumns((job) => <Below job={job} />),
  { head: 'Place', kind: 'number', ifWide: true, cell: (job) => placeOf(job) },
  { head: 'Waits for', kind: 'grow', ifWide: true, cell: (job) => <Waits job={job} /> },
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

function Waits({ job }: { readonly job: Job }) {
  if (job.status === 'QUEUED') return timesIn(job.waiting_reason ?? '');
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
