/** The part of the store's port for jobs as their callers see them. */
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type { ApiName, Translated } from '@inference-gateway/shared/openai/translated-apis';
import type { TranslationContext } from '@inference-gateway/shared/openai/translation';
import type { ProviderScope } from '../core/access/caller.js';
import type { FailedAttempt, JobCounts, JobError, JobStatus } from '../core/jobs/job.js';
import type { QueuedGroup } from '../core/jobs/expected-end.js';
import type { Needs } from '../core/routing/match.js';
import type { Ahead } from '../core/jobs/lane.js';
import type { Asset } from './asset-store.js';
import type { UsageRow } from './usage-store.js';

export interface Job {
  readonly id: string;
  readonly memberId: string;
  readonly keyId: string;
  /** Id of the request that submitted it. */
  readonly requestId: string;
  readonly batchId: string | null;
  /** Its index in the batch, from 0. */
  readonly batchIndex: number | null;
  readonly endpoint: EndpointKey;
  /** The API in which it was requested; null: that of its endpoint. */
  readonly api: ApiName | null;
  /** The model in whose queue it stands. */
  readonly model: string;
  /** The alias under which it was submitted; null: none, its caller named the model. */
  readonly alias: string | null;
  /** Of a job under an alias: the model that its last claim took; null before the first. */
  readonly servedModel: string | null;
  readonly scope: ProviderScope;
  readonly needs: Needs;
  readonly status: JobStatus;
  readonly createdAt: number;
  /** Time of the submission, or of the last retry. */
  readonly queuedAt: number;
  /** Time of the last claim. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** 1, incremented by every retry of its caller. */
  readonly generation: number;
  /** The provider that has it, or had it last. */
  readonly providerId: string | null;
  /** It does not run before this time; null if it may run now. */
  readonly notBefore: number | null;
  /** Of a FAILED job; of a queued one the error of its last attempt. */
  readonly error: JobError | null;
  /** The first of its files that still exists. */
  readonly firstAssetId: string | null;
}

/** A job with everything that belongs to it. */
export interface JobDetail {
  readonly job: Job;
  /** Since its submission or its last retry, the oldest first; the last `MAX_FAILED_ATTEMPTS`. */
  readonly failedAttempts: readonly FailedAttempt[];
  /** JSON of a PROCESSED text job; null otherwise. */
  readonly result: string | null;
  /** In order of their creation, without deleted and expired ones. */
  readonly assets: readonly Asset[];
}

export interface Webhook {
  readonly url: string;
  /** Never shown again. */
  readonly secret: string;
}

/** The submitter, and the options of the submission. */
export interface Submission {
  readonly memberId: string;
  readonly keyId: string;
  readonly scope: ProviderScope;
  readonly requestId: string;
  readonly maxAttempts: number;
  /** Unique per member, separately for jobs and batches; null if there is none. */
  readonly idempotencyKey: string | null;
  readonly webhook: Webhook | null;
}

export interface NewJobItem {
  readonly endpoint: EndpointKey;
  readonly model: string;
  /** The alias whose first model that is now; absent: none. */
  readonly alias?: string;
  readonly needs: Needs;
  /** JSON, as it is sent to a provider. */
  readonly body: Uint8Array;
  /** Kept if its member wants it; absent or null: there is none. */
  readonly excerpt?: string | null;
  /** Absent: its request and its answer have the form of its endpoint. */
  readonly translation?: Pick<Translated, 'api' | 'context'>;
}

/** Limits of a member's queued jobs. */
export interface QueueLimits {
  readonly jobs: number;
  /** Bytes of their bodies together. */
  readonly bytes: number;
}

export interface QueueFull {
  readonly kind: 'queue_full';
  /** Which limit. */
  readonly limit: keyof QueueLimits;
  /** The queued jobs now. */
  readonly queued: number;
}

/** The member was deleted after the call was authenticated. */
export interface MemberGone {
  readonly kind: 'member_gone';
}

export interface Batch {
  readonly id: string;
  readonly memberId: string;
  /** The key that submitted it; null if it is no longer known. */
  readonly keyId: string | null;
  readonly label: string | null;
  readonly createdAt: number;
  /** Lines of a file that were not read yet count as queued. */
  readonly counts: JobCounts;
  /** Null if its requests were sent with it. */
  readonly file: BatchFile | null;
}

/** What a batch that is read from a file has besides. Times are Unix ms. */
export interface BatchFile {
  readonly inputFileId: string;
  readonly path: string;
  /** JSON of the caller's own fields; null if there are none. */
  readonly metadata: string | null;
  readonly windowMs: number;
  readonly lines: number;
  readonly expiresAt: number;
  /** Its files are being written. */
  readonly finalizingAt: number | null;
  readonly cancellingAt: number | null;
  readonly expiredAt: number | null;
  readonly endedAt: number | null;
  readonly outputFileId: string | null;
  readonly errorFileId: string | null;
  /** JSON of a `JobError`: why its files could not be written, or not yet. */
  readonly fault: string | null;
}

export interface BatchJob {
  readonly id: string;
  readonly index: number;
  readonly status: JobStatus;
  readonly endpoint: EndpointKey;
}

export interface BatchDetail {
  readonly batch: Batch;
  /** In order of the request; empty for a batch that is read from a file. */
  readonly jobs: readonly BatchJob[];
}

export interface PageQuery {
  /** Null: of all members. */
  readonly memberId: string | null;
  /** Only what this key submitted; absent or null: any. */
  readonly keyId?: string | null;
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
  /**
   * A part of the id of its model or of its alias, ignoring the case of ASCII letters; null: every
   * model.
   */
  readonly model: string | null;
  /** A part of its names or of its model, as `AssetQuery.search`. */
  readonly search?: string | null;
  /** Only up to this job, as `searchEnd` says it; absent or null: to the last. */
  readonly until?: string | null;
  /** The whole id of the model in whose queue it stands; absent or null: any. */
  readonly modelId?: string | null;
  /** The id of its batch, or `none` for jobs of no batch; absent or null: any. */
  readonly batch?: string | null;
  readonly order: ListOrder;
}

/** What selects jobs, without a page of them. */
export type JobFilter = Omit<JobQuery, 'limit' | 'after' | 'order' | 'statuses'>;

/** Jobs of a member for one model that wait or run, of one batch or of none. */
export interface JobGroup extends QueuedGroup {
  readonly batchId: string | null;
  /** Of the batch; null if it has none. */
  readonly label: string | null;
  readonly serviceType: ServiceType;
  readonly model: string;
  readonly processing: number;
  /** Unix ms; null if none waits. */
  readonly oldestQueuedAt: number | null;
  /** The first one that may run, else the first one that waits; null if none waits. */
  readonly next: Job | null;
}

/** The queue of one model at this moment. */
export interface ModelLoad {
  readonly serviceType: ServiceType;
  readonly model: string;
  readonly memberId: string;
  readonly queued: number;
  readonly processing: number;
}

export interface JobGroups {
  /** Those with the oldest jobs, up to a limit. */
  readonly groups: readonly JobGroup[];
  /** How many there are. */
  readonly total: number;
  /** Who waits for the models of the member's jobs, a row a member. */
  readonly loads: readonly ModelLoad[];
}

/** The position of a queued job. */
export interface QueuePosition {
  readonly jobId: string;
  /** Runnable jobs for its model before it, by member; counted up to a limit. */
  readonly ahead: readonly Ahead[];
}

export type SubmitOutcome<T> =
  { readonly kind: 'created' | 'replayed'; readonly value: T } | QueueFull | MemberGone;

/** A job that was ended by a cancel. */
export interface Canceled {
  readonly job: Job;
  /** The claim whose agent must be told; null if it was not running. */
  readonly claimId: string | null;
  readonly usage: UsageRow;
}

export type CancelOutcome =
  | ({ readonly kind: 'canceled' } & Canceled)
  /** It had already ended, and nothing has changed. */
  | { readonly kind: 'finished'; readonly job: Job }
  | { readonly kind: 'unknown' };

export type RetryOutcome =
  | { readonly kind: 'queued'; readonly job: Job }
  | { readonly kind: 'not_retryable'; readonly job: Job }
  | { readonly kind: 'unknown' }
  | QueueFull;

export interface JobStore {
  /** Creates the batch and all its jobs, or nothing. */
  createBatch(
    submission: Submission & {
      readonly label: string | null;
      readonly items: readonly NewJobItem[];
    },
    limits: QueueLimits,
    now: number,
  ): Promise<SubmitOutcome<Batch>>;

  /** The job that the member submitted with this idempotency key; null if there is none. */
  findSubmittedJob(memberId: string, idempotencyKey: string): Promise<Job | null>;
  /** Null if it is unknown, or another member's; a null member: any. */
  findJob(id: string, memberId: string | null): Promise<JobDetail | null>;
  /**
   * JSON, as it is sent to a provider; null if the job is unknown, another member's, or PROCESSED.
   */
  findJobBody(id: string, memberId: string | null): Promise<Uint8Array | null>;
  /** What its answer needs of a translated request; null if its body is not there any more. */
  findJobContext(id: string): Promise<TranslationContext | null>;
  /** Newest first. If `after` is unknown or not in the list, the list is empty. */
  listJobs(query: JobQuery): Promise<readonly Job[]>;
  /**
   * Where a search ends that reads so many of a member's jobs, of each status; null: it reads them
   * all.
   */
  searchEnd(query: JobQuery & { readonly memberId: string }, rows: number): Promise<string | null>;
  /** How many jobs of these statuses there are, each status counted up to a limit. */
  countJobs(
    filter: JobFilter,
    statuses: readonly JobStatus[],
    limit: number,
  ): Promise<ReadonlyMap<JobStatus, number>>;
  /** Jobs of the member that wait or run, by batch and model. */
  jobGroups(memberId: string, limit: number): Promise<JobGroups>;
  /** Positions of the jobs that are queued and may run now. */
  queuePositions(jobIds: readonly string[]): Promise<readonly QueuePosition[]>;
  /** Writes the usage row of a canceled run, and its webhook. */
  cancelJob(id: string, memberId: string | null, now: number): Promise<CancelOutcome>;
  /** Queues it again with the same payload; attempts, claims, error and result are cleared. */
  retryJob(
    id: string,
    memberId: string | null,
    limits: QueueLimits,
    now: number,
  ): Promise<RetryOutcome>;

  /** The batch that the member submitted with this idempotency key; null if there is none. */
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
   * Deletes jobs that ended before this time, and batches without jobs, up to a limit. Returns the
   * number of jobs.
   */
  deleteOldJobs(finishedBefore: number, limit: number): Promise<number>;
}
