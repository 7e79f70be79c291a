import { setTimeout as pause } from 'node:timers/promises';

/** Waits; throws the signal's abort reason, instead of the timer's own error. */
export async function pauseUnless(signal: AbortSignal, ms: number): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}
