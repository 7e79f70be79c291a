/** The part of the contract that is about limits that several coordinators share. */
import type { RateAsk } from '@inference-gateway/coordinator/core/access/rate-pool';
import type { SlotAsk } from '@inference-gateway/coordinator/core/access/slot-pool';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.js';
import type { StoreHarness } from './store-harness.js';
import { NOW, usageRow } from './store-rows.js';

const rate: RateAsk = {
  subject: 'anna',
  limit: 100,
  windowMs: 60_000,
  spent: [],
  kept: 0,
  waiting: 1,
};
const call: SlotAsk = { subject: 'anna', limit: 100, running: 0, needs: 1 };

export function describeLeases(adapter: string, harness: () => StoreHarness): void {
  const store = (): Store => harness().store;
  const other = (): Store => harness().peer('other');

  describe(`${adapter}: leases of limits`, () => {
    test('tokens of a rate are those that others have left, and expire', async () => {
      const [first] = await store().leaseRates([rate], 'one');
      expect(first).toMatchObject({ granted: 5, free: 95, resetMs: 0 });
      const spent = [[0, 3]] as const;
      const [again] = await store().leaseRates([{ ...rate, spent, kept: 2, waiting: 0 }], 'one');
      expect(again).toMatchObject({ granted: 0, free: 95 });
      expect(isWindow(again?.resetMs)).toBe(true);
      const [second] = await other().leaseRates([{ ...rate, waiting: 200 }], 'other');
      expect(second).toMatchObject({ granted: 95, free: 0 });
      const [refused] = await store().leaseRates([{ ...rate, kept: 2 }], 'one');
      expect(refused).toMatchObject({ granted: 0, free: 0 });
      expect(isWindow(refused?.retryMs)).toBe(true);
      const old = { ...rate, subject: 'ben', spent: [[90_000, 40]] as const };
      expect((await store().leaseRates([old], 'one'))[0]).toMatchObject({ free: 95, resetMs: 0 });
    });

    test('each of several subjects is answered, in order', async () => {
      const asks = ['zoe', 'anna', 'ben'].map((subject, index) => {
        return { ...rate, subject, limit: 100 * (index + 1) };
      });
      const leases = await store().leaseRates(asks, 'one');
      expect(leases.map(({ granted }) => granted)).toEqual([5, 10, 15]);
      expect(await store().leaseRates([], 'one')).toEqual([]);
    });

    test('slots are given back, and shared with those that need them', async () => {
      const busy = { ...call, running: 90, needs: 99 };
      expect(await store().leaseSlots([busy], 'one')).toEqual([
        { slots: 100, share: 100, spare: 2 },
      ]);
      const [late] = await other().leaseSlots([{ ...call, needs: 60 }], 'other');
      expect(late).toEqual({ slots: 0, share: 50, spare: 2 });
      expect((await store().leaseSlots([busy], 'one'))[0]).toMatchObject({ slots: 90, share: 50 });
      const [some] = await other().leaseSlots([{ ...call, needs: 60 }], 'other');
      expect(some).toMatchObject({ slots: 10 });
      await store().leaseSlots([{ ...call, needs: 0 }], 'one');
      expect((await other().leaseSlots([call], 'other'))[0]).toMatchObject({
        slots: 3,
        share: 100,
      });
    });

    test('a budget is what the ledger and others leave, and is passed by one call', async () => {
      const ask = {
        subject: { memberId: 'anna', keyId: null },
        quota: { day: { tokens: 1_000 }, month: { images: 10 } },
        kept: amount(0),
        first: amount(100),
        wanted: amount(100),
      };
      store().recordUsage([
        { ...usageRow(1), memberId: 'anna', at: NOW, promptTokens: 300, completionTokens: 100 },
      ]);
      const [first] = await store().leaseBudgets([ask], 'one', NOW);
      expect(first?.granted).toMatchObject({ requests: 0, tokens: 100, images: 0, audioMs: 0 });
      expect(first?.use.day.tokens).toBe(400);
      const large = { ...ask, first: amount(800), wanted: amount(800) };
      const [second] = await other().leaseBudgets([large], 'other', NOW);
      expect([second?.granted.tokens, second?.others.tokens]).toEqual([800, 100]);
      const kept = { ...ask, kept: amount(50) };
      const [third] = await store().leaseBudgets([kept], 'one', NOW);
      expect([third?.granted.tokens, third?.others.tokens]).toEqual([0, 800]);
      await other().leaseBudgets([{ ...ask, first: amount(0), wanted: amount(0) }], 'other', NOW);
      const [last] = await store().leaseBudgets([kept], 'one', NOW);
      expect([last?.granted.tokens, last?.others.tokens]).toEqual([100, 0]);
    });

    test('wrong attempts to log in count for all, and a right one forgets them', async () => {
      const guessers = [
        { kind: 'pair', key: 'p' },
        { kind: 'account', key: 'a' },
        { kind: 'address', key: 'x' },
        { kind: 'network', key: 'n' },
      ] as const;
      let endedAt = 0;
      for (let i = 0; i < 5; i++) {
        const here = i % 2 === 0 ? store() : other();
        expect(await here.beginLogIn(guessers)).toBe(0);
        endedAt = performance.now();
        await here.endLogIn(guessers, 'wrong');
      }
      const waitMs = await other().beginLogIn(guessers);
      // What of that second was left when it was asked.
      expect(waitMs).toBeGreaterThanOrEqual(Math.floor(1_000 - (performance.now() - endedAt)) - 1);
      expect(waitMs).toBeLessThanOrEqual(1_000);
      const elsewhere = guessers.map((one) => ({ ...one, key: `${one.key} elsewhere` }));
      expect(await store().beginLogIn(elsewhere)).toBe(0);
      await until(async () => (await store().beginLogIn(guessers)) === 0);
      await store().endLogIn(guessers, 'right');
      const pair = guessers.slice(0, 1);
      expect(await other().beginLogIn(pair)).toBe(0);
      await other().endLogIn(pair, 'unchecked');
    });

    test('what no longer counts is deleted, and nothing else', async () => {
      await store().leaseRates([rate], 'one');
      await store().leaseSlots([{ ...call, needs: 100 }], 'one');
      await store().forgetLeases();
      expect((await other().leaseSlots([call], 'other'))[0]).toMatchObject({ slots: 0 });
      const pair = [{ kind: 'pair', key: 'p' }] as const;
      await store().beginLogIn(pair);
      await store().endLogIn(pair, 'unchecked');
      await store().forgetLeases();
      expect((await other().leaseRates([rate], 'other'))[0]).toMatchObject({ free: 90 });
    });
  });
}

/** A request just now expires with its slice: between one window and a slice more. */
function isWindow(ms = 0): boolean {
  return ms > 50_000 && ms <= 61_000;
}

function amount(tokens: number) {
  return { requests: 0, tokens, images: 0, audioMs: 0 };
}
