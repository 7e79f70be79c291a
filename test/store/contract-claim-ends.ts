/** The part of the contract that is about claims that end without a result. */
import { MAX_RELEASES, RELEASE_EXCLUSION_MS } from '@inference-gateway/coordinator/core/jobs/job';
import type {
  EndOutcome,
  Failure,
  Member,
  Release,
  Store,
} from '@inference-gateway/coordinator/store/port';
import { beforeEach, describe, expect, test } from 'vitest';
import { LEASE_MS, claimed, jobOf, laneOf, newClaim, runningJob } from './dispatch-rows.js';
import { BROKEN, submitJob, LINK_ID } from './job-rows.js';
import { NOW, createMember } from './store-rows.js';

export function describeClaimEnds(adapter: string, store: () => Store): void {
  const release = (
    claimId: string,
    over: Partial<Release> = {},
    now = NOW + 2,
  ): Promise<EndOutcome> =>
    store().releaseJob(
      { claimId, linkId: LINK_ID, counts: true, error: BROKEN, random: 0.5, ...over },
      now,
    );
  const fail = (claimId: string, over: Partial<Failure> = {}, now = NOW + 2): Promise<EndOutcome> =>
    store().failJob(
      { claimId, linkId: LINK_ID, retryable: true, error: BROKEN, random: 0.5, ...over },
      now,
    );
  const sweep = (now: number, limit = 10): Promise<readonly EndOutcome[]> =>
    store().sweepLeases({ error: BROKEN, random: 0.5, limit }, now);

  describe(adapter, () => {
    let anna: Member;

    beforeEach(async () => {
      anna = await createMember(store(), 'anna');
    });

    describe('a job given back', () => {
      test('is QUEUED at once and in its old place, and the attempt does not count', async () => {
        const running = await runningJob(store(), anna.id);
        const later = await submitJob(store(), anna.id);
        const outcome = await release(running.claimId, { counts: false });
        expect(outcome).toMatchObject({
          kind: 'requeued',
          job: { status: 'QUEUED', attempts: 0, notBefore: null, error: null, providerId: 'den' },
        });
        const heads = await store().laneHeads(10);
        expect(heads.map(({ jobs }) => jobs.map(({ id }) => id))).toEqual([
          [running.job.id, later.id],
        ]);
      });

      test('is kept from its provider for a while, and runs on others meanwhile', async () => {
        const { claimId, job } = await runningJob(store(), anna.id);
        await release(claimId);
        expect((await laneOf(store(), job.id))?.lane.excluded).toEqual(['den']);
        const until = NOW + 2 + RELEASE_EXCLUSION_MS;
        expect(await store().ripenJobs(until - 1)).toBe(until);
        expect((await laneOf(store(), job.id))?.lane.excluded).toEqual(['den']);
        expect(await store().ripenJobs(until)).toBeNull();
        expect((await laneOf(store(), job.id))?.lane.excluded).toEqual([]);
      });

      test('is kept from all that gave it back moments ago, and from no one else', async () => {
        const { claimId, job } = await runningJob(store(), anna.id);
        await release(claimId);
        const second = await claimed(store(), job.id, { providerId: 'attic', now: NOW + 3 });
        await release(second.claimId, {}, NOW + 4);
        expect((await laneOf(store(), job.id))?.lane.excluded).toEqual(['attic', 'den']);
        const third = await claimed(store(), job.id, { providerId: 'cellar', now: NOW + 5 });
        // By then the exclusions have ended, but nothing has removed them yet.
        await release(third.claimId, {}, NOW + 5 + 2 * RELEASE_EXCLUSION_MS);
        expect((await laneOf(store(), job.id))?.lane.excluded).toEqual(['cellar']);
      });

      test('an owner who takes the card back is neither counted nor kept away', async () => {
        const { id } = await submitJob(store(), anna.id, { maxAttempts: 1 });
        for (let i = 0; i <= MAX_RELEASES + 1; i++) {
          const { claimId } = await claimed(store(), id);
          expect(await release(claimId, { counts: false })).toMatchObject({ kind: 'requeued' });
        }
        expect(await jobOf(store(), id)).toMatchObject({ attempts: 0, status: 'QUEUED' });
        expect((await laneOf(store(), id))?.lane).toMatchObject({ excluded: [], avoided: [] });
      });

      test('given back too often, it has failed, and the attempt counts', async () => {
        const { id } = await submitJob(store(), anna.id, { maxAttempts: 2 });
        for (let i = 0; i < MAX_RELEASES; i++) {
          await release((await claimed(store(), id)).claimId);
        }
        expect(await jobOf(store(), id)).toMatchObject({ attempts: 0, notBefore: null });
        const eleventh = await release((await claimed(store(), id)).claimId);
        expect(eleventh).toMatchObject({
          kind: 'requeued',
          job: { attempts: 1, notBefore: NOW + 2_002, error: BROKEN },
        });
        await store().ripenJobs(NOW + LEASE_MS);
        const last = await release((await claimed(store(), id)).claimId);
        expect(last).toMatchObject({ kind: 'failed', job: { attempts: 2 } });
      });

      test('by a claim that is not current, nothing happens', async () => {
        const { claimId, job } = await runningJob(store(), anna.id);
        await release(claimId);
        const before = await jobOf(store(), job.id);
        expect(await release(claimId)).toEqual({ kind: 'stale' });
        expect(await release('no such claim')).toEqual({ kind: 'stale' });
        expect(await jobOf(store(), job.id)).toEqual(before);
      });
    });

    describe('a job that fails', () => {
      test('waits before it runs again, preferably elsewhere, and says why', async () => {
        const { claimId, job } = await runningJob(store(), anna.id);
        const outcome = await fail(claimId);
        // 2^1 seconds, in the middle of the random spread.
        const notBefore = NOW + 2 + 2_000;
        expect(outcome).toMatchObject({
          kind: 'requeued',
          job: { status: 'QUEUED', attempts: 1, notBefore, error: BROKEN },
        });
        expect(await store().claimJobs([newClaim(job.id)], NOW + 3)).toEqual([null]);
        expect(await store().ripenJobs(notBefore - 1)).toBe(notBefore);
        expect(await laneOf(store(), job.id)).toBeUndefined();
        expect(await store().ripenJobs(notBefore)).toBeNull();
        expect((await laneOf(store(), job.id))?.lane).toMatchObject({
          excluded: [],
          avoided: ['den'],
        });
        const again = await claimed(store(), job.id);
        expect(again.job).toMatchObject({ attempts: 2, error: BROKEN });
      });

      test('on each provider once, it prefers any other', async () => {
        const { claimId, job } = await runningJob(store(), anna.id);
        await fail(claimId);
        await store().ripenJobs(NOW + LEASE_MS);
        await fail((await claimed(store(), job.id, { providerId: 'attic' })).claimId);
        await store().ripenJobs(NOW + LEASE_MS);
        expect((await laneOf(store(), job.id))?.lane.avoided).toEqual(['attic', 'den']);
      });

      test('with its last attempt it is FAILED, and the error says how often and why', async () => {
        const { id } = await submitJob(store(), anna.id, { maxAttempts: 2 });
        await fail((await claimed(store(), id)).claimId);
        await store().ripenJobs(NOW + LEASE_MS);
        const outcome = await fail((await claimed(store(), id)).claimId, {}, NOW + 100);
        expect(outcome).toMatchObject({
          kind: 'failed',
          job: {
            status: 'FAILED',
            finishedAt: NOW + 100,
            attempts: 2,
            notBefore: null,
            error: {
              code: 'max_retries_exhausted',
              type: 'upstream_error',
              message: 'It failed 2 times. The last time: The local server answered 500.',
              param: null,
            },
          },
          usage: {
            requestId: `${id}.1`,
            outcome: 'failed',
            errorCode: 'max_retries_exhausted',
            attempts: 2,
            queueMs: 1,
            totalMs: 100,
            providerId: 'den',
            promptTokens: 0,
          },
        });
        expect(await jobOf(store(), id)).toEqual(outcome.kind === 'failed' && outcome.job);
      });

      test('for good, it is FAILED at once with its own error', async () => {
        const { claimId } = await runningJob(store(), anna.id);
        expect(await fail(claimId, { retryable: false })).toMatchObject({
          kind: 'failed',
          job: { status: 'FAILED', attempts: 1, error: BROKEN },
        });
        expect(await fail(claimId)).toEqual({ kind: 'stale' });
      });
    });

    describe('lost agents', () => {
      test('a claim whose lease has ended fails, and no other does', async () => {
        const { job } = await runningJob(store(), anna.id);
        const kept = await runningJob(store(), anna.id, { claim: { leaseUntil: NOW + 999_999 } });
        await submitJob(store(), anna.id);
        expect(await sweep(NOW + LEASE_MS)).toEqual([]);
        const swept = await sweep(NOW + LEASE_MS + 1);
        expect(swept).toMatchObject([
          {
            kind: 'requeued',
            job: { id: job.id, error: BROKEN, notBefore: NOW + LEASE_MS + 2_001 },
          },
        ]);
        expect(await sweep(NOW + LEASE_MS + 1)).toEqual([]);
        expect((await jobOf(store(), kept.job.id)).status).toBe('PROCESSING');
      });

      test('a sweep takes no more than its limit, the longest overdue first', async () => {
        const leases = [3, 1, 2].map((ms) => NOW + ms);
        const jobs = [];
        for (const leaseUntil of leases) {
          jobs.push(await runningJob(store(), anna.id, { maxAttempts: 1, claim: { leaseUntil } }));
        }
        const swept = await sweep(NOW + LEASE_MS, 2);
        expect(swept.map(jobIdOf)).toEqual([jobs[1]?.job.id, jobs[2]?.job.id]);
        expect(swept[0]).toMatchObject({ job: { error: { code: 'max_retries_exhausted' } } });
        expect(await sweep(NOW + LEASE_MS, 2)).toHaveLength(1);
      });
    });

    describe('jobs that nobody serves', () => {
      const gone = { ...BROKEN, code: 'no_provider', type: 'no_provider' } as const;

      test('those of a lane that wait too long are FAILED, and no later ones', async () => {
        const old = await submitJob(store(), anna.id, { now: NOW });
        const young = await submitJob(store(), anna.id, { now: NOW + 10 });
        const other = await submitJob(store(), anna.id, { now: NOW, item: { model: 'qwen' } });
        const laneKey = (await laneOf(store(), old.id))?.key ?? '';
        const request = { laneKey, queuedBefore: NOW + 9, error: gone, limit: 10 };
        expect(await store().expireJobs(request, NOW + 60)).toMatchObject([
          {
            kind: 'failed',
            job: { id: old.id, status: 'FAILED', error: gone, finishedAt: NOW + 60 },
            usage: { outcome: 'failed', attempts: 0, queueMs: 60, totalMs: 60, providerId: null },
          },
        ]);
        expect(await store().expireJobs(request, NOW + 60)).toEqual([]);
        expect((await jobOf(store(), young.id)).status).toBe('QUEUED');
        expect((await jobOf(store(), other.id)).status).toBe('QUEUED');
      });

      test('no more than the limit at once', async () => {
        const ids = [];
        for (let i = 0; i < 3; i++) ids.push((await submitJob(store(), anna.id)).id);
        const laneKey = (await store().laneHeads(1))[0]?.key ?? '';
        const request = { laneKey, queuedBefore: NOW, error: gone, limit: 2 };
        expect(await store().expireJobs(request, NOW)).toHaveLength(2);
        expect((await jobOf(store(), ids[2] ?? '')).status).toBe('QUEUED');
      });
    });

    describe('jobs that are stuck', () => {
      test('back-offs and exclusions are lifted, and what runs or is free stays', async () => {
        const backingOff = await runningJob(store(), anna.id);
        const givenBack = await runningJob(store(), anna.id);
        const running = await runningJob(store(), anna.id);
        const free = await submitJob(store(), anna.id);
        await fail(backingOff.claimId);
        await release(givenBack.claimId);
        expect(await store().requeueStuck(NOW + 3)).toBe(2);
        expect(await store().requeueStuck(NOW + 3)).toBe(0);
        const [head, ...rest] = await store().laneHeads(10);
        expect(rest).toEqual([]);
        const runnable = [backingOff.job.id, givenBack.job.id, free.id];
        expect(head?.jobs.map(({ id }) => id)).toEqual(runnable);
        expect(head?.lane).toMatchObject({ excluded: [], avoided: [] });
        expect((await jobOf(store(), running.job.id)).status).toBe('PROCESSING');
        expect(await store().ripenJobs(NOW)).toBeNull();
      });

      test('a job that has only failed somewhere may run there again', async () => {
        const { claimId, job } = await runningJob(store(), anna.id);
        await fail(claimId);
        await store().ripenJobs(NOW + LEASE_MS);
        expect((await laneOf(store(), job.id))?.lane.avoided).toEqual(['den']);
        expect(await store().requeueStuck(NOW + LEASE_MS)).toBe(1);
        expect((await laneOf(store(), job.id))?.lane.avoided).toEqual([]);
      });
    });
  });
}

function jobIdOf(outcome: EndOutcome): string | null {
  return outcome.kind === 'stale' ? null : outcome.job.id;
}
