/** The part of the contract that is about many jobs of a member at a time. */
import type { JobQuery, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { NEWEST_JOBS, claimJob, failJob, newItem, submitBatch, submitJob } from './job-rows.js';
import { NOW, createMember } from './store-rows.js';

export function describeJobGroups(adapter: string, store: () => Store): void {
  const memberId = async (name: string): Promise<string> => (await createMember(store(), name)).id;

  describe(`${adapter}: groups of jobs`, () => {
    test('jobs that wait or run are grouped by batch and model, the oldest first', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const single = await submitJob(store(), anna);
      const running = await submitJob(store(), anna, { now: NOW + 1 });
      await claimJob(store(), running.id);
      const failed = await submitJob(store(), anna, { now: NOW + 2 });
      await failJob(store(), failed.id);
      const items = [newItem(), newItem(), newItem({ endpoint: 'images', model: 'flux' })];
      const batch = await submitBatch(store(), anna, { items, label: 'pictures', now: NOW + 3 });
      await submitJob(store(), ben, { now: NOW + 4 });

      const { groups, total, loads } = await store().jobGroups(anna, 10);
      const chat = { serviceType: 'llm', model: 'llama-3.1-8b' };
      const [first, second, third] = groups;
      expect(total).toBe(3);
      expect(groups).toMatchObject([
        { ...chat, batchId: null, label: null, queued: 1, processing: 1, oldestQueuedAt: NOW },
        { ...chat, batchId: batch.id, label: 'pictures', queued: 2, processing: 0 },
        { serviceType: 'image', model: 'flux', batchId: batch.id, queued: 1 },
      ]);
      expect(first?.next?.id).toBe(single.id);
      expect(third?.next?.model).toBe('flux');
      expect(second?.lastKey).toBeGreaterThan(second?.firstKey ?? Infinity);
      expect(second?.firstKey).toBeGreaterThan(first?.lastKey ?? Infinity);
      const counts = loads.map((load) => [load.memberId, load.model, load.queued, load.processing]);
      expect(new Set(counts.map((row) => row.join(' ')))).toEqual(
        new Set([`${anna} llama-3.1-8b 3 1`, `${anna} flux 1 0`, `${ben} llama-3.1-8b 1 0`]),
      );
    });

    test('a group that only runs has no next job, and a limit leaves groups out', async () => {
      const anna = await memberId('anna');
      const { id } = await submitJob(store(), anna);
      await claimJob(store(), id);
      await submitJob(store(), anna, { item: { model: 'another' }, now: NOW + 1 });
      const { groups, total } = await store().jobGroups(anna, 1);
      expect([groups.length, total]).toEqual([1, 2]);
      expect(groups[0]).toMatchObject({ queued: 0, processing: 1, next: null, lastKey: 0 });
      expect(await store().jobGroups('nobody', 1)).toEqual({ groups: [], total: 0, loads: [] });
    });
  });

  describe(`${adapter}: filters of jobs`, () => {
    test('by batch, by no batch and by the whole id of a model, listed and counted', async () => {
      const anna = await memberId('anna');
      const single = await submitJob(store(), anna);
      const other = await submitJob(store(), anna, { item: { model: 'llama' }, now: NOW + 1 });
      const batch = await submitBatch(store(), anna, { now: NOW + 2 });
      await failJob(store(), single.id);
      const filter = { memberId: anna, endpoints: null, model: null };
      const found = async (query: Partial<JobQuery>) => {
        const rows = await store().listJobs({ ...NEWEST_JOBS, ...filter, ...query });
        const counts = await store().countJobs({ ...filter, ...query }, ['QUEUED', 'FAILED'], 10);
        expect((counts.get('QUEUED') ?? 0) + (counts.get('FAILED') ?? 0)).toBe(rows.length);
        return rows.map(({ id }) => id);
      };
      expect(await found({ batch: 'none' })).toEqual([other.id, single.id]);
      expect(await found({ batch: batch.id })).toHaveLength(2);
      expect(await found({ modelId: 'llama' })).toEqual([other.id]);
      expect(await found({ modelId: 'llama-3.1-8b', batch: 'none' })).toEqual([single.id]);
      expect(await found({ modelId: 'lla' })).toEqual([]);
      expect(await found({ memberId: 'nobody' })).toEqual([]);
      const capped = await store().countJobs(filter, ['QUEUED'], 2);
      expect([...capped]).toEqual([['QUEUED', 2]]);
    });
  });
}
