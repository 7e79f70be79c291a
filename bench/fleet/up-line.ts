import { setTimeout as pause } from 'node:timers/promises';

/** The uplink of a home: each piece takes its time, one after the other. */
export class UpLine {
  readonly #bytesPerSecond: number | null;
  #freeAtMs = 0;

  constructor(bytesPerSecond: number | null) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Resolves when so many bytes have got through. */
  async carry(bytes: number): Promise<void> {
    if (this.#bytesPerSecond === null) return;
    const now = performance.now();
    this.#freeAtMs = Math.max(now, this.#freeAtMs) + (bytes * 1_000) / this.#bytesPerSecond;
    await pause(this.#freeAtMs - now);
  }
}
