/**
 * The part of the store's port that assigns jobs to providers and stores their results. Operations
 * on a claim have an effect only while the claim is current; otherwise they return `stale`.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { JobError } from '../core/jobs/job.js';
import type { LaneHead } from '../core/jobs/lane.js';
import type { RequestSize, UsageNumbers } from '../core/usage/usage-bounds.js';
import type { Asset, AssetLimits } from './asset-store.js';
import type {
  Job,
  NewJobItem,
  MemberGone,
  QueueFull,
  QueueLimits,
  QueuePosition,
  Submission,
} from './job-store.js';
import type { UsageRow } from './usage-store.js';

export interface NewClaim {
  readonly jobId: string;
  readonly claimId: string;
  readonly providerId: string;
  readonly linkId: string;
  readonly serviceId: string;
  /** Of a job under an alias: the model that is to serve it; absent or null: the job's own. */
  readonly servedModel?: string | null;
  readonly leaseUntil: number;
  /**
   * True on a machine of its caller: such claims are outside of the fair order and do not advance
   * its clock. Otherwise a new member would wait for all that an owner did on their own card.
   */
  readonly isOwn: boolean;
  /** The share that lets its caller in; absent or null: none. */
  readonly shareId?: string | null;
}

/**
 * A claim and the link that holds it. Once the agent has resumed the claim on a newer link, writes
 * of the older one are `stale` and change nothing.
 */
export interface HeldClaim {
  readonly claimId: string;
  readonly linkId: string;
}

/** A claimed job. */
export interface ClaimedJob extends HeldClaim {
  readonly job: Job;
  readonly serviceId: string;
  /** The public name of its caller. */
  readonly memberName: string;
  /** Null until the agent has accepted. */
  readonly acceptedAt: number | null;
  /** When it must be done; null until it is accepted. */
  readonly runDeadline: number | null;
  /** Limits of a resumed text job, whose request is not read again. */
  readonly request?: RequestSize;
}

/** A claimed job, and its request body. */
export type Claimed = readonly [ClaimedJob, Uint8Array];

export interface JobSubmission extends Submission {
  readonly id: string;
  readonly item: NewJobItem;
  readonly claim?: Omit<NewClaim, 'jobId'> | null;
}

export type CreateOutcome =
  | {
      readonly kind: 'created';
      /** As it was created, before its claim. */
      readonly value: Job;
      readonly claimed: Claimed | null;
      /** Null if it is claimed. */
      readonly position: QueuePosition | null;
    }
  | { readonly kind: 'replayed'; readonly value: Job }
  | QueueFull
  | MemberGone;

/** The usage of a run, without what the job's row has. */
export type JobUsage = Omit<UsageNumbers, 'queueMs' | 'totalMs'>;

export interface Finish extends HeldClaim {
  /** JSON of a text job; null if the result is files. */
  readonly result: Uint8Array | null;
  /** Files that are in place; their rows are written here. */
  readonly assets: readonly Asset[];
  readonly assetLimits: AssetLimits;
  readonly usage: JobUsage;
}

export type FinishOutcome =
  | { readonly kind: 'stored'; readonly job: Job; readonly usage: UsageRow }
  /** This claim has been finished before. */
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'stale' }
  /** There is no space for its files; the claim stays current. */
  | { readonly kind: 'member_full' | 'full' };

export interface Failure extends HeldClaim {
  /** Whether another attempt may succeed. */
  readonly retryable: boolean;
  readonly error: JobError;
  /** From 0 to 1, for the back-off. */
  readonly random: number;
}

export interface Release extends HeldClaim {
  /**
   * True: the provider does not get the job for a while, and too many releases are a failure.
   * False: the owner took the card back, or the agent or coordinator is draining.
   */
  readonly counts: boolean;
  readonly error: JobError;
  readonly random: number;
}

/** The state of a job whose claim has ended. */
export type EndOutcome =
  | { readonly kind: 'requeued'; readonly job: Job }
  | { readonly kind: 'failed'; readonly job: Job; readonly usage: UsageRow }
  | { readonly kind: 'stale' };

export interface ResumeRequest {
  readonly providerId: string;
  readonly linkId: string;
  /** The claims that the agent still holds. */
  readonly claimIds: readonly string[];
  readonly leaseUntil: number;
  readonly random: number;
}

export interface Resumed {
  /** Counts the provider's links on all coordinators; 0 if the provider is unknown. */
  readonly epoch: number;
  /** Claims that are current; the agent drops the others. */
  readonly claims: readonly ClaimedJob[];
  /**
   * Claims of the provider that its agent no longer holds: released if never accepted, else failed.
   */
  readonly ended: readonly EndOutcome[];
}

export interface ModelQueue {
  readonly serviceType: ServiceType;
  readonly model: string;
  readonly queued: number;
  readonly processing: number;
  /** Time of the oldest queued one; null if there is none. */
  readonly oldestQueuedAt: number | null;
}

export interface ExpireRequest {
  /** `LaneHead.key`. */
  readonly laneKey: string;
  /** Only jobs queued before this time. */
  readonly queuedBefore: number;
  readonly error: JobError;
  /** At most this many at once. */
  readonly limit: number;
}

export interface DispatchStore {
  /**
   * Creates one QUEUED job with this id, a new ULID, and makes its claim, if one is given and the
   * queue is not paused: both or neither. If the idempotency key has been used before, nothing is
   * created or claimed, and the job of that submission is returned in its current state.
   */
  createJob(submission: JobSubmission, limits: QueueLimits, now: number): Promise<CreateOutcome>;
  /** The first jobs of every lane that may run now, at most `perLane` of each. */
  laneHeads(perLane: number): Promise<readonly LaneHead[]>;
  /**
   * One outcome per claim, in order: the claimed job with its request body, or null if it can no
   * longer be claimed, or its key is disabled, revoked or expired.
   */
  claimJobs(claims: readonly NewClaim[], now: number): Promise<readonly (Claimed | null)[]>;
  /** False if the claim is not current, or a newer link holds it. */
  acceptJob(claim: HeldClaim, runDeadline: number, now: number): Promise<boolean>;
  /** Gives the job back; its attempt does not count. */
  releaseJob(release: Release, now: number): Promise<EndOutcome>;
  /** Extends the leases that the link holds; returns the claims that it does not hold. */
  renewClaims(
    claims: {
      readonly providerId: string;
      readonly linkId: string;
      readonly claimIds: readonly string[];
      readonly leaseUntil: number;
    },
    now: number,
  ): Promise<readonly string[]>;
  /**
   * PROCESSED, with result, files and usage, in one transaction. Also for a job that is QUEUED
   * again after this claim was lost: no other provider has it, and the work is done.
   */
  finishJob(finish: Finish, now: number): Promise<FinishOutcome>;
  /** Queued again after a back-off if that may help and attempts are left; else FAILED. */
  failJob(failure: Failure, now: number): Promise<EndOutcome>;
  /** Fails claims whose lease has ended; at most `limit`. */
  sweepLeases(
    sweep: { readonly error: JobError; readonly random: number; readonly limit: number },
    now: number,
  ): Promise<readonly EndOutcome[]>;
  /**
   * Sets the end of every lease to this time: after a restart, a period in which no agent could
   * renew, or a jump of the clock. Leases of providers that are linked to another coordinator,
   * which has been seen since `othersSince`, are not changed.
   */
  renewOwnClaims(leaseUntil: number, othersSince: number): Promise<void>;
  /**
   * An agent has reconnected: its link becomes its provider's newest one, and holds the agent's
   * claims from now on.
   */
  resumeClaims(request: ResumeRequest, now: number): Promise<Resumed>;
  /**
   * Ends back-offs and exclusions whose time is over. Returns when the next one ends, or null.
   */
  ripenJobs(now: number): Promise<number | null>;
  /** FAILED: no provider has served the model for too long. */
  expireJobs(request: ExpireRequest, now: number): Promise<readonly EndOutcome[]>;
  /** Ends all back-offs and exclusions now; returns the number of jobs. */
  requeueStuck(now: number): Promise<number>;
  /** Queued and running jobs by model; null: of all members, or keys. */
  modelQueues(memberId: string | null, keyId?: string | null): Promise<readonly ModelQueue[]>;
  /** While it is paused, no job is claimed. */
  isQueuePaused(): Promise<boolean>;
  setQueuePaused(paused: boolean): Promise<void>;
}
