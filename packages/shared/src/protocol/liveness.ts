/**
 * Tells a dead link from a silent one, at both ends: a ping after a while without having sent,
 * and the end after a while without having heard. Any inbound frame counts as life.
 */
import { SilenceTimer } from './silence.js';

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
