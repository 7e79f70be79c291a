import { onWakeUp } from '@inference-gateway/agent/link/reconnect';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A machine's timers stop while it sleeps, and its clock continues. */
function sleep(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

function watched() {
  const seen = {
    wakeUps: 0,
    stop: onWakeUp(
      () => seen.wakeUps++,
      () => Date.now(),
    ),
  };
  return seen;
}

test('a machine that slept is noticed within 5 s of its waking, once', () => {
  const seen = watched();
  vi.advanceTimersByTime(3_600_000);
  expect(seen.wakeUps).toBe(0);
  sleep(60_000);
  vi.advanceTimersByTime(5_000);
  expect(seen.wakeUps).toBe(1);
  vi.advanceTimersByTime(3_600_000);
  expect(seen.wakeUps).toBe(1);
  seen.stop();
});

test('a clock that is set back, or a little late, is no sleep', () => {
  const seen = watched();
  sleep(-86_400_000);
  vi.advanceTimersByTime(10_000);
  sleep(10_000);
  vi.advanceTimersByTime(10_000);
  expect(seen.wakeUps).toBe(0);
  seen.stop();
});

test('nothing is watched after it was stopped', () => {
  const seen = watched();
  seen.stop();
  sleep(60_000);
  vi.advanceTimersByTime(60_000);
  expect(seen.wakeUps).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});
