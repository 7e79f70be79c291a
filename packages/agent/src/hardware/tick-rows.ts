/**
 * Programs print a row a card or process, and nothing between two rounds: a round is over when a
 * row comes again, or after a moment without one.
 */

/** All rows of one round are printed at once. */
const QUIET_MS = 25;

export class TickRows<Row> {
  readonly #done: (rows: readonly Row[]) => void;
  #rows = new Map<string, Row>();
  #timer: NodeJS.Timeout | undefined;

  constructor(done: (rows: readonly Row[]) => void) {
    this.#done = done;
  }

  add(key: string, row: Row): void {
    if (this.#rows.has(key)) this.#finish();
    this.#rows.set(key, row);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#finish(), QUIET_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#rows.clear();
  }

  #finish(): void {
    clearTimeout(this.#timer);
    const rows = [...this.#rows.values()];
    this.#rows = new Map();
    this.#done(rows);
  }
}
