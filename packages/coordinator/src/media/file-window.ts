/** Reads parts of a file synchronously. Use it only in a thread that does nothing else. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const WINDOW_BYTES = 64 * 1024;

export class FileWindow {
  readonly size: number;
  readonly #descriptor: number;
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #from = 0;
  #length = 0;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.size = fstatSync(this.#descriptor).size;
  }

  /** The bytes are valid until the next call. Fewer at the end of the file. At most 64 KiB. */
  bytes(at: number, length: number): Buffer {
    if (at >= this.size) return this.#window.subarray(0, 0);
    if (at < this.#from || at + length > this.#from + this.#length) this.#load(at);
    const start = at - this.#from;
    return this.#window.subarray(start, Math.min(start + length, this.#length));
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #load(at: number): void {
    this.#from = at;
    this.#length = readSync(this.#descriptor, this.#window, 0, WINDOW_BYTES, at);
  }
}
