import { RateLimit } from '@inference-gateway/coordinator/core/rate';
import { expect, it } from 'vitest';

const MINUTE = 60_000;

it('a member may send the limit within a window, and not one more', () => {
  const limit = new RateLimit(3, MINUTE);
  expect([1, 2, 3, 4].map((now) => limit.take('anna', now).allowed)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

it('the remaining count goes down to zero and stays there', () => {
  const limit = new RateLimit(2, MINUTE);
  expect([0, 0, 0].map(() => limit.take('anna', 0).remaining)).toEqual([1, 0, 0]);
});

it('a refused request does not count', () => {
  const limit = new RateLimit(1, MINUTE);
  limit.take('anna', 0);
  for (let now = 1; now < MINUTE; now += 1_000) limit.take('anna', now);
  expect(limit.take('anna', MINUTE + 1_000).allowed).toBe(true);
});

it('members do not share a window', () => {
  const limit = new RateLimit(1, MINUTE);
  limit.take('anna', 0);
  expect(limit.take('ben', 0).allowed).toBe(true);
});

it('no stretch of one window holds more than the limit, however requests fall', () => {
  const limit = new RateLimit(10, MINUTE);
  const accepted: number[] = [];
  for (let now = 0; now < 10 * MINUTE; now += 700 + ((now * 7919) % 1_500)) {
    if (limit.take('anna', now).allowed) accepted.push(now);
  }
  for (const from of accepted) {
    const within = accepted.filter((at) => at >= from && at < from + MINUTE);
    expect(within.length).toBeLessThanOrEqual(10);
  }
  expect(accepted.length).toBeGreaterThan(80);
});

it('Retry-After is the time after which one more is allowed, in whole seconds from 1 to 60', () => {
  const limit = new RateLimit(1, MINUTE);
  limit.take('anna', 30_500);
  const refused = limit.take('anna', 31_000);
  expect(refused.retryAfterS).toBe(60);
  const later = limit.take('anna', 80_000);
  expect(later.retryAfterS).toBeGreaterThan(1);
  expect(limit.take('anna', 80_000 + later.retryAfterS * 1000).allowed).toBe(true);
});

it('looking counts nothing, and the reset tells when the whole limit is free again', () => {
  const limit = new RateLimit(5, MINUTE);
  expect(limit.look('anna', 0)).toMatchObject({ remaining: 5, resetS: 0 });
  limit.take('anna', 0);
  limit.take('anna', 20_000);
  expect(limit.look('anna', 20_000)).toMatchObject({ remaining: 3, resetS: 60 });
});

it('the whole limit is back after a long silence', () => {
  const limit = new RateLimit(2, MINUTE);
  limit.take('anna', 0);
  limit.take('anna', 0);
  expect(limit.look('anna', 1e9)).toMatchObject({ remaining: 2, resetS: 0 });
});
