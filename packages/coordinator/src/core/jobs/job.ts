/**
 * The states of a job and what moves it from one to the next: the specification's section 3, and
 * the operations of the store that carry it out. `docs/job-states.md` prints this table; the SQL
 * restates it, and a test runs both side by side.
 */
import type { ErrorBody } from '@inference-gateway/shared/errors';

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

/** Null where the event changes nothing in this state. */
export function nextStatus(status: JobStatus, event: JobEvent): JobStatus | null {
  return JOB_TRANSITIONS[status][event] ?? null;
}

export function isFinished(status: JobStatus): boolean {
  return status !== 'QUEUED' && status !== 'PROCESSING';
}

/** Why a job failed: what a synchronous caller would have been told. */
export type JobError = ErrorBody['error'];
