/** Jobs and batches as the coordinator tells of them, and what can be done with them. */
import type {
  BatchResource,
  JobDetailResource,
  JobResource,
  presentBatchDetail,
} from '../../../src/http/jobs/present-job.js';
import type { summarizeQueue } from '../../../src/http/jobs/queue-summary.js';
import { asFault } from './fault.js';
import type { Fault } from './fault.js';
import { CONSOLE, requestJson } from './request.js';

export type Job = JobResource;
export type JobDetail = JobDetailResource;
export type Batch = BatchResource;
export type BatchDetail = ReturnType<typeof presentBatchDetail>;
export type QueueSummary = Awaited<ReturnType<typeof summarizeQueue>>;

export const JOBS = `${CONSOLE}/jobs`;
export const BATCHES = `${CONSOLE}/batches`;
export const QUEUE = '/api/inference/queue/summary';

interface Cancellation {
  readonly id: string;
  readonly status: Job['status'];
  /** False if it had ended before. */
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

export function cancelJob(id: string): Promise<Cancellation> {
  return requestJson(`${JOBS}/${id}/cancel`, { method: 'POST' });
}

export function retryJob(id: string): Promise<Job> {
  return requestJson(`${JOBS}/${id}/retry`, { method: 'POST' });
}

/** Asked side by side: more are not answered sooner. */
const MAX_AT_ONCE = 6;

export interface Outcome {
  /** The ids of those that went well. */
  readonly done: readonly string[];
  /** Why the others were left; null if there are none. */
  readonly fault: Fault | null;
}

/** The same with each; ends at the first that is refused, as at the rate limit. */
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
