/**
 * Distinguishes a dead link from a silent one, at both ends: a ping after a time without sending,
 * and the end after a time without receiving. Any inbound frame counts.
 */

interface LivenessOptions {
  readonly pingMs: number;
  readonly deadMs: number;
  ping(): void;
  /** Must terminate, not close: a close on a clogged socket hangs 30 s. */
  dead(): void;
}

export class Liveness {
  readonly #options: LivenessOptions;
  readonly #inbound: SilenceTimer;
  #outbound: SilenceTimer;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#inbound = new SilenceTimer(options.deadMs, () => options.dead());
    this.#outbound = this.#awaitSilence();
  }

  heard(): void {
    this.#inbound.touch();
  }

  sent(): void {
    this.#outbound.touch();
  }

  stop(): void {
    this.#inbound.stop();
    this.#outbound.stop();
  }

  #awaitSilence(): SilenceTimer {
    return new SilenceTimer(this.#options.pingMs, () => {
      this.#options.ping();
      this.#outbound = this.#awaitSilence();
    });
  }
}

/**
 * Calls back after a period of silence. `touch` is called for every piece of every stream, so it
 * only records the time; the timer re-arms itself for the remaining time. Time is monotonic:
 * setting the wall clock has no effect.
 */
export class SilenceTimer {
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #heardAt = performance.now();
  #timer: NodeJS.Timeout | null;

  constructor(limitMs: number, onSilence: () => void) {
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.#timer = this.#arm(limitMs);
  }

  touch(): void {
    this.#heardAt = performance.now();
  }

  /** Whether it has neither expired nor been stopped. */
  get running(): boolean {
    return this.#timer !== null;
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #arm(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#check(), delayMs);
  }

  #check(): void {
    const leftMs = this.#limitMs - (performance.now() - this.#heardAt);
    if (leftMs > 0.5) {
      this.#timer = this.#arm(leftMs);
      return;
    }
    this.#timer = null;
    this.#onSilence();
  }
}
