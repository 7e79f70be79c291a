/**
 * Bytes that come in pieces, gathered in one block of memory. A list of the pieces would cost some
 * 200 bytes each, and whoever sends one byte at a time decides how many there are.
 */

const MIN_BLOCK_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

export class GatheredBytes {
  #block: Buffer = NOTHING;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What was gathered so far; shares memory with the pieces and with this. */
  get bytes(): Buffer {
    return this.#block.subarray(0, this.#length);
  }

  /** The first piece is kept as it is: most bodies are one piece, and are not copied. */
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
