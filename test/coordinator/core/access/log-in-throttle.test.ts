import {
  FIRM,
  GENTLE,
  LogInThrottle,
  MAX_TRACKED,
} from '@inference-gateway/coordinator/core/access/log-in-throttle';
import { expect, it } from 'vitest';

const MINUTE = 60_000;
const FREE_TRIES = FIRM.freeTries;
const KEY = 'anna@example.org';

/** Wrong attempts, each as early as allowed; returns the wait before each. */
function guess(throttle: LogInThrottle, count: number, key = KEY): number[] {
  let now = 0;
  return Array.from({ length: count }, () => {
    const waitMs = throttle.waitMs(key, now);
    now += waitMs;
    throttle.begin(key, now);
    return waitMs;
  });
}

it('five wrong attempts cost nothing; then the wait doubles from 1 s to 15 min', () => {
  const waits = guess(new LogInThrottle(FIRM), 17).map((ms) => ms / 1_000);
  expect(waits.slice(0, FREE_TRIES)).toEqual([0, 0, 0, 0, 0]);
  expect(waits.slice(FREE_TRIES)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
});

it('of one account fifty cost nothing, and then nobody waits longer than 10 s', () => {
  const waits = guess(new LogInThrottle(GENTLE), 57).map((ms) => ms / 1_000);
  expect(waits.slice(0, 50).every((wait) => wait === 0)).toBe(true);
  expect(waits.slice(50)).toEqual([1, 2, 4, 8, 10, 10, 10]);
});

it('attempts that begin together are counted before any of them has ended', () => {
  const throttle = new LogInThrottle(FIRM);
  const begun = Array.from({ length: 100 }, () => {
    const may = throttle.waitMs(KEY, 0) === 0;
    if (may) throttle.begin(KEY, 0);
    return may;
  });
  expect(begun.filter(Boolean)).toHaveLength(FREE_TRIES);
});

it('the wait begins when the wrong one has ended, however long that took', () => {
  const throttle = new LogInThrottle(FIRM);
  for (let i = 0; i < FREE_TRIES; i++) throttle.begin(KEY, 0);
  expect(throttle.waitMs(KEY, 3_000)).toBe(0);
  throttle.confirm(KEY, 3_000);
  expect(throttle.waitMs(KEY, 3_000)).toBe(1_000);
  throttle.confirm('nobody', 3_000);
  expect(throttle.tracked).toBe(1);
});

it('a right one forgets the wrong ones before it', () => {
  const throttle = new LogInThrottle(FIRM);
  guess(throttle, FREE_TRIES);
  throttle.forget(KEY);
  expect(guess(throttle, FREE_TRIES + 1)).toEqual([0, 0, 0, 0, 0, 1_000]);
});

it('one that is taken back leaves the others as they were', () => {
  const throttle = new LogInThrottle(FIRM);
  guess(throttle, FREE_TRIES - 1);
  throttle.begin(KEY, 0);
  throttle.takeBack(KEY);
  expect(throttle.waitMs(KEY, 0)).toBe(0);
  throttle.begin(KEY, 0);
  expect(throttle.waitMs(KEY, 0)).toBe(1_000);
});

it('taking back the only one leaves nothing', () => {
  const throttle = new LogInThrottle(FIRM);
  throttle.begin(KEY, 0);
  throttle.takeBack(KEY);
  throttle.takeBack(KEY);
  expect(throttle.tracked).toBe(0);
});

it('others do not wait', () => {
  const throttle = new LogInThrottle(FIRM);
  guess(throttle, 9);
  expect(throttle.waitMs('ben@example.org', 0)).toBe(0);
});

it('an hour after the last attempt nothing is held against anybody', () => {
  const throttle = new LogInThrottle(FIRM);
  for (let i = 0; i < 20; i++) throttle.begin(KEY, 0);
  expect(throttle.waitMs(KEY, 1)).toBeGreaterThan(14 * MINUTE);
  throttle.begin(KEY, 60 * MINUTE + 1);
  expect(throttle.waitMs(KEY, 60 * MINUTE + 1)).toBe(0);
});

it('so many are remembered, and no flood of others makes one forgotten that has to wait', () => {
  const throttle = new LogInThrottle(FIRM);
  for (let i = 0; i < FREE_TRIES; i++) throttle.begin(KEY, 0);
  for (let i = 0; i < 3 * MAX_TRACKED; i++) {
    throttle.begin(`other ${i}`, 1);
    expect(throttle.tracked).toBeLessThanOrEqual(MAX_TRACKED);
  }
  expect(throttle.waitMs(KEY, 1)).toBe(999);
});

it('what is held against nobody any more is forgotten first', () => {
  const throttle = new LogInThrottle(FIRM);
  const begin = (key: string, tries: number, now: number): void => {
    for (let i = 0; i < tries; i++) throttle.begin(key, now);
  };
  for (let i = 0; i < MAX_TRACKED - 1; i++) begin(`past ${i}`, FREE_TRIES + 1, 0);
  begin(KEY, FREE_TRIES, 59 * MINUTE);
  begin('new', 1, 61 * MINUTE);
  expect(throttle.tracked).toBeLessThan(MAX_TRACKED);
  expect(throttle.waitMs(KEY, 59 * MINUTE)).toBe(1_000);
});
