/** Durations in buckets: what they are counted as, and how far a quantile of them may be wrong. */
import { array, assert, constantFrom, integer, nat, oneof, property } from 'fast-check';
import {
  BUCKETS,
  BUCKET_ENDS_MS,
  bucketOf,
  quantileMs,
} from '@inference-gateway/coordinator/core/usage/durations';
import { expect, test } from 'vitest';

test.each([
  [0, 0],
  [1, 0],
  [2, 1],
  [6, 3],
  [7, 4],
  [562, 11],
  [562.5, 12],
  [600_000, 23],
  [600_001, 24],
])('%d ms are counted in bucket %d', (ms, bucket) => {
  expect(bucketOf(ms)).toBe(bucket);
});

test('the ends of the buckets rise by at most a factor of two', () => {
  for (const [i, end] of BUCKET_ENDS_MS.entries()) {
    const start = BUCKET_ENDS_MS[i - 1] ?? end / 2;
    expect(end).toBeGreaterThan(start);
    expect(end / start).toBeLessThanOrEqual(2);
  }
});

test('without durations there is no quantile', () => {
  expect(quantileMs(countsOf([]), 0.5)).toBeNull();
});

test('beyond ten minutes it is ten minutes', () => {
  expect(quantileMs(countsOf([3_600_000]), 0.5)).toBe(600_000);
});

test('a quantile is at most a factor of two, or 1 ms, from the exact one', () => {
  const durations = array(integer({ min: 0, max: 600_000 }), {
    minLength: 1,
    maxLength: 300,
  });
  // Small ones are as frequent as large ones.
  const small = array(integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 300 });
  const share = constantFrom(0.01, 0.5, 0.9, 0.95, 0.99, 1);
  assert(
    property(oneof(durations, small), share, (values, wanted) => {
      const exact = values.toSorted((a, b) => a - b)[Math.ceil(wanted * values.length) - 1] ?? NaN;
      const estimate = quantileMs(countsOf(values), wanted) ?? NaN;
      if (exact <= 1) expect(Math.abs(estimate - exact)).toBeLessThanOrEqual(1);
      else expect(Math.max(estimate / exact, exact / estimate)).toBeLessThanOrEqual(2);
    }),
  );
});

test('counts of two halves add up to those of the whole', () => {
  assert(
    property(array(nat(900_000)), array(nat(900_000)), (one, other) => {
      const [a, b] = [countsOf(one), countsOf(other)];
      expect(a.map((count, i) => count + (b[i] ?? 0))).toEqual(countsOf([...one, ...other]));
    }),
  );
});

function countsOf(durations: readonly number[]): number[] {
  const counts = Array.from({ length: BUCKETS }, () => 0);
  for (const ms of durations) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
  return counts;
}
