/** The part of the contract that is about metering. */
import { USAGE_GROUPS } from '@inference-gateway/coordinator/store/port';
import type { Store, UsageRow, UsageStat } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import type { StoreHarness } from './store-harness.js';
import { usageRow } from './store-rows.js';

const DAY_MS = 86_400_000;
const MIDNIGHT = Date.UTC(2026, 2, 1);

export function describeUsage(adapter: string, harness: () => StoreHarness): void {
  const store = (): Store => harness().store;
  const statsBy = (by: (typeof USAGE_GROUPS)[number], since: number | null = null) =>
    store().usageStats({ since, by, memberId: null });

  const days = async (since: number | null): Promise<string[]> =>
    (await statsBy('day', since)).map(({ group, requests }) => `${group} ${requests}`);

  describe(`${adapter}: usage`, () => {
    test('it is written by closing at the latest, each request once', async () => {
      const rows = Array.from({ length: 450 }, (_, index) => usageRow(index));
      store().recordUsage(rows.slice(0, 250));
      store().recordUsage(rows.slice(200));
      const written = await harness().usage();
      const ids = rows.map(({ requestId }) => requestId);
      expect(written.map(({ requestId }) => requestId).toSorted()).toEqual(ids.toSorted());
      expect(written[0]?.totalMs).toBe(13);
    });

    test('a batch that is written twice counts once, also after a restart', async () => {
      const rows = Array.from({ length: 30 }, (_, index) => usageRow(index));
      store().recordUsage(rows);
      store().recordUsage(rows);
      expect(await statsBy('source')).toMatchObject([{ requests: 30, promptTokens: 90 }]);
      const reopened = await harness().reopen();
      reopened.recordUsage(rows);
      const again = await reopened.usageStats({ since: null, by: 'source', memberId: null });
      expect(again).toMatchObject([{ requests: 30, promptTokens: 90 }]);
    });

    test('rows and daily sums add up, by whatever they are asked for', async () => {
      const rows = mixedRows(240);
      store().recordUsage(rows);
      const answers = await Promise.all(USAGE_GROUPS.map((by) => statsBy(by)));
      const written = await harness().usage();
      for (const stats of answers) expect(sumOf(stats)).toEqual(sumOfRows(written));
      expect(written).toHaveLength(240);
      expect(answers.map((stats) => stats.length)).toEqual([3, 2, 3, 3, 2, 2, 2]);
    });

    test('each group has its own sums', async () => {
      store().recordUsage([
        { ...usageRow(1), model: 'a', audioMs: 1_500, images: 0, promptTokens: 5 },
        { ...usageRow(2), model: 'a', audioMs: 0.6, images: 2, promptTokens: 7 },
        { ...usageRow(3), model: 'b', outcome: 'failed', completionTokens: 0, totalMs: 40 },
      ]);
      const zero = { failed: 0, canceled: 0, audioMs: 0, images: 0 };
      expect(await statsBy('model')).toEqual([
        {
          ...zero,
          group: 'a',
          requests: 2,
          ok: 2,
          promptTokens: 12,
          completionTokens: 8,
          audioMs: 1_501,
          images: 2,
          totalMs: 26,
        },
        {
          ...zero,
          group: 'b',
          requests: 1,
          ok: 0,
          failed: 1,
          promptTokens: 3,
          completionTokens: 0,
          totalMs: 40,
        },
      ]);
    });

    test('calls that no provider took are a group of their own, with an empty name', async () => {
      store().recordUsage([usageRow(1), { ...usageRow(2), providerId: 'den-pc' }, usageRow(3)]);
      const stats = await statsBy('provider');
      expect(stats.map(({ group, requests }) => [group, requests])).toEqual([
        ['', 2],
        ['den-pc', 1],
      ]);
    });

    test('days are those of UTC, in their order, and `since` takes its whole day', async () => {
      const at = [MIDNIGHT - 1, MIDNIGHT, MIDNIGHT + DAY_MS - 1, MIDNIGHT + DAY_MS];
      store().recordUsage(at.map((time, index) => ({ ...usageRow(index), at: time })).toReversed());
      const all = ['2026-02-28 1', '2026-03-01 2', '2026-03-02 1'];
      expect(await days(null)).toEqual(all);
      expect(await days(MIDNIGHT - 1)).toEqual(all);
      expect(await days(MIDNIGHT + DAY_MS - 1)).toEqual(all.slice(1));
      expect(await days(MIDNIGHT + DAY_MS)).toEqual(all.slice(2));
    });

    test('energy is stored as it is told, and unknown energy is no 0', async () => {
      const told = [4_300, 0.017, 1e9, null];
      store().recordUsage(told.map((energyJ, index) => ({ ...usageRow(index), energyJ })));
      const { energyJ: _, ...older } = usageRow(9);
      store().recordUsage([older]);
      const rows = await store().recentUsage({ memberId: 'member', limit: 9, after: null });
      expect(rows.map(({ energyJ }) => energyJ).toReversed()).toEqual([...told, null]);
      expect(await store().findUsage('req_1', 'member')).toMatchObject({ energyJ: 0.017 });
    });

    test("one member's usage is theirs alone", async () => {
      store().recordUsage([usageRow(1), { ...usageRow(2), memberId: 'ben' }, usageRow(3)]);
      const query = { since: null, by: 'key', memberId: 'ben' } as const;
      expect(await store().usageStats(query)).toMatchObject([{ group: 'key', requests: 1 }]);
      expect(await store().usageStats({ ...query, memberId: 'nobody' })).toEqual([]);
    });
  });
}

const OUTCOMES = ['ok', 'ok', 'failed', 'canceled', 'ok'] as const;

/**
 * Rows of three days, two members, three keys, two providers or none, and two models and endpoints.
 */
function mixedRows(count: number): UsageRow[] {
  return Array.from({ length: count }, (_, i) => ({
    ...usageRow(i),
    at: MIDNIGHT + (i % 3) * DAY_MS,
    memberId: i % 2 === 0 ? 'anna' : 'ben',
    keyId: `key-${i % 3}`,
    providerId: [null, 'den', 'attic'][i % 3] ?? null,
    model: i % 2 === 0 ? 'llama' : 'kokoro',
    endpoint: i % 4 < 2 ? 'chat' : 'speech',
    source: i % 5 === 0 ? 'console' : 'api',
    outcome: OUTCOMES[i % OUTCOMES.length] ?? 'ok',
    promptTokens: i,
    completionTokens: i * 2,
    audioMs: i * 10,
    images: i % 4,
    totalMs: i + 0.4,
  }));
}

type Sums = Omit<UsageStat, 'group'>;

function sumOf(stats: readonly Sums[]): Sums {
  const sum = (field: keyof Sums): number => stats.reduce((total, stat) => total + stat[field], 0);
  return {
    requests: sum('requests'),
    ok: sum('ok'),
    failed: sum('failed'),
    canceled: sum('canceled'),
    promptTokens: sum('promptTokens'),
    completionTokens: sum('completionTokens'),
    audioMs: sum('audioMs'),
    images: sum('images'),
    totalMs: sum('totalMs'),
  };
}

function sumOfRows(rows: Awaited<ReturnType<StoreHarness['usage']>>): Sums {
  return sumOf(
    rows.map(({ outcome, ...row }) => ({
      ...row,
      requests: 1,
      ok: Number(outcome === 'ok'),
      failed: Number(outcome === 'failed'),
      canceled: Number(outcome === 'canceled'),
    })),
  );
}
