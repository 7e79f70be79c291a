import {
  changedRules,
  describeSpent,
  NOTHING,
  periodAt,
  QUOTA_PERIODS,
  QUOTA_UNITS,
  spentLimit,
} from '@inference-gateway/coordinator/core/usage/quota';
import type {
  Amount,
  Quota,
  QuotaLimits,
  Spent,
} from '@inference-gateway/coordinator/core/usage/quota';
import { array, assert, integer, nat, property, record } from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';

const amount = record({
  requests: nat(5),
  tokens: nat(20),
  images: nat(3),
  audioMs: nat(9).map((tenths) => tenths * 500),
});
const most = nat(12);
const limits: Arbitrary<QuotaLimits> = record(
  { requests: most, tokens: most, images: most, audio_s: most },
  { requiredKeys: [] },
);
const quota: Arbitrary<Quota> = record({ day: limits, month: limits });
const time = integer({ min: Date.UTC(2023, 0), max: Date.UTC(2033, 0) });

describe('days and months, in UTC', () => {
  test('hold their moment, begin at 00:00 and last one day or one calendar month', () => {
    assert(
      property(time, (at) => {
        const iso = new Date(at).toISOString();
        const day = periodAt('day', at);
        expect(new Date(day.start).toISOString()).toBe(`${iso.slice(0, 10)}T00:00:00.000Z`);
        expect(day.end - day.start).toBe(86_400_000);
        const month = periodAt('month', at);
        expect(new Date(month.start).toISOString()).toBe(`${iso.slice(0, 7)}-01T00:00:00.000Z`);
        expect(new Date(month.end - 1).toISOString().slice(0, 7)).toBe(iso.slice(0, 7));
        expect(new Date(month.end).getUTCDate()).toBe(1);
        for (const { start, end } of [day, month]) {
          expect(start <= at && at < end).toBe(true);
        }
      }),
    );
  });

  test.each([
    ['2028-02-28T23:59:59.999Z', '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', '2028-03-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['2027-02-28T12:00:00.000Z', '2027-03-01T00:00:00.000Z', '2027-03-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['2026-10-25T00:30:00.000Z', '2026-10-26T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
  ])('%s ends its day at %s and its month at %s', (at, dayEnd, monthEnd) => {
    const now = Date.parse(at);
    expect(new Date(periodAt('day', now).end).toISOString()).toBe(dayEnd);
    expect(new Date(periodAt('month', now).end).toISOString()).toBe(monthEnd);
  });
});

describe('a limit', () => {
  test('refuses exactly the calls that a plain count refuses', () => {
    assert(
      property(quota, record({ day: amount, month: amount }), amount, amount, (...given) => {
        const [rules, use, reserved, asked] = given;
        const now = Date.UTC(2026, 1, 28, 12);
        const spent = spentLimit(rules, { use, reserved, asked, now });
        const reached = QUOTA_PERIODS.flatMap((period) =>
          QUOTA_UNITS.filter((unit) => plain(asked, unit) > 0).flatMap((unit) => {
            const limit = rules[period][unit];
            const sum = plain(use[period], unit) + plain(reserved, unit);
            return limit === undefined || sum < limit ? [] : [{ period, unit, limit }];
          }),
        );
        if (spent === null) expect(reached).toEqual([]);
        else {
          const { period, unit, limit, isReserved } = spent;
          expect(reached).toContainEqual({ period, unit, limit });
          expect(isReserved).toBe(plain(use[period], unit) < limit);
          // What is really used up is told before what is only reserved.
          const isUsedUp = reached.some((one) => plain(use[one.period], one.unit) >= one.limit);
          expect(isReserved).toBe(!isUsedUp);
        }
      }),
    );
  });

  test('calls that reserve before they run pass it by one call altogether at most', () => {
    assert(property(integer({ min: 0, max: 200 }), array(integer({ min: 1, max: 50 })), run));
  });

  test('a day and a month that are both used up are told by the later end', () => {
    const use = { day: { ...NOTHING, tokens: 5 }, month: { ...NOTHING, tokens: 9 } };
    const rules = { day: { tokens: 5 }, month: { tokens: 9 } };
    const asked = { ...NOTHING, requests: 1, tokens: 1 };
    const now = Date.UTC(2026, 10, 23);
    const spent = spentLimit(rules, { use, reserved: NOTHING, asked, now });
    expect(spent).toMatchObject({ period: 'month', until: Date.UTC(2026, 11, 1) });
  });

  test('what a call does not use is not held against it', () => {
    const use = { day: { ...NOTHING, images: 4 }, month: NOTHING };
    const rules = { day: { images: 4 }, month: {} };
    const standing = { use, reserved: NOTHING, now: 0 };
    const text = { ...NOTHING, requests: 1, tokens: 10 };
    expect(spentLimit(rules, { ...standing, asked: text })).toBeNull();
    const image = { ...NOTHING, requests: 1, images: 1 };
    expect(spentLimit(rules, { ...standing, asked: image })).not.toBeNull();
  });
});

/** Starts each call as early as the rule lets it, and ends it only when none can start. */
function run(limit: number, sizes: readonly number[]): void {
  let [used, reserved] = [0, 0];
  const running: number[] = [];
  for (const size of sizes) {
    for (;;) {
      const asked = { ...NOTHING, tokens: size };
      const use = { day: { ...NOTHING, tokens: used }, month: NOTHING };
      const standing = { use, reserved: { ...NOTHING, tokens: reserved }, asked, now: 0 };
      if (spentLimit({ day: { tokens: limit }, month: {} }, standing) === null) {
        running.push(size);
        reserved += size;
        break;
      }
      const ended = running.shift();
      if (ended === undefined) return;
      reserved -= ended;
      used += ended;
      expect(used).toBeLessThan(Math.max(1, limit + 50));
    }
    const last = running.at(-1) ?? 0;
    expect(used + reserved - last).toBeLessThan(Math.max(1, limit));
  }
}

test('a sentence says which limit, how much of it is used, and until when', () => {
  const until = Date.UTC(2026, 10, 24);
  const spent: Spent = {
    period: 'day',
    unit: 'tokens',
    limit: 1_000_000,
    used: 1_000_203,
    until,
    isReserved: false,
  };
  expect(describeSpent("The API key 'laptop'", spent)).toBe(
    "The API key 'laptop' has used 1,000,203 of its 1,000,000 tokens of this day, " +
      'until 2026-11-24T00:00:00.000Z.',
  );
  expect(describeSpent('Your account', { ...spent, used: 12, isReserved: true })).toContain(
    'the rest is reserved for calls under way',
  );
});

test('rules change by what is given, and are gone when nothing is left', () => {
  const rules = { models: ['a'], day: { tokens: 5 }, month: {} };
  expect(changedRules(null, { models: ['a', 'a'], day: { tokens: 5 } })).toEqual(rules);
  expect(changedRules(rules, { month: { images: 1 } })).toEqual({ ...rules, month: { images: 1 } });
  expect(changedRules(rules, { models: null })).toEqual({ ...rules, models: null });
  expect(changedRules(rules, { models: null, day: {} })).toBeNull();
  expect(changedRules(rules, {})).toEqual(rules);
});

function plain(amount: Amount, unit: (typeof QUOTA_UNITS)[number]): number {
  return unit === 'audio_s' ? amount.audioMs / 1_000 : amount[unit];
}
