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
