/** A batch has no state of its own: it is what its jobs are (specification, section 3). */
import type { JobStatus } from './job.js';

export { MAX_BATCH_ITEMS } from '@inference-gateway/shared/openai/batch-requests';

export type BatchStatus = 'PENDING' | 'PROCESSING' | 'DONE';

export type JobCounts = Readonly<Record<JobStatus, number>>;

/** Canceled and failed jobs count as finished. */
export function batchStatus(counts: JobCounts): BatchStatus {
  const finished = counts.PROCESSED + counts.FAILED + counts.CANCELED;
  if (counts.QUEUED + counts.PROCESSING === 0) return 'DONE';
  return finished + counts.PROCESSING === 0 ? 'PENDING' : 'PROCESSING';
}
