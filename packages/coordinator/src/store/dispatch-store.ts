/**
 * The part of the store's port that gives jobs to providers and takes their results. Every
 * operation that names a claim has an effect only while the claim is current; who holds one that is
 * not is told `stale`.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { JobError } from '../core/jobs/job.js';
import type { LaneHead } from '../core/jobs/lane.js';
import type { RequestSize, UsageNumbers } from '../core/usage/usage-bounds.js';
import type { Asset, AssetLimits } from './asset-store.js';
import type { Job } from './job-store.js';
import type { UsageRow } from './usage-store.js';

export interface NewClaim {
  readonly jobId: string;
  readonly claimId: string;
  readonly providerId: string;
  readonly linkId: string;
  readonly serviceId: string;
  readonly leaseUntil: number;
  /**
   * On a machine of its caller's: such claims stand outside the fair order, and do not move its
   * clock. Else a newcomer would come after all that an owner has done on their own card.
   */
  readonly isOwn: boolean;
}

/**
 * A claim, and the link that holds it. Once the agent has resumed the claim on a newer link, writes
 * of the older one change nothing: they are `stale`.
 */
export interface HeldClaim {
  readonly claimId: string;
  readonly linkId: string;
}

/** A job in a provider's hands. */
export interface ClaimedJob extends HeldClaim {
  readonly job: Job;
  readonly serviceId: string;
  /** The public name of its caller. */
  readonly memberName: string;
  /** Null until the agent has accepted. */
  readonly acceptedAt: number | null;
  /** When it must be done; null until it is accepted. */
  readonly runDeadline: number | null;
  /** Of a text job that is resumed: its request is not read again. */
  readonly request?: RequestSize;
}

/** What a run cost, less what the job's row knows by itself. */
export type JobUsage = Omit<UsageNumbers, 'queueMs' | 'totalMs'>;

export interface Finish extends HeldClaim {
  /** JSON of a text job; null if the result is files. */
  readonly result: Uint8Array | null;
  /** Files that lie in their places; their rows are written here. */
  readonly assets: readonly Asset[];
  readonly assetLimits: AssetLimits;
  readonly usage: JobUsage;
}

export type FinishOutcome =
  | { readonly kind: 'stored'; readonly job: Job; readonly usage: UsageRow }
  /** This very claim has been finished before. */
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'stale' }
  /** There is no space for its files; the claim is still current. */
  | { readonly kind: 'member_full' | 'full' };

export interface Failure extends HeldClaim {
  /** May another attempt mend it? */
  readonly retryable: boolean;
  readonly error: JobError;
  /** From 0 to 1, for the back-off. */
  readonly random: number;
}

export interface Release extends HeldClaim {
  /**
   * True: the provider is left alone for a while, and after too many releases it is a failure.
   * False: the owner took the card back, or a side is draining.
   */
  readonly counts: boolean;
  readonly error: JobError;
  readonly random: number;
}

/** What became of a job whose claim has ended. */
export type EndOutcome =
  | { readonly kind: 'requeued'; readonly job: Job }
  | { readonly kind: 'failed'; readonly job: Job; readonly usage: UsageRow }
  | { readonly kind: 'stale' };

export interface ResumeRequest {
  readonly providerId: string;
  readonly linkId: string;
  /** The claims that the agent still has. */
  readonly claimIds: readonly string[];
  readonly leaseUntil: number;
  readonly random: number;
}

export interface Resumed {
  /** Current again, or still; the agent is to drop the others. */
  readonly claims: readonly ClaimedJob[];
  /**
   * What the provider had claimed and has no more: released where it had never been accepted,
   * failed where it had.
   */
  readonly ended: readonly EndOutcome[];
}

export interface ModelQueue {
  readonly serviceType: ServiceType;
  readonly model: string;
  readonly queued: number;
  readonly processing: number;
  /** Of the queued ones; null if there is none. */
  readonly oldestQueuedAt: number | null;
}

export interface ExpireRequest {
  /** `LaneHead.key`. */
  readonly laneKey: string;
  /** Jobs queued later stay. */
  readonly queuedBefore: number;
  readonly error: JobError;
  /** At most so many at once. */
  readonly limit: number;
}

export interface DispatchStore {
  /** The first jobs of every lane that may run now, at most `perLane` of each. */
  laneHeads(perLane: number): Promise<readonly LaneHead[]>;
  /**
   * One outcome a claim, in their order: the request body with the claimed job, or null if it is
   * not there to be claimed any more.
   */
  claimJobs(
    claims: readonly NewClaim[],
    now: number,
  ): Promise<readonly (readonly [ClaimedJob, Uint8Array] | null)[]>;
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
   * PROCESSED, with result, files and usage, in one transaction. Also of a job that is QUEUED again
   * after this very claim was lost: nobody else has it, and the work is done.
   */
  finishJob(finish: Finish, now: number): Promise<FinishOutcome>;
  /** Queued again after a back-off where that may help and attempts are left; else FAILED. */
  failJob(failure: Failure, now: number): Promise<EndOutcome>;
  /** Fails claims whose lease has ended; at most `limit`. */
  sweepLeases(
    sweep: { readonly error: JobError; readonly random: number; readonly limit: number },
    now: number,
  ): Promise<readonly EndOutcome[]>;
  /**
   * Every lease ends then, earlier or later than it would have: after a restart, a time in which
   * no agent could renew, or a jump of the clock. Leases of providers that are linked to another
   * coordinator, which has been seen since `othersSince`, stay as they are.
   */
  renewOwnClaims(leaseUntil: number, othersSince: number): Promise<void>;
  /**
   * An agent is back: its new link is its provider's newest one from now on, and the claims that it
   * has are held by that link.
   */
  resumeClaims(request: ResumeRequest, now: number): Promise<Resumed>;
  /**
   * Lets jobs run whose back-off is over, and forgets exclusions that are. Returns when the next
   * one is due, or null.
   */
  ripenJobs(now: number): Promise<number | null>;
  /** FAILED: nobody has served the model for too long. */
  expireJobs(request: ExpireRequest, now: number): Promise<readonly EndOutcome[]>;
  /** Lets every job that waits out a back-off or an exclusion run now; returns how many. */
  requeueStuck(now: number): Promise<number>;
  /** Queued and running jobs by model; a null member stands for everybody. */
  modelQueues(memberId: string | null): Promise<readonly ModelQueue[]>;
  /** While it is paused, no job is claimed. */
  isQueuePaused(): Promise<boolean>;
  setQueuePaused(paused: boolean): Promise<void>;
}
