/** Jobs and batches as the API presents them, and the operations on them. */
import type {
  BatchDetailResource,
  BatchResource,
  FileBatchResource,
  JobDetailResource,
  JobResource,
} from '../../../src/http/jobs/present-job.js';
import type { summarizeQueue } from '../../../src/http/jobs/queue-summary.js';
import { asFault } from './fault.js';
import type { Fault } from './fault.js';
import { CONSOLE, requestJson } from './request.js';

export type Job = JobResource;
export type JobDetail = JobDetailResource;
export type Batch = BatchResource;
export type BatchDetail = BatchDetailResource;
/** A batch that is read from a file. */
export type FileBatch = FileBatchResource;
export type QueueSummary = Awaited<ReturnType<typeof summarizeQueue>>;

export const JOBS = `${CONSOLE}/jobs`;
export const BATCHES = `${CONSOLE}/batches`;
export const FILES = `${CONSOLE}/files`;
export const QUEUE = '/api/inference/queue/summary';

interface Cancellation {
  readonly id: string;
  readonly status: Job['status'];
  /** False if the job had already ended. */
  readonly canceled: boolean;
}

export const JOB_STATUSES: readonly Job['status'][] = [
  'QUEUED',
  'PROCESSING',
  'PROCESSED',
  'FAILED',
  'CANCELED',
];

export function isActive({ status }: Pick<Job, 'status'>): boolean {
  return status === 'QUEUED' || status === 'PROCESSING';
}

export function isRetryable({ status }: Pick<Job, 'status'>): boolean {
  return status === 'FAILED' || status === 'CANCELED';
}

/** What lists and progress bars show of a batch in either form. */
export type BatchShown = Omit<Batch, 'object' | 'status'> & { readonly status: string };

export function shownOf(batch: Batch | FileBatch): BatchShown {
  if (batch.object === 'service.batch') return batch;
  const { total, completed, failed } = batch.request_counts;
  const rest = total - completed - failed;
  const hasEnded = ['completed', 'failed', 'expired', 'cancelled'].includes(batch.status);
  return {
    id: batch.id,
    label: null,
    status: batch.status.toUpperCase(),
    total,
    queued: hasEnded ? 0 : rest,
    processing: 0,
    processed: completed,
    failed,
    canceled: hasEnded ? rest : 0,
    created: batch.created_at,
  };
}

export function cancelJob(id: string): Promise<Cancellation> {
  return requestJson(`${JOBS}/${id}/cancel`, { method: 'POST' });
}

export function retryJob(id: string): Promise<Job> {
  return requestJson(`${JOBS}/${id}/retry`, { method: 'POST' });
}

/** Requests that run in parallel: more would not be answered sooner. */
const MAX_AT_ONCE = 6;

export interface Outcome {
  /** The ids for which the action succeeded. */
  readonly done: readonly string[];
  /** Why the action stopped before the end; null if it succeeded for all. */
  readonly fault: Fault | null;
}

/**
 * Runs the action for each id; starts no further one after the first error, such as the rate limit.
 */
export async function withEach(
  ids: readonly string[],
  action: (id: string) => Promise<unknown>,
): Promise<Outcome> {
  const left = [...ids];
  const done: string[] = [];
  let fault: Fault | null = null;
  const work = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined && fault === null; id = left.shift()) {
      try {
        await action(id);
        done.push(id);
      } catch (thrown) {
        fault = asFault(thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, work));
  return { done, fault };
}
