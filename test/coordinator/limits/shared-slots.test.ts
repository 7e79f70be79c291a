import { LEASE_MS } from '@inference-gateway/coordinator/core/access/rate-pool';
import { SharedSlots } from '@inference-gateway/coordinator/limits/shared-slots';
import { Admission } from '@inference-gateway/coordinator/relay/admission';
import * as fc from 'fast-check';
import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pools } from './pools.js';
import type { Fault } from './pools.js';

const signal = new AbortController().signal;
setMaxListeners(0, signal);

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

interface Node {
  readonly slots: SharedSlots;
  readonly admission: Admission;
  inside: number;
  waiting: number;
  failed: number;
}

/** Coordinators on one database. */
class Fleet {
  readonly pools = new Pools(() => this.now + 7);
  readonly nodes: readonly Node[];
  now = 1_000_000;

  constructor(count: number, limit: number) {
    this.nodes = Array.from({ length: count }, (_, index) => {
      const slots = new SharedSlots(this.pools.slots(`node ${index}`), () => this.now);
      const parts = { limit, waitMs: 600_000, closing: signal, slots };
      return { slots, admission: new Admission(parts), inside: 0, waiting: 0, failed: 0 };
    });
  }

  get inside(): number {
    return this.nodes.reduce((sum, { inside }) => sum + inside, 0);
  }

  enter(node: Node): void {
    const entering = node.admission.enter('anna', signal);
    if (entering === null) node.inside += 1;
    else void this.#wait(node, entering);
  }

  async #wait(node: Node, entering: Promise<void>): Promise<void> {
    node.waiting += 1;
    try {
      await entering;
      node.inside += 1;
    } catch {
      node.failed += 1;
    } finally {
      node.waiting -= 1;
    }
  }

  leave(node: Node): void {
    if (node.inside === 0) return;
    node.inside -= 1;
    node.admission.leave('anna');
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    await vi.advanceTimersByTimeAsync(ms);
  }

  /** Of three renewals within a lease, one succeeds: else others get what still runs. */
  async renewSurely(): Promise<void> {
    const { fault } = this.pools;
    this.pools.fault = () => 'none';
    await this.renew();
    this.pools.fault = fault;
  }

  async renew(): Promise<void> {
    await Promise.all(this.nodes.map(({ slots }) => slots.renew()));
  }
}

const steps = fc.array(
  fc.record({
    node: fc.nat(2),
    enter: fc.nat(20),
    leave: fc.nat(20),
    passMs: fc.constantFrom(0, 1, 600, 5_000),
  }),
  { minLength: 20, maxLength: 40 },
);

test('coordinators together never run more calls than the limit', async () => {
  const limit = fc.integer({ min: 1, max: 100 });
  const fault = fc.constantFrom<Fault>('none', 'none', 'none', 'before', 'after');
  const faults = fc.array(fault, { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(limit, steps, faults, async (most, taken, drawn) => {
      const fleet = new Fleet(3, most);
      let asked = 0;
      if (drawn.length > 0) fleet.pools.fault = () => drawn[asked++ % drawn.length] ?? 'none';
      let renewedAt = fleet.now;
      for (const { node: index, enter, leave, passMs } of taken) {
        const node = fleet.nodes[index];
        if (node === undefined) continue;
        for (let i = 0; i < enter; i++) fleet.enter(node);
        for (let i = 0; i < leave; i++) fleet.leave(node);
        await fleet.pass(passMs);
        if (fleet.now - renewedAt >= 5_000) {
          renewedAt = fleet.now;
          await fleet.renewSurely();
        }
        expect(fleet.inside).toBeLessThanOrEqual(most);
      }
    }),
    { numRuns: 10 },
  );
});

test('while calls wait, nine tenths of the limit are in use', async () => {
  const limit = fc.integer({ min: 1, max: 300 });
  const demands = fc.array(fc.nat(200), { minLength: 3, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(limit, demands, async (most, drawn) => {
      const fleet = new Fleet(3, most);
      for (const [index, node] of fleet.nodes.entries()) {
        for (let i = 0; i < (drawn[index] ?? 0); i++) fleet.enter(node);
      }
      await fleet.pass(600);
      await fleet.renew();
      await fleet.pass(600);
      const waiting = fleet.nodes.reduce((sum, node) => sum + node.waiting, 0);
      if (waiting > 0) expect(fleet.inside).toBeGreaterThanOrEqual(Math.floor(0.9 * most));
      // All are served in the end.
      const wanted = drawn.reduce((sum, count) => sum + count, 0);
      let served = 0;
      for (let turn = 0; served < wanted && turn < 3_000; turn++) {
        for (const node of fleet.nodes) {
          served += node.inside;
          while (node.inside > 0) fleet.leave(node);
        }
        await fleet.pass(501);
        if (turn % 10 === 0) await fleet.renew();
      }
      expect(served).toBe(wanted);
    }),
    { numRuns: 10 },
  );
});

test('a coordinator that needs more gets its part of those that another one uses', async () => {
  const fleet = new Fleet(2, 100);
  const [busy, late] = fleet.nodes;
  if (busy === undefined || late === undefined) throw new Error('there are two');
  for (let i = 0; i < 300; i++) fleet.enter(busy);
  await fleet.pass(1);
  expect(busy.inside).toBe(100);
  for (let i = 0; i < 100; i++) fleet.enter(late);
  await fleet.pass(600);
  await fleet.renew();
  expect([busy.inside, late.inside]).toEqual([100, 0]);
  for (let i = 0; i < 60; i++) {
    fleet.leave(busy);
    await fleet.pass(50);
  }
  await fleet.pass(1_000);
  expect([busy.inside, late.inside]).toEqual([50, 50]);
});

test('what a coordinator that died had is free when its lease ends', async () => {
  const fleet = new Fleet(2, 10);
  const [dead, other] = fleet.nodes;
  if (dead === undefined || other === undefined) throw new Error('there are two');
  for (let i = 0; i < 10; i++) fleet.enter(dead);
  await fleet.pass(1);
  fleet.enter(other);
  await fleet.pass(LEASE_MS - 1_000);
  expect(other.inside).toBe(0);
  await fleet.pass(1_501);
  expect(other.inside).toBe(1);
});

test('a call that needs a new lease fails if the database is away; others start', async () => {
  const fleet = new Fleet(1, 256);
  const [node] = fleet.nodes;
  if (node === undefined) throw new Error('there is one');
  fleet.enter(node);
  await fleet.pass(1);
  expect(node.inside).toBe(1);
  fleet.pools.fault = () => 'before';
  for (let i = 0; i < 20; i++) fleet.enter(node);
  await fleet.pass(1);
  expect(node).toMatchObject({ inside: 7, failed: 14, waiting: 0 });
  fleet.pools.fault = () => 'none';
  fleet.enter(node);
  await fleet.pass(1);
  expect(node.inside).toBe(8);
});

test('calls that come one after the other do not each ask the database', async () => {
  const fleet = new Fleet(1, 256);
  const [node] = fleet.nodes;
  if (node === undefined) throw new Error('there is one');
  for (let i = 0; i < 500; i++) {
    fleet.enter(node);
    await fleet.pass(50);
    expect(node.inside).toBe(1);
    fleet.leave(node);
    if (i % 100 === 99) await fleet.renew();
  }
  expect(fleet.pools.questions).toBe(6);
});
