/** Draws at most once a frame: fast models send several tokens in one. */

/** Where no frame comes, as in a tab that nobody looks at. */
const UNSEEN_MS = 250;

export class Pace {
  readonly #draw: () => void;
  #frame: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  soon(): void {
    if (this.#frame !== null) return;
    this.#frame = requestAnimationFrame(() => this.now());
    this.#timer = setTimeout(() => this.now(), UNSEEN_MS);
  }

  now(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = null;
    this.#draw();
  }
}
