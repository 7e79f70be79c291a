/**
 * What callers and administrators may do with jobs. `jobs.ts` are those of a running coordinator.
 */
import type { Waiting } from '../core/jobs/waiting-reason.js';
import type {
  Batch,
  CancelOutcome,
  Job,
  NewJobItem,
  RetryOutcome,
  SubmitOutcome,
  Submission,
} from '../store/port.js';

/** Whoever submits, less what the configuration adds. */
export type Submitter = Omit<Submission, 'maxAttempts'>;

export type { Waiting };

export interface Submitted {
  readonly job: Job;
  /** Null if it is not QUEUED. */
  readonly waiting: Waiting | null;
}

/** Every operation throws an `ApiError` `storage_unavailable` if the database cannot do it. */
export interface JobActions {
  /** The job that was submitted under this idempotency key; null if there is none. */
  findSubmitted(memberId: string, idempotencyKey: string): Promise<Job | null>;
  /** The same of a batch. */
  findSubmittedBatch(memberId: string, idempotencyKey: string): Promise<Batch | null>;
  submit(submitter: Submitter, item: NewJobItem): Promise<SubmitOutcome<Submitted>>;
  submitBatch(
    submitter: Submitter & { readonly label: string | null },
    items: readonly NewJobItem[],
  ): Promise<SubmitOutcome<Batch>>;
  /** Also stops the run on the GPU. A null member stands for any. */
  cancel(jobId: string, memberId: string | null): Promise<CancelOutcome>;
  /** Null if there is no such batch. */
  cancelBatch(batchId: string, memberId: string | null): Promise<Batch | null>;
  retry(jobId: string, memberId: string | null): Promise<RetryOutcome>;
  /** Of those that are QUEUED. */
  waiting(jobs: readonly Job[]): Promise<ReadonlyMap<string, Waiting>>;
  /** Resolves once the job has ended, or after `waitMs`, or when the signal is aborted. */
  whenEnded(jobId: string, waitMs: number, signal: AbortSignal): Promise<void>;
  /** `by` is who the audit log says it was. */
  setPaused(paused: boolean, by: string): Promise<void>;
  /** Lets every job that waits out a back-off run now; returns how many. */
  requeueStuck(): Promise<number>;
  /** Of the dispatcher, in Unix ms; null before its first tick. */
  readonly lastTickAt: number | null;
}
