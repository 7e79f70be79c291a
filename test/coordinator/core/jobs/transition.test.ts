import { JOB_EVENTS, MAX_FAILED_ATTEMPTS } from '@inference-gateway/coordinator/core/jobs/job';
import { MAX_RELEASES, RELEASE_EXCLUSION_MS } from '@inference-gateway/coordinator/core/jobs/job';
import {
  readmitted,
  transition,
  unstuck,
} from '@inference-gateway/coordinator/core/jobs/transition';
import type { JobChange, JobState } from '@inference-gateway/coordinator/core/jobs/transition';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const ERROR = {
  message: 'The model server answered 500.',
  type: 'upstream_error',
  code: 'provider_error',
  param: null,
} as const;
const QUEUED: JobState = {
  status: 'QUEUED',
  attempt: 0,
  maxAttempts: 3,
  isAttemptCounted: false,
  releases: 0,
  generation: 1,
  queuedAt: 0,
  startedAt: null,
  finishedAt: null,
  claimId: null,
  linkId: null,
  lastClaimId: null,
  providerId: null,
  serviceId: null,
  servedModel: null,
  acceptedAt: null,
  leaseUntil: null,
  runDeadline: null,
  notBefore: null,
  excluded: [],
  excludedUntil: null,
  avoided: [],
  error: null,
  failedAttempts: [],
};
const PLACE = { providerId: 'den', linkId: 'a', serviceId: 'llm' };
const CLAIM: JobChange = { event: 'claim', claimId: 'c1', ...PLACE, leaseUntil: 60 };

function after(changes: readonly JobChange[], from: JobState = QUEUED): JobState {
  return changes.reduce((job, change, i) => {
    const next = transition(job, change, { now: 10 * (i + 1), random: 0.5 });
    if (next === null) throw new Error(`${change.event} changes nothing of a ${job.status} job`);
    return next;
  }, from);
}

describe('a failed attempt', () => {
  const FAIL: JobChange = { event: 'fail', retryable: true, error: ERROR };

  test('is tried again after a back-off, on another provider if there is one', () => {
    expect(after([CLAIM, FAIL])).toMatchObject({
      status: 'QUEUED',
      attempt: 1,
      avoided: ['den'],
      notBefore: 20 + 2_000,
      claimId: null,
      lastClaimId: 'c1',
      failedAttempts: [{ attempt: 1, providerId: 'den', startedAt: 10, failedAt: 20 }],
    });
  });

  test('is the end if no attempt is left, or none would help', () => {
    const last = after([CLAIM, FAIL], { ...QUEUED, attempt: 2 });
    expect(last).toMatchObject({ status: 'FAILED', finishedAt: 20 });
    expect(last.error?.code).toBe('max_retries_exhausted');
    const hopeless = after([CLAIM, { event: 'fail', retryable: false, error: ERROR }]);
    expect(hopeless).toMatchObject({ status: 'FAILED', error: ERROR, attempt: 1 });
  });

  test('is kept, as the last of so many', () => {
    const attempt = { attempt: 1, providerId: 'x', startedAt: 1, failedAt: 2, error: ERROR };
    const failedAttempts = Array.from({ length: MAX_FAILED_ATTEMPTS }, () => attempt);
    const kept = after([CLAIM, FAIL], { ...QUEUED, failedAttempts }).failedAttempts;
    expect([kept.length, kept.at(-1)?.failedAt]).toEqual([MAX_FAILED_ATTEMPTS, 20]);
  });
});

describe('a job that is given back', () => {
  const counting: JobChange = { event: 'release', counts: true, error: ERROR };

  test('keeps its attempts, and leaves the provider alone for a while', () => {
    expect(after([CLAIM, counting])).toMatchObject({
      status: 'QUEUED',
      attempt: 0,
      releases: 1,
      excluded: ['den'],
      excludedUntil: 20 + RELEASE_EXCLUSION_MS,
      avoided: [],
    });
    const owner = after([CLAIM, { ...counting, counts: false }]);
    expect(owner).toMatchObject({ attempt: 0, releases: 0, excluded: [], excludedUntil: null });
  });

  test('too often has failed an attempt', () => {
    const often = after([CLAIM, counting], { ...QUEUED, releases: MAX_RELEASES });
    expect(often).toMatchObject({ status: 'QUEUED', attempt: 1, avoided: ['den'], excluded: [] });
  });

  test('drops an exclusion that has ended, and keeps one that has not', () => {
    const excluded = { ...QUEUED, excluded: ['attic'] };
    const release: JobChange = { ...counting, counts: false };
    expect(after([CLAIM, release], { ...excluded, excludedUntil: 20 }).excluded).toEqual([]);
    expect(after([CLAIM, release], { ...excluded, excludedUntil: 21 }).excluded).toEqual(['attic']);
  });

  test('counts its attempt after all once its agent is back with it', () => {
    const resume: JobChange = { event: 'resume', linkId: 'b', leaseUntil: 99 };
    const back = after([CLAIM, { ...counting, counts: false }, resume]);
    const held = { claimId: 'c1', linkId: 'b', leaseUntil: 99, acceptedAt: 30 };
    expect(back).toMatchObject({ status: 'PROCESSING', attempt: 1, ...held });
    expect(after([{ event: 'finish' }], back)).toMatchObject({ status: 'PROCESSED', attempt: 1 });
  });
});

test('a retry leaves nothing of the last run but its number', () => {
  const failed = after([CLAIM, { event: 'fail', retryable: false, error: ERROR }]);
  const again = transition(failed, { event: 'retry' }, { now: 70, random: 0 });
  expect(again).toEqual({ ...QUEUED, generation: 2, queuedAt: 70 });
});

test('a second ACCEPT does not extend the deadline, and a lease never gets shorter', () => {
  const accepted = after([CLAIM, { event: 'accept', runDeadline: 500 }]);
  expect(after([{ event: 'accept', runDeadline: 900 }], accepted).runDeadline).toBe(500);
  expect(after([{ event: 'renew', leaseUntil: 59 }], accepted).leaseUntil).toBe(60);
});

test('a job that waits out its back-off is not claimed until it is let go', () => {
  const waiting = { ...QUEUED, notBefore: 9, avoided: ['den'], excluded: ['x'], excludedUntil: 8 };
  expect(transition(waiting, CLAIM, { now: 10, random: 0 })).toBeNull();
  expect(readmitted(waiting)).toEqual({ ...waiting, excluded: [], excludedUntil: null });
  expect(after([CLAIM], unstuck(waiting)).status).toBe('PROCESSING');
});

const change: fc.Arbitrary<JobChange> = fc.oneof(
  fc.constant(CLAIM),
  fc.constant<JobChange>({ event: 'accept', runDeadline: 500 }),
  fc.constant<JobChange>({ event: 'renew', leaseUntil: 80 }),
  fc.constant<JobChange>({ event: 'resume', linkId: 'b', leaseUntil: 99 }),
  fc.boolean().map((counts): JobChange => ({ event: 'release', counts, error: ERROR })),
  fc.boolean().map((retryable): JobChange => ({ event: 'fail', retryable, error: ERROR })),
  fc.constant<JobChange>({ event: 'expire', error: ERROR }),
  fc.constantFrom<JobChange>({ event: 'finish' }, { event: 'cancel' }, { event: 'retry' }),
);

test('after any history the state is one that the table of jobs allows', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60, size: 'max' }), (changes) => {
      let job = QUEUED;
      changes.forEach((one, i) => {
        const next = transition(job, one, { now: 100_000 * i, random: 0.5 });
        if (next !== null) seen.add(one.event);
        job = unstuck(next ?? job);
        const isRunning = job.status === 'PROCESSING';
        const isEnded = !isRunning && job.status !== 'QUEUED';
        expect([job.claimId !== null, job.linkId !== null]).toEqual([isRunning, isRunning]);
        expect([job.leaseUntil !== null, job.finishedAt !== null]).toEqual([isRunning, isEnded]);
        expect(job.attempt).toBeGreaterThanOrEqual(0);
        expect(job.attempt).toBeLessThanOrEqual(job.maxAttempts + 1);
      });
    }),
  );
  expect([...seen, 'give_up'].toSorted()).toEqual([...JOB_EVENTS].toSorted());
});
