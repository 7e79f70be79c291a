/**
 * Collects bytes that arrive in pieces in one block of memory. A list of the pieces would cost
 * about 200 bytes each, and a sender of single bytes decides their number.
 */

const MIN_BLOCK_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

export class GatheredBytes {
  #block: Buffer = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes so far; shares memory with the pieces and with this object. */
  get bytes(): Buffer {
    return this.#block.subarray(0, this.#length);
  }

  /** The first piece is kept: most bodies are one piece, which is not copied. */
  append(piece: Uint8Array): void {
    if (this.#length === 0) {
      this.#block = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    } else {
      this.#reserve(this.#length + piece.length);
      this.#block.set(piece, this.#length);
    }
    this.#length += piece.length;
  }

  clear(): void {
    this.#block = NOTHING;
    this.#length = 0;
  }

  /** Doubles, so that each byte is moved twice at most on average. */
  #reserve(length: number): void {
    if (length <= this.#block.length) return;
    const block = Buffer.allocUnsafe(Math.max(length, 2 * this.#block.length, MIN_BLOCK_BYTES));
    block.set(this.bytes);
    this.#block = block;
  }
}

/**
 * A piece from this size on is kept as it is. It may share 64 KiB of a socket with other bytes,
 * which stay in memory as long as the piece.
 */
const KEPT_BYTES = 32 * 1024;

/** The same without copies of large pieces, for bytes that are only passed on. */
export class GatheredPieces {
  #pieces: Buffer[] = [];
  #small = new GatheredBytes();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** In order; they share memory with the appended ones. */
  get pieces(): readonly Buffer[] {
    return this.#small.length === 0 ? this.#pieces : [...this.#pieces, this.#small.bytes];
  }

  /** All of them joined, which copies them unless there is only one. */
  get bytes(): Buffer {
    const [first = NOTHING, ...more] = this.pieces;
    return more.length === 0 ? first : Buffer.concat(this.pieces, this.#length);
  }

  append(piece: Uint8Array): void {
    this.#length += piece.length;
    if (piece.length < KEPT_BYTES) this.#small.append(piece);
    if (piece.length >= KEPT_BYTES || this.#small.length >= KEPT_BYTES) this.#endSmall();
    if (piece.length < KEPT_BYTES) return;
    this.#pieces.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
  }

  clear(): void {
    this.#pieces = [];
    this.#small = new GatheredBytes();
    this.#length = 0;
  }

  /** In a copy of their own size. */
  #endSmall(): void {
    if (this.#small.length > 0) this.#pieces.push(Buffer.from(this.#small.bytes));
    this.#small = new GatheredBytes();
  }
}
