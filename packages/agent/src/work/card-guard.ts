/** Watches whether the owner of this machine takes the card. */
import type { GameModeSettings } from '../config.js';
import type { GpuProcess, GpuSample, GpuWatch } from '../hardware/gpu-sample.js';
import { GameMode } from './game-mode.js';
import type { Intruder } from './game-mode.js';

export interface CardGuardOptions {
  readonly gpu: GpuWatch;
  readonly settings: GameModeSettings;
  /** Of these, the programs that are none of the configured servers; null: it cannot be told. */
  readonly strangers: (
    processes: readonly GpuProcess[] | null,
  ) => Promise<readonly GpuProcess[] | null>;
  /** Since when nothing of ours runs, as of `performance.now()`; null while something does. */
  readonly idleSince: () => number | null;
  /** The card was taken, or is free again. */
  readonly changed: () => void;
}

export class CardGuard {
  readonly #options: CardGuardOptions;
  readonly #mode: GameMode;
  readonly #stop: () => void;
  #isTaken = false;
  /** A sample that waits for the one before it; a newer one takes its place. */
  #next: GpuSample | null = null;
  #isJudging = false;

  constructor(options: CardGuardOptions) {
    this.#options = options;
    this.#mode = new GameMode(options.settings);
    this.#stop = options.gpu.onSample((sample) => void this.#take(sample));
  }

  /** Null: the card is free. */
  get intruder(): Intruder | null {
    return this.#mode.intruderAt(performance.now());
  }

  close(): void {
    this.#next = null;
    this.#stop();
  }

  async #take(sample: GpuSample): Promise<void> {
    this.#next = sample;
    if (this.#isJudging) return;
    this.#isJudging = true;
    for (let one: GpuSample | null = sample; one !== null; one = this.#next) {
      this.#next = null;
      await this.#judge(one);
    }
    this.#isJudging = false;
  }

  async #judge({ at, cards, processes }: GpuSample): Promise<void> {
    const { strangers, idleSince, changed } = this.#options;
    const theirs = await strangers(processes);
    const seen = { at, cards, processes, strangers: theirs, idleSince: idleSince() };
    // Where no sample came for a while it was given back by the clock, which tells nobody here.
    const hasLapsed = this.#isTaken && this.#mode.intruderAt(at) === null;
    this.#mode.see(seen);
    const isTaken = this.#mode.intruderAt(at) !== null;
    if (isTaken === this.#isTaken && !hasLapsed) return;
    this.#isTaken = isTaken;
    changed();
  }
}
