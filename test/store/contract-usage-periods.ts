/** The part of the contract that is about sums of usage by minute, hour, day and month. */
import { bucketOf } from '@inference-gateway/coordinator/core/usage/durations';
import type { Store, UsagePeriodsQuery, UsageRow } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import type { StoreHarness } from './store-harness.js';
import { created, createProvider, newMember, usageRow } from './store-rows.js';

const ALL = ['firstByte', 'queue', 'total'] as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LAST_OF_MAY = Date.parse('2026-05-31T22:30:00Z');

const QUERY: UsagePeriodsQuery = {
  step: 'hour',
  since: LAST_OF_MAY,
  until: LAST_OF_MAY + DAY_MS,
  of: { kind: 'gateway' },
  model: null,
  models: null,
  durations: [],
};
const BY_MODEL = { models: { count: 10, by: 'requests' } } as const;

export function describeUsagePeriods(adapter: string, harness: () => StoreHarness): void {
  const store = (): Store => harness().store;
  const read = async (query: Partial<UsagePeriodsQuery>): Promise<string[]> => {
    const periods = await store().usagePeriods({ ...QUERY, ...query });
    return periods.map(({ period, model, requests }) => `${period} ${model} ${requests}`);
  };
  const firstOf = async (of: UsagePeriodsQuery['of']) => (await read({ of }))[0];

  describe(`${adapter}: usage by periods`, () => {
    test('requests are added up by hour, day and month, in UTC', async () => {
      store().recordUsage([
        row(1),
        row(2, { at: LAST_OF_MAY + HOUR_MS }),
        row(3, { at: LAST_OF_MAY + HOUR_MS + 1 }),
        row(4, { at: LAST_OF_MAY + 2 * HOUR_MS, model: 'kokoro', images: 99 }),
      ]);
      const hours = ['2026-05-31T22  1', '2026-05-31T23  2', '2026-06-01T00  1'];
      expect(await read({})).toEqual(hours);
      expect(await read({ since: LAST_OF_MAY + HOUR_MS })).toEqual(hours.slice(1));
      expect(await read({ until: LAST_OF_MAY + HOUR_MS })).toEqual(hours.slice(0, 2));
      expect(await read({ step: 'day' })).toEqual(['2026-05-31  3', '2026-06-01  1']);
      expect(await read({ step: 'month' })).toEqual(['2026-05  3', '2026-06  1']);
      expect(await read({ step: 'minute' })).toContain('2026-05-31T23:30  2');
      expect(await read({ step: 'day', ...BY_MODEL })).toEqual([
        '2026-05-31 llama 3',
        '2026-06-01 kokoro 1',
      ]);
      expect(await read({ models: { count: 1, by: 'requests' } })).toEqual([
        '2026-05-31T22 llama 1',
        '2026-05-31T23 llama 2',
      ]);
      expect(await read({ models: { count: 1, by: 'images' } })).toEqual([
        '2026-06-01T00 kokoro 1',
      ]);
      expect(await read({ model: 'kokoro' })).toEqual(['2026-06-01T00  1']);
    });

    test('a period has its amounts, and counts of durations', async () => {
      const ok = { queueMs: 5, firstByteMs: 300, totalMs: 2_005, promptTokens: 3 };
      store().recordUsage([
        row(1, { ...ok, completionTokens: 40 }),
        row(2, { ...ok, outcome: 'failed', completionTokens: 0, audioMs: 1_500, images: 2 }),
        row(3, { ...ok, outcome: 'canceled', completionTokens: 10, firstByteMs: null }),
      ]);
      const [period, ...more] = await store().usagePeriods({ ...QUERY, durations: ALL });
      expect(more).toEqual([]);
      expect(period).toMatchObject({
        requests: 3,
        ok: 1,
        failed: 1,
        canceled: 1,
        promptTokens: 9,
        completionTokens: 50,
        audioMs: 1_500,
        images: 2,
        totalMs: 6_015,
        // Of the two that made tokens, without their time in the queue.
        generationMs: 4_000,
      });
      expect(countsOf(period?.durations.queue)).toEqual({ [bucketOf(5)]: 3 });
      expect(countsOf(period?.durations.firstByte)).toEqual({ [bucketOf(300)]: 1 });
      expect(countsOf(period?.durations.total)).toEqual({ [bucketOf(2_005)]: 1 });
      const [counts] = await store().usagePeriods(QUERY);
      expect(counts?.durations).toEqual({ firstByte: null, queue: null, total: null });
    });

    test('a member sees their requests, an owner those that their providers answered', async () => {
      const { id: owner } = created(await store().createMember(newMember('ben'), LAST_OF_MAY));
      const attic = await createProvider(store(), { ownerId: owner, name: 'attic' });
      const cellar = await createProvider(store(), { ownerId: owner, name: 'cellar' });
      store().recordUsage([
        row(1, { providerId: attic.id }),
        row(2, { providerId: cellar.id }),
        row(3, { providerId: null }),
        row(4, { providerId: 'of-another', memberId: owner }),
      ]);
      expect(await firstOf({ kind: 'gateway' })).toBe('2026-05-31T22  4');
      expect(await firstOf({ kind: 'member', id: 'anna' })).toBe('2026-05-31T22  3');
      expect(await firstOf({ kind: 'member', id: owner })).toBe('2026-05-31T22  1');
      expect(await firstOf({ kind: 'owner', id: owner })).toBe('2026-05-31T22  2');
      expect(await firstOf({ kind: 'owner', id: 'anna' })).toBeUndefined();
      expect(await firstOf({ kind: 'member', id: 'nobody' })).toBeUndefined();
    });

    test('several coordinators add to the same periods at once, each request once', async () => {
      const peer = harness().peer('other');
      const rows = Array.from({ length: 600 }, (_, index) =>
        row(index, {
          memberId: `member-${index % 7}`,
          providerId: `provider-${index % 3}`,
          model: `model-${index % 5}`,
        }),
      );
      store().recordUsage(rows.filter(isOdd));
      store().recordUsage(rows.filter(isOdd));
      peer.recordUsage(rows.filter((one, index) => !isOdd(one, index)).toReversed());
      await Promise.all([read({}), peer.usagePeriods(QUERY)]);
      expect(await read({})).toEqual(['2026-05-31T22  600']);
      const of = { kind: 'member', id: 'member-0' } as const;
      expect(await read({ of })).toEqual(['2026-05-31T22  86']);
    });

    test('old minutes and hours are deleted, days stay', async () => {
      store().recordUsage([row(1), row(2, { at: LAST_OF_MAY + 400 * DAY_MS })]);
      const until = LAST_OF_MAY + 400 * DAY_MS;
      expect(await read({ until })).toHaveLength(2);
      // A minute of the gateway; an hour of it, of the model in it, and of the member.
      expect(await store().deleteOldPeriods(until, 2)).toBe(3);
      expect(await store().deleteOldPeriods(until, 2)).toBe(1);
      expect(await store().deleteOldPeriods(until, 2)).toBe(0);
      expect(await read({ until })).toEqual(['2027-07-05T22  1']);
      expect(await read({ until, step: 'day' })).toEqual(['2026-05-31  1', '2027-07-05  1']);
      const minutes = { until, since: until - HOUR_MS, step: 'minute' } as const;
      expect(await read(minutes)).toEqual(['2027-07-05T22:30  1']);
    });
  });
}

/** By bucket, without empty ones. */
function countsOf(counts: readonly number[] | null = null): Record<number, number> {
  return Object.fromEntries((counts ?? []).flatMap((count, i) => (count > 0 ? [[i, count]] : [])));
}

function row(index: number, more: Partial<UsageRow> = {}): UsageRow {
  return { ...usageRow(index), at: LAST_OF_MAY, memberId: 'anna', model: 'llama', ...more };
}

function isOdd(_: UsageRow, index: number): boolean {
  return index % 2 === 1;
}
