/** The part of the contract that is about canceling and retrying jobs, and forgetting old ones. */
import { heldBy } from './dispatch-rows.js';
import type { Job, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import {
  BROKEN,
  NEWEST_JOBS,
  NO_ID,
  ROOMY,
  claimJob,
  failJob,
  finishJob,
  jobIdsOf,
  submitBatch,
  submitJob,
  LINK_ID,
} from './job-rows.js';
import { NOW, createMember, newAsset } from './store-rows.js';

const LATER = NOW + 100;

export function describeJobEnds(adapter: string, store: () => Store): void {
  const memberId = async (name: string): Promise<string> => (await createMember(store(), name)).id;
  const find = async (id: string): Promise<Job | undefined> =>
    (await store().findJob(id, null))?.job;
  const outcomesOf = async (by: 'member' | 'provider'): Promise<unknown> => {
    const stats = await store().usageStats({ since: null, by, memberId: null });
    return stats.map(({ group, requests, ok, failed, canceled }) => ({
      group,
      requests,
      ok,
      failed,
      canceled,
    }));
  };

  const cancel = (id: string) => store().cancelJob(id, null, LATER);
  const retry = (id: string, member: string | null = null) =>
    store().retryJob(id, member, ROOMY, LATER);

  describe(`${adapter}: cancel`, () => {
    test('a queued job is canceled, and nobody is to be told to stop', async () => {
      const anna = await memberId('anna');
      const queued = await submitJob(store(), anna);
      const job = { ...queued, status: 'CANCELED', finishedAt: LATER };
      expect(await store().cancelJob(queued.id, anna, LATER)).toEqual({
        kind: 'canceled',
        job,
        claimId: null,
        usage: expect.objectContaining({ outcome: 'canceled', attempts: 0, promptTokens: 0 }),
      });
      expect(await find(queued.id)).toEqual(job);
      expect(await store().laneHeads(10)).toEqual([]);
    });

    test('a running job is canceled; its claim is named, and holds no more', async () => {
      const anna = await memberId('anna');
      const { id } = await submitJob(store(), anna);
      const claimId = await claimJob(store(), id);
      expect(await store().cancelJob(id, anna, LATER)).toMatchObject({
        kind: 'canceled',
        job: { id, status: 'CANCELED', attempts: 1, providerId: 'den', finishedAt: LATER },
        claimId,
      });
      expect(await store().acceptJob(heldBy(claimId), LATER, LATER)).toBe(false);
      const late = { claimId, linkId: LINK_ID, retryable: true, error: BROKEN, random: 0.5 };
      expect(await store().failJob(late, LATER)).toEqual({ kind: 'stale' });
      expect(await find(id)).toMatchObject({ status: 'CANCELED', error: null });
    });

    test('a job that waits out a back-off is canceled, and forgets why', async () => {
      const anna = await memberId('anna');
      const { id } = await submitJob(store(), anna);
      const claimId = await claimJob(store(), id);
      await store().failJob(
        { claimId, linkId: LINK_ID, retryable: true, error: BROKEN, random: 0.5 },
        NOW + 2,
      );
      expect(await find(id)).toMatchObject({ status: 'QUEUED', error: BROKEN });
      const job = { status: 'CANCELED', error: null, notBefore: null };
      expect(await cancel(id)).toMatchObject({ kind: 'canceled', job, claimId: null });
    });

    test('what has ended stays as it is', async () => {
      const anna = await memberId('anna');
      const [done, failed, canceled] = [
        await submitJob(store(), anna),
        await submitJob(store(), anna),
        await submitJob(store(), anna),
      ];
      await finishJob(store(), done.id);
      await failJob(store(), failed.id);
      await cancel(canceled.id);
      for (const { id } of [done, failed, canceled]) {
        const before = await find(id);
        const again = await store().cancelJob(id, anna, LATER + 1);
        expect(again).toEqual({ kind: 'finished', job: before });
        expect(await find(id)).toEqual(before);
      }
    });

    test("another member's job is unknown; null may cancel any", async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const { id } = await submitJob(store(), anna);
      expect(await store().cancelJob(id, ben, LATER)).toEqual({ kind: 'unknown' });
      expect(await store().cancelJob(NO_ID, anna, LATER)).toEqual({ kind: 'unknown' });
      expect(await find(id)).toMatchObject({ status: 'QUEUED' });
      expect(await store().cancelJob(id, null, LATER)).toMatchObject({ kind: 'canceled' });
    });

    test('a canceled run is metered once, queued or running', async () => {
      const anna = await memberId('anna');
      const [queued, running] = [await submitJob(store(), anna), await submitJob(store(), anna)];
      await claimJob(store(), running.id);
      await Promise.all([queued, queued, running, running].map(({ id }) => cancel(id)));
      const canceled = { ok: 0, failed: 0 };
      expect(await outcomesOf('member')).toEqual([
        { ...canceled, group: anna, requests: 2, canceled: 2 },
      ]);
      expect(await outcomesOf('provider')).toEqual([
        { ...canceled, group: '', requests: 1, canceled: 1 },
        { ...canceled, group: 'den', requests: 1, canceled: 1 },
      ]);
    });

    test('of a cancel and a failure at once, one wins and the other is told so', async () => {
      const anna = await memberId('anna');
      for (let i = 0; i < 10; i++) {
        const { id } = await submitJob(store(), anna);
        const claimId = await claimJob(store(), id);
        const failure = { claimId, linkId: LINK_ID, retryable: false, error: BROKEN, random: 0 };
        const fail = async () => (await store().failJob(failure, LATER)).kind;
        const stop = async () => (await store().cancelJob(id, null, LATER)).kind;
        const kinds = await Promise.all(i % 2 === 0 ? [fail(), stop()] : [stop(), fail()]);
        const status = kinds.includes('failed') ? 'FAILED' : 'CANCELED';
        const expected = status === 'FAILED' ? ['failed', 'finished'] : ['canceled', 'stale'];
        expect(kinds.toSorted()).toEqual(expected);
        expect((await find(id))?.status).toBe(status);
      }
    });
  });

  describe(`${adapter}: retry`, () => {
    test('a failed job is queued as if it were new, with the same payload', async () => {
      const anna = await memberId('anna');
      const body = Buffer.from('{"prompt":"again"}');
      const first = await submitJob(store(), anna, { item: { body } });
      await failJob(store(), first.id);
      expect(await find(first.id)).toMatchObject({ status: 'FAILED', error: BROKEN, attempts: 1 });
      const job = { ...first, generation: 2, queuedAt: LATER };
      expect(await retry(first.id, anna)).toEqual({ kind: 'queued', job });
      expect(await find(first.id)).toEqual(job);
      const claim = { claimId: 'c', providerId: 'p', linkId: 's', serviceId: 'llm-1' };
      const claims = [{ jobId: first.id, ...claim, leaseUntil: LATER + 9, isOwn: false }];
      const [claimed] = await store().claimJobs(claims, LATER);
      expect(Buffer.from(claimed?.[1] ?? [])).toEqual(body);
    });

    test('a canceled job is queued again, and no late result of its first run counts', async () => {
      const anna = await memberId('anna');
      const { id } = await submitJob(store(), anna);
      const claimId = await claimJob(store(), id);
      await store().cancelJob(id, anna, NOW + 2);
      expect(await retry(id)).toMatchObject({ kind: 'queued', job: { generation: 2 } });
      const finish = {
        linkId: LINK_ID,
        claimId,
        result: Buffer.from('{}'),
        assets: [],
        assetLimits: { memberBytes: 1, totalBytes: 1 },
        usage: {
          promptTokens: 0,
          completionTokens: 0,
          estimated: false,
          audioMs: 0,
          images: 0,
          firstByteMs: null,
        },
      };
      expect(await store().finishJob(finish, LATER)).toEqual({ kind: 'stale' });
      expect(await find(id)).toMatchObject({ status: 'QUEUED', providerId: null, startedAt: null });
    });

    test('what was excluded and avoided before is asked again', async () => {
      const anna = await memberId('anna');
      const { id } = await submitJob(store(), anna);
      const [fresh] = await store().laneHeads(1);
      const claimId = await claimJob(store(), id);
      const release = { claimId, linkId: LINK_ID, counts: true, error: BROKEN, random: 0 };
      await store().releaseJob(release, NOW + 2);
      const [released] = await store().laneHeads(1);
      expect(released?.lane.excluded).toEqual(['den']);
      await store().cancelJob(id, anna, NOW + 3);
      await retry(id);
      const [again] = await store().laneHeads(1);
      expect(again).toMatchObject({ key: fresh?.key, lane: fresh?.lane });
    });

    test("a retried job comes to the end of its caller's line", async () => {
      const anna = await memberId('anna');
      const [first, second] = [await submitJob(store(), anna), await submitJob(store(), anna)];
      await failJob(store(), first.id);
      await retry(first.id);
      expect(await store().queuePositions([first.id, second.id])).toEqual(
        expect.arrayContaining([
          { jobId: second.id, ahead: [] },
          { jobId: first.id, ahead: [{ memberId: anna, jobs: 1 }] },
        ]),
      );
    });

    test('what waits, runs or has its result is not retried', async () => {
      const anna = await memberId('anna');
      const [queued, running, done] = [
        await submitJob(store(), anna),
        await submitJob(store(), anna),
        await submitJob(store(), anna, { item: { endpoint: 'speech' } }),
      ];
      await claimJob(store(), running.id);
      await finishJob(store(), done.id, { assets: [newAsset(anna)] });
      for (const { id } of [queued, running, done]) {
        const job = await find(id);
        expect(await retry(id, anna)).toEqual({ kind: 'not_retryable', job });
        expect(await find(id)).toEqual(job);
      }
    });

    test('of two retries at once, one queues the job', async () => {
      const anna = await memberId('anna');
      const { id } = await submitJob(store(), anna);
      await failJob(store(), id);
      const kinds = (await Promise.all([retry(id), retry(id)])).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(['not_retryable', 'queued']);
      expect((await find(id))?.generation).toBe(2);
    });

    test('a retry needs room in the queue, like a submission', async () => {
      const anna = await memberId('anna');
      const [one] = [await submitJob(store(), anna), await submitJob(store(), anna)];
      await failJob(store(), one.id);
      const before = await find(one.id);
      const attempt = (limits: typeof ROOMY) => store().retryJob(one.id, anna, limits, LATER);
      const full = { kind: 'queue_full', limit: 'jobs', queued: 1 };
      expect(await attempt({ jobs: 1, bytes: 1_000 })).toEqual(full);
      expect(await attempt({ jobs: 2, bytes: 29 })).toMatchObject({ limit: 'bytes', queued: 15 });
      expect(await find(one.id)).toEqual(before);
      expect(await attempt({ jobs: 2, bytes: 30 })).toMatchObject({ kind: 'queued' });
    });

    test("another member's job is unknown", async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const { id } = await submitJob(store(), anna);
      await failJob(store(), id);
      expect(await retry(id, ben)).toEqual({ kind: 'unknown' });
      expect(await retry(NO_ID, anna)).toEqual({ kind: 'unknown' });
    });
  });

  describe(`${adapter}: retention of jobs`, () => {
    test('what ended before goes; what ended later, waits or runs stays', async () => {
      const anna = await memberId('anna');
      const jobs = [];
      for (let i = 0; i < 5; i++) jobs.push(await submitJob(store(), anna));
      const [done, failed, late, running, queued] = jobs.map(({ id }) => id);
      await finishJob(store(), done ?? '', { now: NOW + 1 });
      await failJob(store(), failed ?? '', NOW + 2);
      await store().cancelJob(late ?? '', anna, NOW + 3);
      await claimJob(store(), running ?? '', NOW + 1);
      expect(await store().deleteOldJobs(NOW + 3, 10)).toBe(2);
      const mine = { ...NEWEST_JOBS, memberId: anna };
      const left = (await store().listJobs(mine)).map(({ id }) => id);
      expect(left.toSorted()).toEqual([late, running, queued].map(String).toSorted());
      expect(await store().findJob(done ?? '', anna)).toBeNull();
      expect(await store().deleteOldJobs(NOW + 3, 10)).toBe(0);
    });

    test('a sweep takes no more than its limit, those first that ended first', async () => {
      const anna = await memberId('anna');
      const ends = [3, 1, 2];
      const ids = await Promise.all(ends.map(async () => (await submitJob(store(), anna)).id));
      for (const [i, id] of ids.entries()) await failJob(store(), id, NOW + (ends[i] ?? 0));
      expect(await store().deleteOldJobs(LATER, 2)).toBe(2);
      expect(await find(ids[0] ?? '')).toBeDefined();
      expect(await store().deleteOldJobs(LATER, 2)).toBe(1);
    });

    test('a batch goes with its last job, and its files stay their own time', async () => {
      const anna = await memberId('anna');
      const batch = await submitBatch(store(), anna);
      const [one, two] = await jobIdsOf(store(), batch.id);
      const asset = newAsset(anna);
      await finishJob(store(), one ?? '', { assets: [asset], now: NOW + 1 });
      await failJob(store(), two ?? '', NOW + 5);
      await store().deleteOldJobs(NOW + 2, 10);
      expect((await store().findBatch(batch.id, anna))?.jobs).toMatchObject([{ id: two }]);
      await store().deleteOldJobs(NOW + 6, 10);
      expect(await store().findBatch(batch.id, anna)).toBeNull();
      expect(await store().findAsset(asset.id)).toEqual(asset);
    });
  });
}
