/** The part of the store's port that is about jobs as their callers see them. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ProviderScope } from '../core/access/caller.js';
import type { FailedAttempt, JobCounts, JobError, JobStatus } from '../core/jobs/job.js';
import type { Needs } from '../core/routing/match.js';
import type { Ahead } from '../core/jobs/lane.js';
import type { Asset } from './asset-store.js';
import type { UsageRow } from './usage-store.js';

export interface Job {
  readonly id: string;
  readonly memberId: string;
  readonly keyId: string;
  /** Of the request that submitted it. */
  readonly requestId: string;
  readonly batchId: string | null;
  /** Its place in the batch, from 0. */
  readonly batchIndex: number | null;
  readonly endpoint: EndpointKey;
  readonly model: string;
  readonly scope: ProviderScope;
  readonly needs: Needs;
  readonly status: JobStatus;
  readonly createdAt: number;
  /** Of the submission, or of the last retry. */
  readonly queuedAt: number;
  /** Of the last claim. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** 1, and one more with every retry by its caller. */
  readonly generation: number;
  /** Who has it, or had it last. */
  readonly providerId: string | null;
  /** Not run before; null if it may run now. */
  readonly notBefore: number | null;
  /** Of a FAILED job; of a queued one why its last attempt failed. */
  readonly error: JobError | null;
  /** The first of its files that is still there. */
  readonly firstAssetId: string | null;
}

/** One job with all that belongs to it. */
export interface JobDetail {
  readonly job: Job;
  /** Since its submission or its last retry, the oldest first; the last `MAX_FAILED_ATTEMPTS`. */
  readonly failedAttempts: readonly FailedAttempt[];
  /** JSON of a PROCESSED text job; null otherwise. */
  readonly result: string | null;
  /** In the order in which they were made; deleted and expired ones are left out. */
  readonly assets: readonly Asset[];
}

export interface Webhook {
  readonly url: string;
  /** Never shown again. */
  readonly secret: string;
}

/** Who submits, and how. */
export interface Submission {
  readonly memberId: string;
  readonly keyId: string;
  readonly scope: ProviderScope;
  readonly requestId: string;
  readonly maxAttempts: number;
  /** Unique a member, for jobs and for batches apart; null if there is none. */
  readonly idempotencyKey: string | null;
  readonly webhook: Webhook | null;
}

export interface NewJobItem {
  readonly endpoint: EndpointKey;
  readonly model: string;
  readonly needs: Needs;
  /** JSON, as a provider gets it. */
  readonly body: Uint8Array;
}

/** What one member may have queued. */
export interface QueueLimits {
  readonly jobs: number;
  /** Of their bodies together. */
  readonly bytes: number;
}

export interface QueueFull {
  readonly kind: 'queue_full';
  /** Which limit. */
  readonly limit: keyof QueueLimits;
  /** What is queued now. */
  readonly queued: number;
}

export interface Batch {
  readonly id: string;
  readonly memberId: string;
  readonly label: string | null;
  readonly createdAt: number;
  readonly counts: JobCounts;
}

export interface BatchJob {
  readonly id: string;
  readonly index: number;
  readonly status: JobStatus;
  readonly endpoint: EndpointKey;
}

export interface BatchDetail {
  readonly batch: Batch;
  /** In the order of the request. */
  readonly jobs: readonly BatchJob[];
}

export interface PageQuery {
  /** Null: everybody's. */
  readonly memberId: string | null;
  readonly limit: number;
  /** The id of the last one seen; null begins at the first. */
  readonly after: string | null;
}

/** By age: `asc` begins with the oldest. */
export type ListOrder = 'asc' | 'desc';

export interface JobQuery extends PageQuery {
  /** Null: every status. */
  readonly statuses: readonly JobStatus[] | null;
  /** Null: every endpoint. */
  readonly endpoints: readonly EndpointKey[] | null;
  /** A part of the model's id, the case of ASCII letters aside; null: every model. */
  readonly model: string | null;
  readonly order: ListOrder;
}

/** Where a queued job stands. */
export interface QueuePosition {
  readonly jobId: string;
  /** Runnable jobs for its model that come before it, by member; counted up to a limit. */
  readonly ahead: readonly Ahead[];
}

export type SubmitOutcome<T> =
  { readonly kind: 'created' | 'replayed'; readonly value: T } | QueueFull;

/** A job that was ended by a cancel. */
export interface Canceled {
  readonly job: Job;
  /** Whoever runs it is to be told; null if nobody did. */
  readonly claimId: string | null;
  readonly usage: UsageRow;
}

export type CancelOutcome =
  | ({ readonly kind: 'canceled' } & Canceled)
  /** It had ended before; nothing has changed. */
  | { readonly kind: 'finished'; readonly job: Job }
  | { readonly kind: 'unknown' };

export type RetryOutcome =
  | { readonly kind: 'queued'; readonly job: Job }
  | { readonly kind: 'not_retryable'; readonly job: Job }
  | { readonly kind: 'unknown' }
  | QueueFull;

export interface JobStore {
  /**
   * Creates one QUEUED job with this id, a new ULID. Where the idempotency key has been used,
   * nothing is created and the job of that time is returned, as it is now.
   */
  createJob(
    submission: Submission & { readonly id: string; readonly item: NewJobItem },
    limits: QueueLimits,
    now: number,
  ): Promise<SubmitOutcome<Job>>;
  /** Creates the batch and all its jobs, or nothing. */
  createBatch(
    submission: Submission & {
      readonly label: string | null;
      readonly items: readonly NewJobItem[];
    },
    limits: QueueLimits,
    now: number,
  ): Promise<SubmitOutcome<Batch>>;

  /** The job that the member submitted under this idempotency key; null if there is none. */
  findSubmittedJob(memberId: string, idempotencyKey: string): Promise<Job | null>;
  /** Null if it is unknown, or another member's; a null member stands for any. */
  findJob(id: string, memberId: string | null): Promise<JobDetail | null>;
  /**
   * JSON, as a provider gets it; null if the job is unknown or another member's, and once it is
   * PROCESSED.
   */
  findJobBody(id: string, memberId: string | null): Promise<Uint8Array | null>;
  /** Newest first. Where `after` is unknown, or another member's, the list is empty. */
  listJobs(query: JobQuery): Promise<readonly Job[]>;
  /** Of those that are queued and may run now. */
  queuePositions(jobIds: readonly string[]): Promise<readonly QueuePosition[]>;
  /** Writes the usage row of a canceled run, and its webhook. */
  cancelJob(id: string, memberId: string | null, now: number): Promise<CancelOutcome>;
  /** The same payload and a fresh attempt: attempts, claims, error and result are cleared. */
  retryJob(
    id: string,
    memberId: string | null,
    limits: QueueLimits,
    now: number,
  ): Promise<RetryOutcome>;

  /** The batch that the member submitted under this idempotency key; null if there is none. */
  findSubmittedBatch(memberId: string, idempotencyKey: string): Promise<Batch | null>;
  findBatch(id: string, memberId: string | null): Promise<BatchDetail | null>;
  /** Newest first. */
  listBatches(query: PageQuery): Promise<readonly Batch[]>;
  /** Cancels every job that has not ended; null if there is no such batch. */
  cancelBatch(
    id: string,
    memberId: string | null,
    now: number,
  ): Promise<{ readonly batch: Batch; readonly canceled: readonly Canceled[] } | null>;

  /**
   * Deletes jobs that ended before, and batches of which no job is left, up to a limit. Returns how
   * many jobs.
   */
  deleteOldJobs(finishedBefore: number, limit: number): Promise<number>;
}
