/** Many signs of one thing, told as few: soon after the first, and then at most so often. */

/** What happens in one go, such as the claims of one round, is told once. */
const SOON_MS = 25;

export class Pulse {
  readonly #gapMs: number;
  readonly #beat: () => void;
  #timer: NodeJS.Timeout | null = null;
  #beatAt = -Infinity;

  constructor(gapMs: number, beat: () => void) {
    this.#gapMs = gapMs;
    this.#beat = beat;
  }

  /** Costs next to nothing while it is about to be told: slots come free all the time. */
  readonly mark = (): void => {
    if (this.#timer !== null) return;
    const waitMs = Math.max(SOON_MS, this.#beatAt + this.#gapMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#beatAt = performance.now();
      this.#beat();
    }, waitMs).unref();
  };

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
