import { RateLimit } from '@inference-gateway/coordinator/core/access/rate';
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

it('a burst of 200 in one moment lets exactly the limit through', () => {
  const limit = new RateLimit(60, MINUTE);
  const standings = Array.from({ length: 200 }, () => limit.take('anna', 1_234.5));
  expect(standings.filter(({ allowed }) => allowed)).toHaveLength(60);
  expect(standings.slice(0, 60).every(({ allowed }) => allowed)).toBe(true);
});

it.each([500, 999, 1_000, 1_001, 30_000, 59_999])(
  'no stretch of one window holds more than the limit after bursts %d ms apart',
  (apartMs) => {
    const limit = new RateLimit(60, MINUTE);
    const accepted: number[] = [];
    for (let now = 17; now < 5 * MINUTE; now += apartMs) {
      for (let i = 0; i < 25; i++) if (limit.take('anna', now).allowed) accepted.push(now);
    }
    const most = accepted.map((from) => accepted.filter((at) => at >= from && at < from + MINUTE));
    expect(Math.max(...most.map(({ length }) => length))).toBe(
      Math.min(60, 25 * Math.ceil(MINUTE / apartMs)),
    );
  },
);

it("a member's own limit stands in for the default, both ways and from the next request on", () => {
  const limit = new RateLimit(2, MINUTE);
  expect([0, 0, 0].map(() => limit.take('anna', 0, 3).allowed)).toEqual([true, true, true]);
  expect(limit.take('anna', 0, 3)).toMatchObject({ allowed: false, limit: 3, remaining: 0 });
  expect(limit.take('anna', 0, 5)).toMatchObject({ allowed: true, limit: 5, remaining: 1 });
  expect(limit.take('anna', 0, 1)).toMatchObject({ allowed: false, limit: 1, remaining: 0 });
  expect(limit.look('anna', 0)).toMatchObject({ limit: 2, remaining: 0 });
  expect(limit.take('ben', 0)).toMatchObject({ allowed: true, limit: 2 });
});

it('Retry-After counts what a lowered limit is behind', () => {
  const limit = new RateLimit(3, MINUTE);
  limit.take('anna', 0);
  limit.take('anna', 20_000);
  limit.take('anna', 40_000);
  // With a limit of one, all three requests must have left the window.
  const refused = limit.take('anna', 50_000, 1);
  expect(refused.retryAfterS).toBe(51);
  expect(limit.take('anna', 50_000 + 50_000, 1).allowed).toBe(false);
  expect(limit.take('anna', 50_000 + 51_000, 1).allowed).toBe(true);
});

it('a member who was idle for two windows is not held in memory, one who was not is', () => {
  const limit = new RateLimit(5, MINUTE);
  for (let i = 0; i < 1_000; i++) limit.take(`member-${i}`, 0);
  limit.take('anna', MINUTE / 2);
  expect(limit.members).toBe(1_001);
  expect(limit.take('anna', MINUTE + 1_000).remaining).toBe(3);
  expect(limit.members).toBe(1);
});

it('looking holds nobody in memory', () => {
  const limit = new RateLimit(5, MINUTE);
  expect(limit.look('anna', 0)).toMatchObject({ remaining: 5, limit: 5 });
  expect(limit.members).toBe(0);
});
