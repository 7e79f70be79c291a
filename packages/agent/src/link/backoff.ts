/**
 * When to dial again: full jitter in [0, min(30 s, 0.5 s · 2^n)], so that a thousand agents do
 * not return at once.
 */

const BASE_MS = 500;
const MAX_MS = 30_000;
/** A timer of more than 24 days would fire at once, and dial without pause. */
const MAX_RETRY_AFTER_MS = 600_000;
/** A link this old ends the series: its end is a new event, not the next failure. */
const HEALTHY_MS = 60_000;

export class Backoff {
  #failures = 0;

  /**
   * The wait before the next attempt; `retryAfterMs` is what the coordinator asked for, if it
   * did.
   */
  next(retryAfterMs: number | null): number {
    const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    return Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) + Math.random() * ceiling;
  }

  /** Tells how long the link lived that has just ended. */
  ended(livedMs: number): void {
    if (livedMs >= HEALTHY_MS) this.#failures = 0;
  }
}
