/**
 * The states of a job and what moves it from one to the next: the specification's section 3, and
 * the operations of the store that carry it out. `docs/job-states.md` prints this table; the SQL
 * restates it, and a test runs both side by side.
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
 * `fail` is a failure that leaves attempts, a lost agent included; `give_up` is one that leaves
 * none, or that no attempt would mend. `release` is nobody's failure. `resume` gives a claim back
 * to the agent that still has it: a late result of a job that nobody else has claimed meanwhile is
 * worth keeping.
 */
export type JobEvent = (typeof JOB_EVENTS)[number];

type Moves = Readonly<Partial<Record<JobEvent, JobStatus>>>;

/** What is not in it changes nothing: a claim that is gone, a cancel that came too late. */
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

export function isFinished(status: JobStatus): boolean {
  return status !== 'QUEUED' && status !== 'PROCESSING';
}

/** Why a job failed: what a synchronous caller would have been told. */
export type JobError = ErrorBody['error'];

/** One that another attempt came after. */
export interface FailedAttempt {
  /** From 1. The same twice where its agent came back to it, and it failed again. */
  readonly attempt: number;
  readonly providerId: string | null;
  readonly startedAt: number | null;
  readonly failedAt: number;
  readonly error: JobError;
}

/** A batch has no state of its own: it is what its jobs are (specification, section 3). */
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

/** A provider that gave a job back is not asked again for this long. */
export const RELEASE_EXCLUSION_MS = 30_000;

/** A job that is given back more often than this has failed. */
export const MAX_RELEASES = 10;

/** So many of a job's failed attempts are kept: an agent may lose its link over and over. */
export const MAX_FAILED_ATTEMPTS = 20;

/** The error of a job whose attempts are spent: what the last one said, and how many there were. */
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
