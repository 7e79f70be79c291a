/** Waits for conditions in tests without fixed sleeps. */
import { setTimeout as pause } from 'node:timers/promises';

interface UntilOptions {
  readonly timeoutMs?: number;
  /** Named in the error. */
  readonly what?: string;
}

/** Each look takes time of processes that others wait for: a long wait is ended 50 ms late. */
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 50;

/** The long forms of the tests keep the machine busy for longer. */
const PATIENCE_MS = process.env['FAULTS'] === 'full' ? 120_000 : 30_000;

/** Resolves with the condition's first truthy value; throws if there is none in time. */
export async function until<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = PATIENCE_MS, what = condition.toString() }: UntilOptions = {},
): Promise<NonNullable<T>> {
  const begin = performance.now();
  for (;;) {
    const value = await condition();
    if (value) return value;
    const waitedMs = performance.now() - begin;
    if (waitedMs > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await pause(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, waitedMs / 10)));
  }
}
