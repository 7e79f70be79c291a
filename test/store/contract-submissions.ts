/** The part of the contract that is about repeated submissions and the limits of the queue. */
import { ulid } from '@inference-gateway/shared/ids';
import type { Job, SubmitOutcome, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import {
  NEWEST_JOBS,
  ROOMY,
  claimJob,
  failJob,
  finishJob,
  newItem,
  newSubmission,
  submitBatch,
  submitJob,
} from './job-rows.js';
import { NOW, createMember } from './store-rows.js';

const NONE = { jobs: 0, bytes: 0 };
const KEY = 'k'.repeat(255);

export function describeSubmissions(adapter: string, store: () => Store): void {
  const memberId = async (name: string): Promise<string> => (await createMember(store(), name)).id;
  const createJob = (
    member: string,
    { key = null, limits = ROOMY, bytes = 10 }: Attempt = {},
  ): Promise<SubmitOutcome<Job>> => {
    const item = newItem({ body: Buffer.alloc(bytes, '1') });
    const submission = { ...newSubmission(member), idempotencyKey: key, id: ulid(NOW), item };
    return store().createJob(submission, limits, NOW);
  };
  const countOf = async (member: string): Promise<number> => {
    const query = { ...NEWEST_JOBS, memberId: member, limit: 1_000 };
    return (await store().listJobs(query)).length;
  };

  describe(`${adapter}: idempotency keys`, () => {
    test('of 100 submissions at once with one key, one creates and all get its job', async () => {
      const anna = await memberId('anna');
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, () => createJob(anna, { key: KEY })),
      );
      const kinds = outcomes.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'created')).toHaveLength(1);
      expect(kinds.filter((kind) => kind === 'replayed')).toHaveLength(99);
      const ids = outcomes.map((outcome) => ('value' in outcome ? outcome.value.id : null));
      expect(new Set(ids).size).toBe(1);
      expect(await countOf(anna)).toBe(1);
    });

    test('a job is found by the key that its member submitted it under', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const made = await createJob(anna, { key: KEY });
      const found = await store().findSubmittedJob(anna, KEY);
      expect(made).toMatchObject({ kind: 'created', value: { id: found?.id } });
      expect(await store().findSubmittedJob(anna, 'another')).toBeNull();
      expect(await store().findSubmittedJob(ben, KEY)).toBeNull();
    });

    test('a replay tells of the job as it is now, whatever the limits are', async () => {
      const anna = await memberId('anna');
      const { id } = await submitJob(store(), anna, { idempotencyKey: KEY });
      await finishJob(store(), id);
      expect(await createJob(anna, { key: KEY, limits: NONE })).toMatchObject({
        kind: 'replayed',
        value: { id, status: 'PROCESSED' },
      });
    });

    test('a key is of one member, and of jobs or of batches', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const keyed = { idempotencyKey: KEY };
      const annas = await submitJob(store(), anna, keyed);
      const batch = await submitBatch(store(), anna, keyed);
      const bens = await submitJob(store(), ben, keyed);
      expect(bens.id).not.toBe(annas.id);
      expect(await countOf(anna)).toBe(3);
      expect(await submitJob(store(), anna, keyed)).toEqual(annas);
      expect(await submitBatch(store(), anna, keyed)).toEqual(batch);
      expect(await countOf(anna)).toBe(3);
    });

    test('without a key every submission is a new job', async () => {
      const anna = await memberId('anna');
      const [one, two] = [await submitJob(store(), anna), await submitJob(store(), anna)];
      expect(one.id).not.toBe(two.id);
    });

    test('of 20 batches at once with one key, one is created', async () => {
      const anna = await memberId('anna');
      const batches = await Promise.all(
        Array.from({ length: 20 }, () => submitBatch(store(), anna, { idempotencyKey: KEY })),
      );
      expect(new Set(batches.map(({ id }) => id)).size).toBe(1);
      expect(await countOf(anna)).toBe(2);
    });

    test('a refused submission leaves its key unused', async () => {
      const anna = await memberId('anna');
      expect(await createJob(anna, { key: KEY, limits: NONE })).toMatchObject({
        kind: 'queue_full',
      });
      expect(await createJob(anna, { key: KEY })).toMatchObject({ kind: 'created' });
    });

    test('a key outlives a retry and goes with its job', async () => {
      const anna = await memberId('anna');
      const { id } = await submitJob(store(), anna, { idempotencyKey: KEY });
      await store().cancelJob(id, anna, NOW + 1);
      await store().retryJob(id, anna, ROOMY, NOW + 2);
      expect(await createJob(anna, { key: KEY })).toMatchObject({ kind: 'replayed' });
      await store().cancelJob(id, anna, NOW + 3);
      await store().deleteOldJobs(NOW + 10, 10);
      expect(await createJob(anna, { key: KEY })).toMatchObject({ kind: 'created' });
    });
  });

  describe(`${adapter}: limits of the queue`, () => {
    const limits = { jobs: 3, bytes: 100 };

    test('a member may queue so many jobs, and not one more', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, () => createJob(anna, { limits })),
      );
      const refused = outcomes.filter(({ kind }) => kind !== 'created');
      expect(refused).toEqual([full('jobs', 3), full('jobs', 3)]);
      expect(await countOf(anna)).toBe(3);
      expect(await createJob(ben, { limits })).toMatchObject({ kind: 'created' });
    });

    test('the jobs of all models count together', async () => {
      const anna = await memberId('anna');
      const body = Buffer.alloc(20);
      for (const model of ['a', 'b', 'c'])
        await submitJob(store(), anna, { item: { model, body } });
      expect(await createJob(anna, { limits })).toEqual(full('jobs', 3));
      const roomy = { jobs: 4, bytes: 69 };
      expect(await createJob(anna, { limits: roomy })).toEqual(full('bytes', 60));
    });

    test('their bodies may be so long together, to the last byte', async () => {
      const anna = await memberId('anna');
      expect(await createJob(anna, { limits, bytes: 60 })).toMatchObject({ kind: 'created' });
      expect(await createJob(anna, { limits, bytes: 41 })).toEqual(full('bytes', 60));
      expect(await createJob(anna, { limits, bytes: 40 })).toMatchObject({ kind: 'created' });
      expect(await createJob(anna, { limits, bytes: 1 })).toEqual(full('bytes', 100));
    });

    test('a claimed job makes room for another, its body only when it has ended', async () => {
      const anna = await memberId('anna');
      const [one, two, three] = [
        await submitJob(store(), anna, { item: { body: Buffer.alloc(40) } }),
        await submitJob(store(), anna, { item: { body: Buffer.alloc(40) } }),
        await submitJob(store(), anna, { item: { body: Buffer.alloc(15) } }),
      ];
      expect(await createJob(anna, { limits, bytes: 5 })).toEqual(full('jobs', 3));
      await claimJob(store(), one.id);
      expect(await createJob(anna, { limits, bytes: 6 })).toEqual(full('bytes', 95));
      expect(await createJob(anna, { limits, bytes: 5 })).toMatchObject({ kind: 'created' });
      await store().cancelJob(one.id, anna, NOW + 1);
      await failJob(store(), two.id);
      await finishJob(store(), three.id);
      expect(await createJob(anna, { limits, bytes: 96 })).toEqual(full('bytes', 5));
      expect(await createJob(anna, { limits, bytes: 95 })).toMatchObject({ kind: 'created' });
    });

    test('a batch that does not fit whole is refused whole', async () => {
      const anna = await memberId('anna');
      const create = (bytes: readonly number[]): Promise<unknown> => {
        const items = bytes.map((length) => newItem({ body: Buffer.alloc(length) }));
        const submission = { ...newSubmission(anna), label: null, items };
        return store().createBatch(submission, limits, NOW);
      };
      expect(await create([1, 1, 1, 1])).toEqual(full('jobs', 0));
      expect(await create([60, 41])).toEqual(full('bytes', 0));
      expect(await countOf(anna)).toBe(0);
      const page = { memberId: anna, limit: 10, after: null };
      expect(await store().listBatches(page)).toEqual([]);
      expect(await create([60, 40])).toMatchObject({ kind: 'created' });
      expect(await create([0, 0])).toEqual(full('jobs', 2));
      expect(await create([0])).toMatchObject({ kind: 'created' });
    });

    test('of a member who was deleted meanwhile is refused as such', async () => {
      const anna = await memberId('anna');
      expect(await store().deleteMember(anna, NOW)).toMatchObject({ kind: 'deleted' });
      expect(await createJob(anna)).toEqual({ kind: 'member_gone' });
      const batch = { ...newSubmission(anna), label: null, items: [newItem()] };
      expect(await store().createBatch(batch, ROOMY, NOW)).toEqual({ kind: 'member_gone' });
    });
  });
}

function full(limit: 'jobs' | 'bytes', queued: number): unknown {
  return { kind: 'queue_full', limit, queued };
}

interface Attempt {
  readonly key?: string | null;
  readonly limits?: typeof ROOMY;
  readonly bytes?: number;
}
