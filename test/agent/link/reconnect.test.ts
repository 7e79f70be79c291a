import { Backoff } from '@inference-gateway/agent/link/reconnect';
import { expect, it } from 'vitest';

it('waits at least as long as it is asked to', () => {
  expect(new Backoff().next(20_000)).toBeGreaterThanOrEqual(20_000);
});

it('never waits longer than a timer can: it would fire at once', () => {
  const backoff = new Backoff();
  for (let failure = 0; failure < 40; failure++) {
    expect(backoff.next(Number.MAX_SAFE_INTEGER)).toBeLessThanOrEqual(630_000);
  }
});

it('grows with every failure, and starts anew after a link that lived', () => {
  const backoff = new Backoff();
  for (let failure = 0; failure < 10; failure++) backoff.next(null);
  const late = Array.from({ length: 50 }, () => backoff.next(null));
  expect(Math.max(...late)).toBeGreaterThan(5_000);
  backoff.ended(1_000);
  const later = Array.from({ length: 50 }, () => backoff.next(null));
  expect(Math.max(...later)).toBeGreaterThan(5_000);
  // Of several coordinators, one after the other may end: the next one is there.
  backoff.ended(2_000);
  expect(backoff.next(null)).toBeLessThanOrEqual(4_000);
  backoff.ended(60_000);
  expect(backoff.next(null)).toBeLessThanOrEqual(500);
});
