/** How often a machine may ask whether it has been let in: RFC 8628, section 3.5. */

/** Each time that somebody asks too early, their interval grows by so much. */
const SLOWER_BY_MS = 5_000;
/** A timer may fire a little early. */
const TOLERANCE_MS = 100;
/** Those who wait; where there are more, the one that has waited longest is not held back. */
const MAX_REMEMBERED = 1_000;

export class PollPace {
  readonly #intervalS: number;
  readonly #waiting = new Map<string, { at: number; intervalMs: number }>();

  constructor(intervalS: number) {
    this.#intervalS = intervalS;
  }

  /** Whether it is too early at `now` (monotonic ms); whoever was never noted may ask. */
  isTooEarly(device: string, now: number): boolean {
    const known = this.#waiting.get(device);
    if (known === undefined) return false;
    const isEarly = now - known.at < known.intervalMs - TOLERANCE_MS;
    known.at = now;
    if (isEarly) known.intervalMs += SLOWER_BY_MS;
    return isEarly;
  }

  /** It was told to wait. */
  note(device: string, now: number): void {
    if (this.#waiting.has(device)) return;
    const [oldest] = this.#waiting.keys();
    if (oldest !== undefined && this.#waiting.size >= MAX_REMEMBERED) this.forget(oldest);
    this.#waiting.set(device, { at: now, intervalMs: this.#intervalS * 1_000 });
  }

  /** It waits no more. */
  forget(device: string): void {
    this.#waiting.delete(device);
  }
}
