import type { ComponentChildren } from 'preact';
import type { Job } from '../../api/jobs.js';
import { StatusBadge } from '../figures/badge.js';
import { toldText } from '../text/labels.js';
import { useNow } from '../text/time.js';
import { fileOfJob } from '../work/thumb.js';
import { WorkName } from '../work/work-name.js';
import type { Column } from './table.js';

interface JobColumns {
  /** Under the name on narrow screens. */
  readonly below: (job: Job) => ComponentChildren;
  readonly isInBatch?: boolean;
}

/** The first columns of every job table. */
export function jobColumns({ below, isInBatch = false }: JobColumns): readonly Column<Job>[] {
  return [
    { head: 'Status', ifWide: true, cell: ({ status }) => <StatusBadge status={status} /> },
    {
      head: 'Job',
      isName: true,
      kind: 'grow',
      below,
      cell: (job) => (
        <WorkName work={job} href={`/jobs/${job.id}`} file={fileOfJob(job)} isInBatch={isInBatch} />
      ),
    },
  ];
}

interface NotedJob {
  readonly status: string;
  readonly waiting_reason?: string | null | undefined;
  readonly error: { readonly message: string } | null;
}

/** Why a queued job waits, or the error of a job. */
export function JobNote({ job }: { readonly job: NotedJob }) {
  const isQueued = job.status === 'QUEUED';
  const text = isQueued ? job.waiting_reason : job.error?.message;
  return text ? <Note text={text} tone={isQueued ? 'soft' : 'bad'} /> : null;
}

/** Follows the clock: most jobs have none, and their rows need not. */
function Note({ text, tone }: { readonly text: string; readonly tone: string }) {
  const told = toldText(text, useNow());
  return (
    <span class={`note ${tone}`} title={told}>
      {told}
    </span>
  );
}
