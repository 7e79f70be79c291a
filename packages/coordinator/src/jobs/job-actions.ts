/**
 * Actions of callers and administrators on jobs. `jobs.ts` implements them in a running
 * coordinator.
 */
import type { Waiting } from '../core/jobs/waiting-reason.js';
import type {
  Batch,
  CancelOutcome,
  Job,
  NewFileBatch,
  NewJobItem,
  RetryOutcome,
  Store,
  SubmitOutcome,
  Submission,
} from '../store/port.js';

/** The submitter, without what the configuration adds. */
export type Submitter = Omit<Submission, 'maxAttempts'>;

export type { Waiting };

export interface Submitted {
  readonly job: Job;
  /** Null if it is not QUEUED. */
  readonly waiting: Waiting | null;
}

/** Every operation throws an `ApiError` `storage_unavailable` if the database cannot do it. */
export interface JobActions {
  /** The job that was submitted with this idempotency key; null if there is none. */
  findSubmitted(memberId: string, idempotencyKey: string): Promise<Job | null>;
  /** The same for a batch. */
  findSubmittedBatch(memberId: string, idempotencyKey: string): Promise<Batch | null>;
  submit(submitter: Submitter, item: NewJobItem): Promise<SubmitOutcome<Submitted>>;
  submitBatch(
    submitter: Submitter & { readonly label: string | null },
    items: readonly NewJobItem[],
  ): Promise<SubmitOutcome<Batch>>;
  /** Its requests are the lines of a file. */
  submitFileBatch(batch: Omit<NewFileBatch, 'maxAttempts'>): ReturnType<Store['createFileBatch']>;
  /** Also stops the run on the GPU. A null member means any. */
  cancel(jobId: string, memberId: string | null): Promise<CancelOutcome>;
  /** Null if there is no such batch. */
  cancelBatch(batchId: string, memberId: string | null): Promise<Batch | null>;
  retry(jobId: string, memberId: string | null): Promise<RetryOutcome>;
  /** Positions of QUEUED jobs. */
  waiting(jobs: readonly Job[]): Promise<ReadonlyMap<string, Waiting>>;
  /** Resolves once the job has ended, or after `waitMs`, or when the signal is aborted. */
  whenEnded(jobId: string, waitMs: number, signal: AbortSignal): Promise<void>;
  /** `by`: the actor in the audit log. */
  setPaused(paused: boolean, by: string): Promise<void>;
  /** Ends every back-off, so that the jobs may run now; returns their number. */
  requeueStuck(): Promise<number>;
  /** Unix ms of the dispatcher's last tick; null before the first. */
  readonly lastTickAt: number | null;
}
