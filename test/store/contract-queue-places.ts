/** The part of the contract that is about the place of each queued job. */
import type { Job, QueuePosition, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import {
  BROKEN,
  NEWEST_JOBS,
  NO_ID,
  claimJob,
  newItem,
  newSubmission,
  submitBatch,
  submitJob,
  LINK_ID,
} from './job-rows.js';
import type { JobOverrides } from './job-rows.js';
import { NOW, createMember } from './store-rows.js';

const MANY = { jobs: 20_000, bytes: 1_000_000 };

export function describeQueuePlaces(adapter: string, store: () => Store): void {
  const memberId = async (name: string): Promise<string> => (await createMember(store(), name)).id;
  const submit = (member: string, job: JobOverrides = {}): Promise<Job> =>
    submitJob(store(), member, job);
  const idsOf = async (limit: number): Promise<string[]> => {
    return (await store().listJobs({ ...NEWEST_JOBS, limit })).map(({ id }) => id);
  };
  const placesOf = async (...jobs: readonly Job[]) => {
    const places = await store().queuePositions(jobs.map(({ id }) => id));
    return jobs.map(({ id, memberId: member }) =>
      countsAhead(member, places.find(({ jobId }) => jobId === id)?.ahead),
    );
  };

  describe(`${adapter}: places in the queue`, () => {
    test('callers take turns, however many jobs one of them has', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const annas = [];
      for (let i = 0; i < 5; i++) annas.push(await submit(anna, { now: NOW + i }));
      const [one, two] = [
        await submit(ben, { now: NOW + 10 }),
        await submit(ben, { now: NOW + 11 }),
      ];
      expect(await placesOf(one, two)).toEqual([
        [1, 0],
        [3, 1],
      ]);
      const owns = (await placesOf(...annas)).map((place) => place?.[1]);
      expect(owns).toEqual([0, 1, 2, 3, 4]);
      expect((await placesOf(...annas)).map((place) => place?.[0])).toEqual([0, 2, 4, 5, 6]);
    });

    test('only what may run now, for the same model and type, comes before', async () => {
      const anna = await memberId('anna');
      const others = [
        await submit(anna, { item: { model: 'other' } }),
        await submit(anna, { item: { endpoint: 'speech' } }),
      ];
      const [claimed, canceled] = [await submit(anna), await submit(anna)];
      const [next, last] = [await submit(anna), await submit(anna)];
      await claimJob(store(), claimed.id);
      await store().cancelJob(canceled.id, anna, NOW + 1);
      expect(await placesOf(...others, next, last)).toEqual([
        [0, 0],
        [0, 0],
        [0, 0],
        [1, 1],
      ]);
      expect(await placesOf(claimed, canceled)).toEqual([null, null]);
      expect(await store().queuePositions([NO_ID])).toEqual([]);
      expect(await store().queuePositions([])).toEqual([]);
    });

    test('a caller who comes late is served next, not behind the line of another', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const batch = await submitBatch(store(), anna, {
        items: Array.from({ length: 20 }, () => newItem()),
      });
      const ids = (await store().findBatch(batch.id, anna))?.jobs.map(({ id }) => id) ?? [];
      for (const id of ids.slice(0, 10)) await claimJob(store(), id);
      const late = await submit(ben, { now: NOW + 5 });
      const [place] = await placesOf(late);
      expect(place?.[0]).toBeLessThanOrEqual(1);
    });

    test('whose jobs were all canceled is not put behind for them', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const items = Array.from({ length: 20 }, () => newItem());
      await submitBatch(store(), ben, { items });
      const { id } = await submitBatch(store(), anna, { items });
      await store().cancelBatch(id, anna, NOW + 1);
      const fresh = await submit(anna, { now: NOW + 2 });
      expect(await placesOf(fresh)).toEqual([[1, 0]]);
    });

    test('a place is the same, from whichever end it is counted', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const items = Array.from({ length: 400 }, () => newItem());
      for (const member of [anna, ben]) {
        const batch = { ...newSubmission(member), label: null, items };
        await store().createBatch(batch, MANY, NOW);
      }
      const ids = await idsOf(800);
      const isEach = async (): Promise<void> => {
        const places = await store().queuePositions(ids);
        const counts = places.map(({ ahead }) => countsAhead('', ahead)?.[0]);
        expect(counts).toEqual(places.map((_, i) => i));
        for (const at of [3, 300, 500, 798]) {
          const alone = await store().queuePositions([places[at]?.jobId ?? '']);
          expect(alone).toEqual([places[at]]);
          expect(alone[0]?.ahead.map(({ jobs }) => jobs)).toContain(Math.floor(at / 2));
        }
      };
      await isEach();
      // A job for another model: it waits for its retry, and has no place.
      const held = await submit(anna, { item: { model: 'other' } });
      const claimId = await claimJob(store(), held.id);
      const failure = { claimId, linkId: LINK_ID, retryable: true, error: BROKEN, random: 0.5 };
      await store().failJob(failure, NOW + 2);
      await isEach();
    });

    test('a place is counted up to a limit, from the head of the queue', async () => {
      const anna = await memberId('anna');
      const items = Array.from({ length: 2_001 }, () => newItem({ body: Buffer.from('{}') }));
      for (const now of [NOW, NOW + 1]) {
        const batch = { ...newSubmission(anna), label: null, items };
        await store().createBatch(batch, MANY, now);
      }
      const ids = await idsOf(3);
      const positions = await store().queuePositions(ids);
      expect(positions.map(({ ahead }) => ahead)).toEqual(
        [3_999, 4_000, 4_000].map((jobs) => [{ memberId: anna, jobs }]),
      );
    });
  });
}

/** Number of jobs ahead, and of this member's among them; null if the job has no place. */
function countsAhead(
  member: string,
  ahead: QueuePosition['ahead'] | undefined,
): [number, number] | null {
  if (ahead === undefined) return null;
  return [sum(ahead), sum(ahead.filter(({ memberId }) => memberId === member))];
}

function sum(some: QueuePosition['ahead']): number {
  return some.reduce((total, { jobs }) => total + jobs, 0);
}
