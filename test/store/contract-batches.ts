/** The part of the contract that is about batches. */
import type { Batch, Store } from '@inference-gateway/coordinator/store/port';
import { ulid } from '@inference-gateway/shared/ids';
import { describe, expect, test } from 'vitest';
import {
  BROKEN,
  NEWEST_JOBS,
  NO_ID,
  claimJob,
  failJob,
  finishJob,
  jobIdsOf,
  newItem,
  submitBatch,
  submitJob,
  LINK_ID,
} from './job-rows.js';
import { NOW, createMember } from './store-rows.js';

const LATER = NOW + 100;
const NONE = { QUEUED: 0, PROCESSING: 0, PROCESSED: 0, FAILED: 0, CANCELED: 0 };

export function describeBatches(adapter: string, store: () => Store): void {
  const memberId = async (name: string): Promise<string> => (await createMember(store(), name)).id;
  const countsOf = async (id: string): Promise<Batch['counts'] | undefined> =>
    (await store().findBatch(id, null))?.batch.counts;

  const list = (member: string | null, limit: number, after: string | null = null) =>
    store().listBatches({ memberId: member, limit, after });

  describe(`${adapter}: batches`, () => {
    test('256 items become 256 queued jobs, in the order of the request', async () => {
      const anna = await memberId('anna');
      const items = Array.from({ length: 256 }, (_, i) =>
        newItem({ endpoint: i % 2 === 0 ? 'chat' : 'speech', model: `model-${i}` }),
      );
      const requestId = 'req_batch';
      const batch = await submitBatch(store(), anna, { items, label: 'night', requestId });
      const counts = { ...NONE, QUEUED: 256 };
      const of = { id: batch.id, memberId: anna, keyId: 'key' };
      const told = { ...of, label: 'night', createdAt: NOW, counts, file: null };
      expect(batch).toEqual(told);
      const found = await store().findBatch(batch.id, anna);
      expect(found?.batch).toEqual(told);
      const jobs = found?.jobs ?? [];
      expect(jobs.map(({ index }) => index)).toEqual(items.map((_, i) => i));
      expect(jobs.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id).toSorted());
      expect(jobs[1]).toMatchObject({ index: 1, status: 'QUEUED', endpoint: 'speech' });
      const last = await store().findJob(jobs[255]?.id ?? '', anna);
      expect(last?.job).toMatchObject({
        batchId: batch.id,
        batchIndex: 255,
        model: 'model-255',
        endpoint: 'speech',
        status: 'QUEUED',
        createdAt: NOW,
        queuedAt: NOW,
        requestId,
      });
    });

    test('its jobs are served in their order', async () => {
      const anna = await memberId('anna');
      const items = Array.from({ length: 20 }, () => newItem());
      const batch = await submitBatch(store(), anna, { items });
      const ids = await jobIdsOf(store(), batch.id);
      const [head] = await store().laneHeads(20);
      expect(head?.jobs.map(({ id }) => id)).toEqual(ids);
    });

    test('of a batch that cannot be written whole, nothing is there', async () => {
      const anna = await memberId('anna');
      // The key is written last, and this one is too long for its column.
      const attempt = submitBatch(store(), anna, { idempotencyKey: 'k'.repeat(256) });
      await expect(attempt).rejects.toThrow('createBatch failed');
      const query = { memberId: anna, after: null, limit: 10 };
      expect(await store().listBatches(query)).toEqual([]);
      expect(await store().listJobs({ ...NEWEST_JOBS, memberId: anna })).toEqual([]);
      expect(await store().modelQueues(anna)).toEqual([]);
    });

    test('the counts are those of its jobs, and always add up', async () => {
      const anna = await memberId('anna');
      const items = Array.from({ length: 6 }, () => newItem());
      const { id } = await submitBatch(store(), anna, { items });
      const [a, b, c, d] = (await jobIdsOf(store(), id)).map(String);
      await finishJob(store(), a ?? '');
      await failJob(store(), b ?? '');
      await store().cancelJob(c ?? '', anna, LATER);
      await claimJob(store(), d ?? '');
      const counts = { QUEUED: 2, PROCESSING: 1, PROCESSED: 1, FAILED: 1, CANCELED: 1 };
      expect(await countsOf(id)).toEqual(counts);
      const listed = await store().listBatches({ memberId: anna, after: null, limit: 1 });
      expect(listed.map((batch) => batch.counts)).toEqual([counts]);
    });

    test("another member's batch is found by nobody else", async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const { id } = await submitBatch(store(), anna);
      expect(await store().findBatch(id, ben)).toBeNull();
      expect(await store().findBatch(NO_ID, anna)).toBeNull();
      expect(await store().cancelBatch(id, ben, LATER)).toBeNull();
      expect(await store().cancelBatch(NO_ID, null, LATER)).toBeNull();
      expect(await countsOf(id)).toEqual({ ...NONE, QUEUED: 2 });
    });

    test('a list is newest first, of one member or of all, in pages', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const made: Batch[] = [];
      for (const [i, member] of [anna, ben, anna, anna].entries()) {
        made.push(await submitBatch(store(), member, { now: NOW + i }));
      }
      const [first, second, third, fourth] = made;
      expect(await list(anna, 2)).toEqual([fourth, third]);
      expect(await list(anna, 2, third?.id)).toEqual([first]);
      expect(await list(null, 10)).toEqual([fourth, third, second, first]);
      expect(await list(null, 1, third?.id)).toEqual([second]);
      expect(await list(anna, 10, second?.id)).toEqual([]);
      expect(await list(anna, 10, ulid(LATER))).toEqual([]);
    });
  });

  describe(`${adapter}: cancel of a batch`, () => {
    test('every job that has not ended is canceled, and running ones are named', async () => {
      const anna = await memberId('anna');
      const items = Array.from({ length: 6 }, () => newItem());
      const { id } = await submitBatch(store(), anna, { items });
      const alone = await submitJob(store(), anna);
      const [a, b, c, d] = (await jobIdsOf(store(), id)).map(String);
      await finishJob(store(), a ?? '');
      await failJob(store(), b ?? '');
      const claimIds = [await claimJob(store(), c ?? ''), await claimJob(store(), d ?? '')];
      const canceled = await store().cancelBatch(id, anna, LATER);
      const counts = { ...NONE, PROCESSED: 1, FAILED: 1, CANCELED: 4 };
      expect(canceled?.batch).toMatchObject({ id, counts });
      expect(canceled?.canceled.flatMap((one) => one.claimId ?? [])).toEqual(claimIds);
      expect(await countsOf(id)).toEqual(counts);
      const statuses = (await store().findBatch(id, anna))?.jobs.map(({ status }) => status);
      expect(statuses).toEqual(['PROCESSED', 'FAILED', ...Array(4).fill('CANCELED')]);
      expect((await store().findJob(alone.id, anna))?.job.status).toBe('QUEUED');
      const again = await store().cancelBatch(id, null, LATER + 1);
      expect(again).toEqual({ batch: canceled?.batch, canceled: [] });
    });

    test('each canceled job is metered', async () => {
      const anna = await memberId('anna');
      const items = Array.from({ length: 256 }, () => newItem());
      const { id } = await submitBatch(store(), anna, { items });
      await store().cancelBatch(id, anna, LATER);
      const stats = await store().usageStats({ since: null, by: 'model', memberId: anna });
      expect(stats).toMatchObject([{ requests: 256, canceled: 256, promptTokens: 0 }]);
    });

    test('against ends of its jobs, the counts add up', async () => {
      const anna = await memberId('anna');
      const items = Array.from({ length: 30 }, () => newItem());
      const { id } = await submitBatch(store(), anna, { items });
      const ids = await jobIdsOf(store(), id);
      const claims = [];
      for (const jobId of ids.slice(0, 20)) claims.push(await claimJob(store(), jobId));
      const fail = (claimId: string) =>
        store().failJob(
          { claimId, linkId: LINK_ID, retryable: false, error: BROKEN, random: 0 },
          LATER,
        );
      const before = claims.slice(0, 10).map(fail);
      const cancel = store().cancelBatch(id, anna, LATER);
      const after = claims.slice(10).map(fail);
      const kinds = (await Promise.all([...before, ...after])).map(({ kind }) => kind);
      const stopped = (await cancel)?.canceled.flatMap((one) => one.claimId ?? []);
      expect(stopped).toEqual(claims.filter((_, i) => kinds[i] === 'stale'));
      const failed = kinds.filter((kind) => kind === 'failed').length;
      expect(failed + (stopped?.length ?? 0)).toBe(claims.length);
      expect(await countsOf(id)).toEqual({ ...NONE, FAILED: failed, CANCELED: 30 - failed });
    });
  });
}
