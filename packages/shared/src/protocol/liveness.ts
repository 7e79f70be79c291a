/**
 * Tells a dead link from a silent one, at both ends: a ping after a while without having sent,
 * and the end after a while without having heard. Any inbound frame counts as life.
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
 * Calls back after a stretch of silence. `touch` is called for every byte of every stream, so it
 * only notes the time; the timer re-arms itself for what is left. Time is monotonic: a wall clock
 * set forward ends nothing.
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

  /** Whether it neither ran out nor was stopped. */
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
