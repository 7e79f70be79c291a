/** When a webhook that was tried in vain is tried again. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

export interface BackOff {
  /** After the first try, the second, and so on; the last one holds for all that follow. */
  readonly delaysMs: readonly number[];
  /** Counted from the end of the job or batch. */
  readonly maxAgeMs: number;
}

export const BACK_OFF: BackOff = {
  delaysMs: [
    5 * SECOND_MS,
    30 * SECOND_MS,
    2 * MINUTE_MS,
    10 * MINUTE_MS,
    30 * MINUTE_MS,
    HOUR_MS,
    2 * HOUR_MS,
  ],
  maxAgeMs: 24 * HOUR_MS,
};

/** Up to a fifth more or less: what failed together is not tried again together. */
const JITTER = 0.2;

/** `attempts` is what went before the try that failed now; null gives up. */
export function nextTryAt(
  delivery: { readonly attempts: number; readonly createdAt: number },
  now: number,
  { delaysMs, maxAgeMs }: BackOff,
): number | null {
  const delayMs = delaysMs[Math.min(delivery.attempts, delaysMs.length - 1)] ?? maxAgeMs;
  const at = now + Math.round(delayMs * (1 - JITTER + 2 * JITTER * Math.random()));
  return at > delivery.createdAt + maxAgeMs ? null : at;
}
