import { setTimeout as pause } from 'node:timers/promises';

/** Waits; throws what the signal is aborted with, and not an error of the timer's own. */
export async function pauseUnless(signal: AbortSignal, ms: number): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}
