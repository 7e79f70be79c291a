import { BACK_OFF, nextTryAt } from '@inference-gateway/coordinator/jobs/webhooks/sender';
import { describe, expect, test } from 'vitest';

const NOW = 1_760_000_000_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('the time to the next try', () => {
  test.each([
    [0, 5_000],
    [1, 30_000],
    [2, 2 * MINUTE_MS],
    [3, 10 * MINUTE_MS],
    [4, 30 * MINUTE_MS],
    [5, HOUR_MS],
    [6, 2 * HOUR_MS],
    [14, 2 * HOUR_MS],
  ])('after %i tries before this one is %i ms, up to a fifth more or less', (attempts, ms) => {
    const delays = Array.from({ length: 500 }, () => {
      return (nextTryAt({ attempts, createdAt: NOW }, NOW, BACK_OFF) ?? 0) - NOW;
    });
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0.8 * ms);
    expect(Math.max(...delays)).toBeLessThanOrEqual(1.2 * ms);
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(0.2 * ms);
  });

  test('is never more than a day after the end', () => {
    const createdAt = NOW - 22 * HOUR_MS;
    const times = Array.from({ length: 500 }, () =>
      nextTryAt({ attempts: 12, createdAt }, NOW, BACK_OFF),
    );
    expect(times).toContain(null);
    const latest = createdAt + 24 * HOUR_MS;
    expect(times.every((at) => at === null || at <= latest)).toBe(true);
  });
});

test('a message that fails from the first is tried some sixteen times within its day', () => {
  let [tries, at]: [number, number | null] = [0, NOW];
  while (at !== null) {
    at = nextTryAt({ attempts: tries, createdAt: NOW }, at, BACK_OFF);
    tries += 1;
  }
  expect(tries).toBeGreaterThanOrEqual(15);
  expect(tries).toBeLessThanOrEqual(20);
});
