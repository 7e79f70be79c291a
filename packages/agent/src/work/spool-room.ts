/** Limit for all recorded answers together. */

export const SPOOL_MAX_BYTES = 1024 ** 3;
/** Limit if there is no disk for them: gathering takes up to three times as much. */
export const MEMORY_MAX_BYTES = 128 * 1024 ** 2;

/** An answer does not fit: its job fails, and may be tried elsewhere. */
export class SpoolFull extends Error {
  constructor(options?: ErrorOptions) {
    super('the spool is full', options);
    this.name = 'SpoolFull';
  }
}

export class SpoolRoom {
  readonly #maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Throws `SpoolFull` if not that much is left. */
  take(bytes: number): void {
    if (this.#usedBytes + bytes > this.#maxBytes) throw new SpoolFull();
    this.#usedBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}
