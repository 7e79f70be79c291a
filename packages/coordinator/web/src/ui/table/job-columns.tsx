import type { ComponentChildren } from 'preact';
import type { Job } from '../../api/jobs.js';
import { StatusBadge } from '../figures/badge.js';
import { fileOfJob } from '../work/thumb.js';
import { WorkName } from '../work/work-name.js';
import type { Column } from './table.js';

/** The first columns of every job table; `below` is under the name on narrow screens. */
export function jobColumns(below: (job: Job) => ComponentChildren): readonly Column<Job>[] {
  return [
    { head: 'Status', ifWide: true, cell: ({ status }) => <StatusBadge status={status} /> },
    {
      head: 'Job',
      isName: true,
      below,
      cell: (job) => <WorkName work={job} href={`/jobs/${job.id}`} file={fileOfJob(job)} />,
    },
  ];
}
