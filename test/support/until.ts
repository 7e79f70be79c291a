/** Waits for conditions in tests without fixed sleeps. */
import { setTimeout as pause } from 'node:timers/promises';

interface UntilOptions {
  readonly timeoutMs?: number;
  /** Named in the error. */
  readonly what?: string;
}

/** Resolves with the condition's first truthy value; throws if there is none in time (30 s). */
export async function until<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 30_000, what = condition.toString() }: UntilOptions = {},
): Promise<NonNullable<T>> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await pause(5);
  }
}
