/**
 * What an event does to a job: the only place with the rules of retry, back-off, release, exclusion
 * and resumption. Pure: the time and the random number are arguments. The store writes the result
 * in one statement, guarded by the values that were read.
 */
import {
  MAX_FAILED_ATTEMPTS,
  MAX_RELEASES,
  RELEASE_EXCLUSION_MS,
  backoffMs,
  nextStatus,
  retriesExhausted,
} from './job.js';
import type { FailedAttempt, JobError, JobEvent, JobStatus } from './job.js';

/** The fields of a job that events read and change. Times are Unix ms. */
export interface JobState {
  readonly status: JobStatus;
  /** Attempts so far. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Whether `attempt` counts the last claim. */
  readonly isAttemptCounted: boolean;
  /** How often providers gave it back. */
  readonly releases: number;
  /** Incremented by each retry that the caller asks for. */
  readonly generation: number;
  readonly queuedAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** The current claim; set only while the job is PROCESSING. */
  readonly claimId: string | null;
  /** The link that holds the current claim. */
  readonly linkId: string | null;
  /** The last claim, current or lost; null before the first one. */
  readonly lastClaimId: string | null;
  /** Kept after a claim is lost, for an agent that comes back with a late result. */
  readonly providerId: string | null;
  readonly serviceId: string | null;
  /** The model that the last claim took of the chain of its alias; null without an alias. */
  readonly servedModel: string | null;
  readonly acceptedAt: number | null;
  readonly leaseUntil: number | null;
  readonly runDeadline: number | null;
  /** Null if it may run now. */
  readonly notBefore: number | null;
  /** Providers that get it only after `excludedUntil`. */
  readonly excluded: readonly string[];
  readonly excludedUntil: number | null;
  /** Providers that get it only if no other can run it; see `avoidedFor`. */
  readonly avoided: readonly string[];
  readonly error: JobError | null;
  readonly failedAttempts: readonly FailedAttempt[];
}

/** An event and its data. */
export type JobChange =
  | {
      readonly event: 'claim';
      readonly claimId: string;
      readonly providerId: string;
      readonly linkId: string;
      readonly serviceId: string;
      readonly servedModel?: string | null;
      readonly leaseUntil: number;
    }
  | { readonly event: 'accept'; readonly runDeadline: number }
  | { readonly event: 'renew'; readonly leaseUntil: number }
  /** `counts`: the provider is excluded for a while, and too many such releases are a failure. */
  | { readonly event: 'release'; readonly counts: boolean; readonly error: JobError }
  | { readonly event: 'resume'; readonly linkId: string; readonly leaseUntil: number }
  | { readonly event: 'finish' }
  /** `retryable`: another attempt may succeed. If no attempt is left, the event is `give_up`. */
  | { readonly event: 'fail'; readonly retryable: boolean; readonly error: JobError }
  | { readonly event: 'expire'; readonly error: JobError }
  | { readonly event: 'cancel' }
  | { readonly event: 'retry' };

export interface Moment {
  readonly now: number;
  /** From 0 to 1, for the back-off. */
  readonly random: number;
}

/** The state after the event; null if the event changes nothing in this state. */
export function transition(job: JobState, change: JobChange, moment: Moment): JobState | null {
  switch (change.event) {
    case 'claim':
      return job.notBefore === null ? claimed(job, change, moment.now) : null;
    case 'accept':
      // A second ACCEPT does not extend the deadline.
      return move(job, 'accept', {
        acceptedAt: job.acceptedAt ?? moment.now,
        runDeadline: job.runDeadline ?? change.runDeadline,
      });
    case 'renew':
      return move(job, 'renew', { leaseUntil: Math.max(job.leaseUntil ?? 0, change.leaseUntil) });
    case 'release':
      return released(job, change, moment);
    case 'resume':
      return resumed(job, change, moment.now);
    case 'finish':
      return move(job, 'finish', { ...counted(job), ...ended(moment.now), error: null });
    case 'fail':
      return failed(job, change, moment);
    case 'expire':
      return move(job, 'expire', { ...ended(moment.now), error: change.error });
    case 'cancel':
      return move(job, 'cancel', { ...ended(moment.now), error: null });
    case 'retry':
      return retried(job, moment.now);
  }
}

/** Drops the exclusion if it has ended. */
export function readmitted(job: JobState): JobState {
  return { ...job, excluded: [], excludedUntil: null };
}

/** The job may run at once, on any provider. */
export function unstuck(job: JobState): JobState {
  return { ...readmitted(job), notBefore: null, avoided: [] };
}

/** Follows the table in `job.ts` alone. */
function move(job: JobState, event: JobEvent, changes: Partial<JobState>): JobState | null {
  const status = nextStatus(job.status, event);
  return status === null ? null : { ...job, ...changes, status };
}

function claimed(
  job: JobState,
  change: Extract<JobChange, { readonly event: 'claim' }>,
  now: number,
): JobState | null {
  const { claimId, providerId, linkId, serviceId, servedModel = null, leaseUntil } = change;
  // An exclusion that has not ended is kept, also if the next provider gives the job back.
  return move(job, 'claim', {
    claimId,
    lastClaimId: claimId,
    providerId,
    linkId,
    serviceId,
    servedModel,
    leaseUntil,
    attempt: job.attempt + 1,
    isAttemptCounted: true,
    startedAt: now,
    acceptedAt: null,
    runDeadline: null,
  });
}

function released(
  job: JobState,
  change: Extract<JobChange, { readonly event: 'release' }>,
  moment: Moment,
): JobState | null {
  const { counts, error } = change;
  // After so many releases the job itself is the likely cause, so the attempt counts.
  if (counts && job.releases >= MAX_RELEASES) {
    return failed(job, { event: 'fail', retryable: true, error }, moment);
  }
  const waiting = { ...queuedAgain(job, moment.now), attempt: job.attempt - 1 };
  const free = { ...waiting, isAttemptCounted: false };
  if (!counts) return move(job, 'release', free);
  return move(job, 'release', {
    ...free,
    releases: job.releases + 1,
    excluded: withProvider(free.excluded, job),
    excludedUntil: moment.now + RELEASE_EXCLUSION_MS,
  });
}

function failed(
  job: JobState,
  { retryable, error }: Extract<JobChange, { readonly event: 'fail' }>,
  { now, random }: Moment,
): JobState | null {
  const isLast = job.attempt >= job.maxAttempts;
  if (!retryable || isLast) {
    const last = retryable ? retriesExhausted(error, job.attempt) : error;
    return move(job, 'give_up', { ...ended(now), error: last });
  }
  const { attempt, providerId, startedAt } = job;
  const attempts = [
    ...job.failedAttempts,
    { attempt, providerId, startedAt, failedAt: now, error },
  ];
  return move(job, 'fail', {
    ...queuedAgain(job, now),
    avoided: withFailed(job.avoided, job),
    notBefore: now + backoffMs(attempt, random),
    error,
    failedAttempts: attempts.slice(-MAX_FAILED_ATTEMPTS),
  });
}

/**
 * The agent is back. Also applies to a job that is queued again: no other provider has claimed it
 * since, otherwise this claim would not be its last one. The job runs once more, so an attempt that
 * was given back now counts.
 */
function resumed(
  job: JobState,
  { linkId, leaseUntil }: Extract<JobChange, { readonly event: 'resume' }>,
  now: number,
): JobState | null {
  if (job.lastClaimId === null) return null;
  return move(job, 'resume', {
    ...counted(job),
    claimId: job.lastClaimId,
    linkId,
    leaseUntil: Math.max(job.leaseUntil ?? 0, leaseUntil),
    acceptedAt: job.acceptedAt ?? now,
    notBefore: null,
  });
}

/** Clears everything of the last run: a late result of it names a claim that no row has. */
function retried(job: JobState, now: number): JobState | null {
  return move(job, 'retry', {
    ...UNCLAIMED,
    attempt: 0,
    isAttemptCounted: false,
    releases: 0,
    generation: job.generation + 1,
    queuedAt: now,
    startedAt: null,
    finishedAt: null,
    lastClaimId: null,
    providerId: null,
    serviceId: null,
    servedModel: null,
    notBefore: null,
    excluded: [],
    excludedUntil: null,
    avoided: [],
    error: null,
    failedAttempts: [],
  });
}

const UNCLAIMED = {
  claimId: null,
  linkId: null,
  acceptedAt: null,
  leaseUntil: null,
  runDeadline: null,
} as const;

/** Keeps its place in the queue, without a claim; drops an exclusion that has ended. */
function queuedAgain(job: JobState, now: number) {
  const isExcluded = job.excludedUntil !== null && job.excludedUntil > now;
  return {
    ...UNCLAIMED,
    notBefore: null,
    excluded: isExcluded ? job.excluded : [],
    excludedUntil: isExcluded ? job.excludedUntil : null,
  };
}

function ended(now: number) {
  return { ...UNCLAIMED, finishedAt: now, notBefore: null, excludedUntil: null };
}

/** Counts the last claim as an attempt, even if it had been given back. */
function counted({ attempt, isAttemptCounted }: JobState) {
  return { attempt: isAttemptCounted ? attempt : attempt + 1, isAttemptCounted: true };
}

function withProvider(ids: readonly string[], { providerId }: JobState): readonly string[] {
  return providerId === null ? ids : withOne(ids, providerId);
}

/** A provider that fails one model of an alias may serve the next one. */
function withFailed(
  avoided: readonly string[],
  { providerId, servedModel }: JobState,
): readonly string[] {
  if (providerId === null) return avoided;
  return withOne(avoided, servedModel === null ? providerId : `${providerId} ${servedModel}`);
}

function withOne(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids : [...ids, id];
}

/** Of the avoided ones, the providers that have failed this model of the job. */
export function avoidedFor(avoided: readonly string[], model: string): readonly string[] {
  return avoided.flatMap((one) => {
    // Ids of providers have no space; those of models may have several.
    const at = one.indexOf(' ');
    if (at === -1) return one;
    return one.slice(at + 1) === model ? one.slice(0, at) : [];
  });
}
