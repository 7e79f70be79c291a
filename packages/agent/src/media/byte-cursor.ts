/** Bytes that come in pieces, taken in the portions that a file format has. */
export class ByteCursor {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#pieces = source[Symbol.asyncIterator]();
  }

  /** So many bytes at once, or fewer where there are no more. */
  async take(count: number): Promise<Buffer> {
    const pieces = [this.#held];
    let bytes = this.#held.length;
    while (bytes < count) {
      const next = await this.#pieces.next();
      if (next.done === true) break;
      pieces.push(Buffer.from(next.value));
      bytes += next.value.length;
    }
    const all = pieces.length === 1 ? this.#held : Buffer.concat(pieces);
    this.#held = all.subarray(count);
    return all.subarray(0, count);
  }

  /** So many bytes as they come. */
  async *pass(count: number): AsyncGenerator<Buffer> {
    let left = count;
    while (left > 0) {
      const piece = this.#held.length > 0 ? this.#held : await this.#next();
      if (piece === null) return;
      this.#held = piece.subarray(left);
      left -= Math.min(left, piece.length);
      yield piece.subarray(0, piece.length - this.#held.length);
    }
  }

  /** Whoever reads no further says so. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #next(): Promise<Buffer | null> {
    const next = await this.#pieces.next();
    return next.done === true ? null : Buffer.from(next.value);
  }
}
