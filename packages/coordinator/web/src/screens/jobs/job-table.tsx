import type { Job } from '../../api/jobs.js';
import type { Pages } from '../../api/pages.js';
import { StatusBadge } from '../../ui/figures/badge.js';
import { formatMs } from '../../ui/text/format.js';
import { typeLabel } from '../../ui/text/labels.js';
import { JobNote, jobColumns } from '../../ui/table/job-columns.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';

export type Choose = (chosen: ReadonlySet<string>) => void;

interface JobTableProps {
  readonly jobs: readonly Job[];
  readonly pages: Pages<Job>;
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: Choose;
}

export function JobTable({ jobs, pages, chosen, onChoose }: JobTableProps) {
  const isWhole = jobs.every(({ id }) => chosen.has(id));
  return (
    <>
      <label class="choose-all small soft">
        <input
          type="checkbox"
          checked={isWhole}
          indeterminate={!isWhole && jobs.some(({ id }) => chosen.has(id))}
          onChange={() => onChoose(isWhole ? new Set() : new Set(jobs.map(({ id }) => id)))}
        />
        Select all that are shown
      </label>
      <Table
        caption="Jobs"
        saveAs="jobs"
        pages={pages}
        columns={[chooseColumn(chosen, onChoose), ...COLUMNS]}
        rows={jobs}
        rowKey={({ id }) => id}
      />
    </>
  );
}

function chooseColumn(chosen: ReadonlySet<string>, onChoose: Choose): Column<Job> {
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    onChoose(next);
  };
  return {
    head: 'Select',
    unseenHead: true,
    cell: ({ id }) => (
      <label class="choose">
        <input
          type="checkbox"
          aria-label={`Select job ${id}`}
          checked={chosen.has(id)}
          onChange={() => toggle(id)}
        />
      </label>
    ),
  };
}

const COLUMNS: readonly Column<Job>[] = [
  ...jobColumns({ below: (job) => <Below job={job} /> }),
  {
    head: 'Type',
    ifWide: true,
    ifRoom: true,
    cell: ({ inference_type: type }) => typeLabel(type),
  },
  { head: 'Note', ifWide: true, cell: (job) => <JobNote job={job} /> },
  { head: 'Took', kind: 'number', ifWide: true, cell: (job) => tookOf(job) },
  {
    head: 'Created',
    kind: 'number',
    ifWide: true,
    cell: ({ created }) => <Ago at={created * 1_000} />,
  },
];

/** Its state, when it was created, and why it waits or what failed. */
function Below({ job }: { readonly job: Job }) {
  return (
    <>
      <StatusBadge status={job.status} /> <Ago at={job.created * 1_000} />
      <JobNote job={job} />
    </>
  );
}

function tookOf({ started_at: started, finished_at: finished }: Job) {
  if (started === null || finished === null) return <span class="soft">–</span>;
  return formatMs(Math.max(0, Date.parse(finished) - Date.parse(started)));
}
