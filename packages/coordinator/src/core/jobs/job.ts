/**
 * The states of a job and the events that change them: section 3 of the specification, and the
 * store operations that implement it. `docs/job-states.md` prints this table; the SQL restates it,
 * and a test runs both side by side.
 */
import type { ErrorBody } from '@inference-gateway/shared/errors';
import { ERRORS } from '@inference-gateway/shared/errors';

export const JOB_STATUSES = ['QUEUED', 'PROCESSING', 'PROCESSED', 'FAILED', 'CANCELED'] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];

export const JOB_EVENTS = [
  'claim',
  'accept',
  'renew',
  'release',
  'resume',
  'finish',
  'fail',
  'give_up',
  'expire',
  'cancel',
  'retry',
] as const;

/**
 * `fail` is a failure that leaves attempts, including a lost agent; `give_up` is a failure that
 * leaves none, or that another attempt would not fix. `release` counts as no failure of the job.
 * `resume` gives a claim back to the agent that still works on it: a late result is worth keeping
 * if no other agent has claimed the job meanwhile.
 */
export type JobEvent = (typeof JOB_EVENTS)[number];

type Moves = Readonly<Partial<Record<JobEvent, JobStatus>>>;

/**
 * An event that is not listed changes nothing: for example of a claim that is gone, or a late
 * cancel.
 */
export const JOB_TRANSITIONS: Readonly<Record<JobStatus, Moves>> = {
  QUEUED: {
    claim: 'PROCESSING',
    resume: 'PROCESSING',
    finish: 'PROCESSED',
    expire: 'FAILED',
    cancel: 'CANCELED',
  },
  PROCESSING: {
    accept: 'PROCESSING',
    renew: 'PROCESSING',
    resume: 'PROCESSING',
    release: 'QUEUED',
    finish: 'PROCESSED',
    fail: 'QUEUED',
    give_up: 'FAILED',
    cancel: 'CANCELED',
  },
  PROCESSED: {},
  FAILED: { retry: 'QUEUED' },
  CANCELED: { retry: 'QUEUED' },
};

/** Null if the event changes nothing in this state. */
export function nextStatus(status: JobStatus, event: JobEvent): JobStatus | null {
  return JOB_TRANSITIONS[status][event] ?? null;
}

/** Excerpts of requests are erased after this, even where jobs and files are kept for longer. */
export const MAX_EXCERPT_AGE_MS = 30 * 86_400_000;

export function isFinished(status: JobStatus): boolean {
  return status !== 'QUEUED' && status !== 'PROCESSING';
}

/** Why a job failed: the error that a synchronous caller would have received. */
export type JobError = ErrorBody['error'];

/** A failed attempt that was followed by another one. */
export interface FailedAttempt {
  /**
   * From 1. The same number can occur twice, if the agent resumed the attempt and it failed again.
   */
  readonly attempt: number;
  readonly providerId: string | null;
  readonly startedAt: number | null;
  readonly failedAt: number;
  readonly error: JobError;
}

/** A batch has no state of its own: it follows from its jobs (specification, section 3). */
export type BatchStatus = 'PENDING' | 'PROCESSING' | 'DONE';

export type JobCounts = Readonly<Record<JobStatus, number>>;

/** Canceled and failed jobs count as finished. */
export function batchStatus(counts: JobCounts): BatchStatus {
  const finished = counts.PROCESSED + counts.FAILED + counts.CANCELED;
  if (counts.QUEUED + counts.PROCESSING === 0) return 'DONE';
  return finished + counts.PROCESSING === 0 ? 'PENDING' : 'PROCESSING';
}

// When a failed job is tried again (decisions, section 5).

const LONGEST_BACKOFF_MS = 60_000;

/** random(0.5–1.5) · 2^attempt seconds, at most 60 s; `random` is from 0 to 1. */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(LONGEST_BACKOFF_MS, Math.round((0.5 + random) * 2 ** attempt * 1_000));
}

/** How long a provider that gave a job back is excluded from it. */
export const RELEASE_EXCLUSION_MS = 30_000;

/** A job that is given back more often than this fails. */
export const MAX_RELEASES = 10;

/** How many failed attempts of a job are kept: an agent may lose its link over and over. */
export const MAX_FAILED_ATTEMPTS = 20;

/**
 * The error of a job without attempts left: the last attempt's message and the number of attempts.
 */
export function retriesExhausted({ message, param }: JobError, attempts: number): JobError {
  const code = 'max_retries_exhausted';
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  return {
    message: `It failed ${times}. The last time: ${message}`,
    type: ERRORS[code].type,
    code,
    param,
  };
}
