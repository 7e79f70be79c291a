import { BUDGET_LEASE_MS } from '@inference-gateway/coordinator/core/usage/budget-pool';
import { NOTHING, sumOf } from '@inference-gateway/coordinator/core/usage/quota';
import type { Amount } from '@inference-gateway/coordinator/core/usage/quota';
import type { Account, Refusal } from '@inference-gateway/coordinator/core/usage/quotas';
import { SharedQuotas } from '@inference-gateway/coordinator/limits/shared-quotas';
import * as fc from 'fast-check';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Pools } from './pools.js';
import type { Fault } from './pools.js';

const NOON = Date.UTC(2026, 4, 5, 12);
const STEP_MS = 100;

const accountOf = (tokens: number): Account => ({
  memberId: 'anna',
  keyId: 'key',
  title: "The API key 'laptop'",
  quota: { day: { tokens }, month: {} },
});

const tokensOf = (tokens: number): Amount => ({ ...NOTHING, requests: 1, tokens });

interface Running {
  readonly id: string;
  readonly asked: number;
  readonly used: number;
  readonly endsAt: number;
}

interface Node {
  readonly quotas: SharedQuotas;
  /** Rows on their way to the ledger. */
  rows: Amount;
  due: number;
  running: Running[];
}

class Fleet {
  at = NOON;
  readonly pools = new Pools(() => this.at);
  readonly nodes: readonly Node[];
  readonly account: Account;
  #calls = 0;

  constructor(count: number, limit: number) {
    this.account = accountOf(limit);
    this.nodes = Array.from({ length: count }, (_, index) => {
      const node: Node = {
        quotas: this.#quotasOf(index, () => node),
        rows: NOTHING,
        due: 0,
        running: [],
      };
      return node;
    });
  }

  #quotasOf(index: number, node: () => Node): SharedQuotas {
    const flush = (): Amount => {
      const { rows } = node();
      node().rows = NOTHING;
      return rows;
    };
    const ask = this.pools.budgets(`node ${index}`, flush);
    return new SharedQuotas({ ask, now: () => this.at, steady: () => this.at });
  }

  /** By the ledger and what is on its way. */
  get used(): number {
    return this.nodes.reduce((sum, { rows }) => sum + rows.tokens, this.pools.ledger.tokens);
  }

  get reserved(): number {
    const running = this.nodes.flatMap((node) => node.running);
    return running.reduce((sum, { asked }) => sum + asked, 0);
  }

  /** Null: it runs. */
  async begin(node: Node, call: Omit<Running, 'id'>): Promise<Refusal | null> {
    const id = `call ${(this.#calls += 1)}`;
    const refusal = await node.quotas.claim(id, [this.account], tokensOf(call.asked));
    if (refusal === null) node.running.push({ ...call, id });
    return refusal;
  }

  end(node: Node, { id, used }: Running): void {
    node.running = node.running.filter((one) => one.id !== id);
    const row = {
      requestId: id,
      at: this.at,
      memberId: 'anna',
      keyId: 'key',
      images: 0,
      audioMs: 0,
    };
    const tokens = { promptTokens: 0, completionTokens: used, estimated: false };
    node.rows = sumOf(node.rows, tokensOf(used));
    node.quotas.count({ ...row, ...tokens });
  }

  async pass(): Promise<void> {
    this.at += STEP_MS;
    for (const node of this.nodes) {
      for (const call of node.running.filter(({ endsAt }) => endsAt <= this.at))
        this.end(node, call);
      // Once a second, as the buffer of usage rows.
      if (this.at % 1_000 === 0) {
        this.pools.ledger = sumOf(this.pools.ledger, node.rows);
        node.rows = NOTHING;
      }
      if (this.at % 5_000 === 0) await node.quotas.renew().catch(() => {});
    }
  }
}

const shape = {
  limit: fc.integer({ min: 1_000, max: 1_000_000 }),
  /** Of the limit. */
  asked: fc.double({ min: 0.000_1, max: 0.02, noNaN: true }),
  /** Of what was asked. */
  used: fc.double({ min: 0.05, max: 1, noNaN: true }),
  lastsMs: fc.integer({ min: 0, max: 20_000 }),
  /** Calls in a step, of each coordinator. */
  demands: fc.array(fc.double({ min: 0, max: 1.5, noNaN: true }), { minLength: 3, maxLength: 3 }),
};

interface Course {
  readonly limit: number;
  readonly asked: number;
  readonly used: number;
  readonly lastsMs: number;
  readonly demands: readonly number[];
}

/** `onRefused` is told what was used and reserved by all. */
async function run(fleet: Fleet, course: Course, onRefused: (taken: number) => void) {
  const asked = Math.max(1, Math.round(course.limit * course.asked));
  const used = Math.max(1, Math.round(asked * course.used));
  for (let step = 0; step < 600; step++) {
    for (const [index, node] of fleet.nodes.entries()) {
      node.due += course.demands[index] ?? 0;
      const calls: Promise<unknown>[] = [];
      for (; node.due >= 1; node.due -= 1) {
        const beginning = fleet.begin(node, { asked, used, endsAt: fleet.at + course.lastsMs });
        const settled = beginning.then(
          (refusal) => refusal !== null && onRefused(fleet.used + fleet.reserved),
          () => {},
        );
        calls.push(settled);
      }
      await Promise.all(calls);
      expect(fleet.used).toBeLessThanOrEqual(course.limit + asked);
    }
    await fleet.pass();
  }
  return asked;
}

test('what all coordinators let in passes a limit by one call, as one alone does', async () => {
  const fault = fc.constantFrom<Fault>('none', 'none', 'none', 'before', 'after');
  const faults = fc.array(fault, { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.record({ ...shape, faults }), async ({ faults: drawn, ...course }) => {
      const fleet = new Fleet(3, course.limit);
      let count = 0;
      if (drawn.length > 0) fleet.pools.fault = () => drawn[count++ % drawn.length] ?? 'none';
      const asked = await run(fleet, course, () => {});
      expect(fleet.used + fleet.reserved).toBeLessThanOrEqual(course.limit + asked);
    }),
    { numRuns: 20 },
  );
});

test('three coordinators refuse nothing before nine tenths are used or reserved', async () => {
  await fc.assert(
    fc.asyncProperty(fc.record(shape), async (course) => {
      const fleet = new Fleet(3, course.limit);
      const asked = await run(fleet, course, (taken) => {
        expect(taken).toBeGreaterThanOrEqual(0.9 * course.limit - 2);
      });
      expect(asked).toBeGreaterThan(0);
    }),
    { numRuns: 20 },
  );
});

/** Two coordinators. */
function pair(limit: number) {
  const fleet = new Fleet(2, limit);
  const [one, other] = fleet.nodes;
  if (one === undefined || other === undefined) throw new Error('there are two');
  return { fleet, one, other };
}

const lasting = { endsAt: Infinity };

test('a call is refused with what all have used, and until when', async () => {
  const { fleet, one, other } = pair(1_000);
  expect(await fleet.begin(one, { asked: 700, used: 600, ...lasting })).toBeNull();
  expect(await fleet.begin(other, { asked: 400, used: 300, ...lasting })).toBeNull();
  const refusal = await fleet.begin(one, { asked: 1, used: 1, ...lasting });
  expect(refusal).toMatchObject({ isReserved: true, used: 0, limit: 1_000 });
  expect(refusal?.message).toContain('the rest is reserved for calls under way');
  for (const node of fleet.nodes) for (const call of node.running) fleet.end(node, call);
  // What they have not used is given back.
  await setImmediate();
  fleet.at += 1_000;
  expect(await fleet.begin(one, { asked: 200, used: 150, ...lasting })).toBeNull();
  for (const call of one.running) fleet.end(one, call);
  await setImmediate();
  fleet.at += 1_000;
  const last = await fleet.begin(other, { asked: 50, used: 50, ...lasting });
  expect(last).toMatchObject({ isReserved: false, used: 1_050 });
});

test('what one that died had reserved is free when its lease ends', async () => {
  const { fleet, one, other } = pair(1_000);
  await fleet.begin(one, { asked: 1_000, used: 1, ...lasting });
  fleet.at += BUDGET_LEASE_MS - 1;
  expect(await fleet.begin(other, { asked: 10, used: 10, ...lasting })).not.toBeNull();
  fleet.at += 1_000;
  expect(await fleet.begin(other, { asked: 10, used: 10, ...lasting })).toBeNull();
});

test('one that cannot wait is refused once, and asks for it with the next reading', async () => {
  const { fleet, one } = pair(10_000);
  const { quotas } = one;
  const accounts = [fleet.account];
  expect(quotas.isCounted(fleet.account)).toBe(false);
  await quotas.load(accounts);
  expect(quotas.load(accounts)).toBeNull();
  expect(quotas.isCounted(fleet.account)).toBe(true);
  expect(quotas.refusalOf(accounts, tokensOf(4_000))).toBeNull();
  expect(quotas.reserve('job', accounts, tokensOf(4_000))).not.toBeNull();
  expect(quotas.isCounted(fleet.account)).toBe(false);
  await quotas.load(accounts);
  expect(quotas.isCounted(fleet.account)).toBe(true);
  expect(quotas.reserve('job', accounts, tokensOf(4_000))).toBeNull();
  quotas.amend('job', tokensOf(5_000));
  quotas.release('job');
});

test('calls of one key do not each ask the database', async () => {
  const { fleet, one } = pair(1_000_000);
  for (let call = 0; call < 1_000; call++) {
    expect(await fleet.begin(one, { asked: 600, used: 500, endsAt: fleet.at })).toBeNull();
    await fleet.pass();
  }
  expect(fleet.pools.questions).toBeLessThan(200);
});

test('a call that needs more than is held fails if the database is away', async () => {
  const { fleet, one } = pair(1_000);
  expect(await fleet.begin(one, { asked: 1, used: 1, ...lasting })).toBeNull();
  fleet.pools.fault = () => 'before';
  expect(await fleet.begin(one, { asked: 10, used: 1, ...lasting })).toBeNull();
  const away = 'the database is away';
  await expect(fleet.begin(one, { asked: 500, used: 1, ...lasting })).rejects.toThrow(away);
  fleet.pools.fault = () => 'none';
  expect(await fleet.begin(one, { asked: 500, used: 1, ...lasting })).toBeNull();
});
