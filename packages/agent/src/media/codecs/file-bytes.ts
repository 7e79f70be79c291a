/**
 * Random access to a file's bytes through one window, so that little of a large file is in memory.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const WINDOW_BYTES = 256 * 1024;

export class FileBytes {
  readonly size: number;
  readonly #file: number;
  #window = Buffer.alloc(0);
  #start = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.size = fstatSync(this.#file).size;
  }

  /**
   * This many bytes, or fewer if the file ends. They are valid until the next call: a caller that
   * keeps them must copy them.
   */
  read(at: number, count: number): Buffer {
    const from = at - this.#start;
    if (from >= 0 && from + count <= this.#window.length) {
      return this.#window.subarray(from, from + count);
    }
    const wanted = Math.max(0, Math.min(Math.max(count, WINDOW_BYTES), this.size - at));
    const window = Buffer.allocUnsafe(wanted);
    let filled = 0;
    while (filled < wanted) {
      const bytes = readSync(this.#file, window, filled, wanted - filled, at + filled);
      if (bytes === 0) break;
      filled += bytes;
    }
    this.#start = at;
    this.#window = window.subarray(0, filled);
    return this.#window.subarray(0, count);
  }

  close(): void {
    closeSync(this.#file);
  }
}
