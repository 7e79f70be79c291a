import { SLICES } from '@inference-gateway/coordinator/core/access/rate';
import { LEASE_MS } from '@inference-gateway/coordinator/core/access/rate-pool';
import { SharedRate } from '@inference-gateway/coordinator/limits/shared-rate';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Pools } from './pools.js';
import type { Fault } from './pools.js';

const WINDOW_MS = 60_000;
const STEP_MS = 100;
const STEPS = 1_500;
const RENEW_STEPS = 50;

interface Course {
  readonly limit: number;
  /** Requests in a step, of each coordinator. */
  readonly demands: readonly number[];
  readonly faults: readonly Fault[];
}

interface Seen {
  /** Time and number of the requests that were let in. */
  readonly allowed: { readonly at: number; readonly count: number }[];
  /** Times at which one was refused. */
  readonly refused: number[];
  readonly questions: number;
}

async function run({ limit, demands, faults }: Course): Promise<Seen> {
  let at = 1_000_000;
  const pools = new Pools(() => at + 123);
  let asked = 0;
  if (faults.length > 0) pools.fault = () => faults[asked++ % faults.length] ?? 'none';
  const nodes = demands.map((demand, index) => {
    const ask = pools.rates(`node ${index}`);
    const rate = new SharedRate({ limit, windowMs: WINDOW_MS, ask, now: () => at });
    return { rate, demand, due: 0 };
  });
  const allowed: { at: number; count: number }[] = [];
  const refused: number[] = [];
  for (let step = 0; step < STEPS; step++, at += STEP_MS) {
    for (const node of nodes) {
      node.due += node.demand;
      const asking: unknown[] = [];
      for (; node.due >= 1; node.due -= 1) asking.push(node.rate.take('anna', at));
      const outcomes = (await Promise.allSettled(asking)) as PromiseSettledResult<{
        allowed: boolean;
      }>[];
      const known = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const count = known.filter((one) => one.allowed).length;
      if (count > 0) allowed.push({ at, count });
      if (count < known.length) refused.push(at);
      if (step % RENEW_STEPS === 0) await node.rate.renew().catch(() => {});
    }
  }
  return { allowed, refused, questions: pools.questions };
}

function within(seen: Seen, from: number, to: number): number {
  const inside = seen.allowed.filter(({ at }) => at > from && at <= to);
  return inside.reduce((sum, { count }) => sum + count, 0);
}

const demand = fc.double({ min: 0, max: 4, noNaN: true });
const limit = fc.integer({ min: 1, max: 1_000 });

test('coordinators together never let in more than the limit within a window', async () => {
  const fault = fc.constantFrom<Fault>('none', 'none', 'none', 'before', 'after');
  const course = fc.record({
    limit,
    demands: fc.array(demand, { minLength: 1, maxLength: 4 }),
    faults: fc.array(fault, { maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(course, async (drawn) => {
      const seen = await run(drawn);
      for (const { at } of seen.allowed) {
        expect(within(seen, at - WINDOW_MS, at)).toBeLessThanOrEqual(drawn.limit);
      }
    }),
    { numRuns: 30 },
  );
});

test('three coordinators refuse nothing before nine tenths of the limit are used', async () => {
  const course = fc.record({
    limit,
    demands: fc.array(demand, { minLength: 3, maxLength: 3 }),
    faults: fc.constant([]),
  });
  // A request counts until its slice is a window old, and in the next one if they differ.
  const countedMs = (WINDOW_MS * (SLICES + 2)) / SLICES;
  await fc.assert(
    fc.asyncProperty(course, async (drawn) => {
      const seen = await run(drawn);
      for (const at of seen.refused) {
        const used = within(seen, at - countedMs, at);
        expect(used).toBeGreaterThanOrEqual(Math.floor(0.9 * drawn.limit));
      }
    }),
    { numRuns: 30 },
  );
});

test('the database is asked a few times for a tenth of the limit', async () => {
  const seen = await run({ limit: 600, demands: [0.3, 0.3, 0.3], faults: [] });
  const requests = seen.allowed.reduce((sum, { count }) => sum + count, 0);
  expect(requests).toBeGreaterThan(1_200);
  expect(seen.questions).toBeLessThan(requests / 8);
});

test('a member that is refused is asked about once a second', async () => {
  const seen = await run({ limit: 60, demands: [20], faults: [] });
  expect(seen.refused.length).toBeGreaterThan(1_000);
  expect(seen.questions).toBeLessThan((STEPS * STEP_MS) / 500 + 100);
});

test('requests that come at the same time share a question', async () => {
  const pools = new Pools(() => 0);
  const ask = pools.rates('node');
  const rate = new SharedRate({ limit: 100, windowMs: WINDOW_MS, ask, now: () => 0 });
  const standings = await Promise.all(
    Array.from({ length: 120 }, async () => rate.take('anna', 0)),
  );
  expect(standings.filter(({ allowed }) => allowed)).toHaveLength(100);
  expect(pools.questions).toBeLessThan(5);
  const [first] = standings;
  expect(first).toMatchObject({ limit: 100, resetS: 60, retryAfterS: 1 });
  expect(standings.at(-1)).toMatchObject({ allowed: false, remaining: 0, retryAfterS: 60 });
});

test('what is leased is spent without the database, until the lease ends', async () => {
  let at = 0;
  const pools = new Pools(() => at);
  const ask = pools.rates('node');
  const rate = new SharedRate({ limit: 600, windowMs: WINDOW_MS, ask, now: () => at });
  expect(await rate.take('anna', at)).toMatchObject({ allowed: true, remaining: 599 });
  pools.fault = () => 'before';
  await rate.renew().catch(() => {});
  at = LEASE_MS - 1;
  expect(await rate.take('anna', at)).toMatchObject({ allowed: true });
  at = LEASE_MS;
  await expect(rate.take('anna', at)).rejects.toThrow('the database is away');
  pools.fault = () => 'none';
  expect(await rate.take('anna', at)).toMatchObject({ allowed: true, remaining: 597 });
});

test('what a coordinator gives back at its end, another one has at once', async () => {
  const pools = new Pools(() => 0);
  const [one, other] = ['one', 'other'].map((name) => {
    const ask = pools.rates(name);
    return new SharedRate({ limit: 100, windowMs: WINDOW_MS, ask, now: () => 0 });
  });
  await one?.take('anna', 0);
  expect(await other?.take('anna', 0)).toMatchObject({ remaining: 94 });
  await one?.close();
  await other?.close();
  const ask = pools.rates('third');
  const third = new SharedRate({ limit: 100, windowMs: WINDOW_MS, ask, now: () => 0 });
  expect(await third.take('anna', 0)).toMatchObject({ remaining: 97 });
});
