/**
 * Keys that were looked up lately. Every request needs one, and a look-up costs a hop to the
 * engine.
 */
import type { KeyHolder } from '../../port.js';

/**
 * About 600 bytes each. Unknown keys are not kept: they would let a stranger push out the real
 * ones.
 */
export const MAX_CACHED_KEYS = 10_000;

export class KeyCache {
  /** By hash, the one used last at the end. */
  readonly #holders = new Map<string, KeyHolder>();
  #changes = 0;

  async find(hash: string, read: () => Promise<KeyHolder | null>): Promise<KeyHolder | null> {
    const cached = this.#holders.get(hash);
    if (cached === undefined) return this.#readThrough(hash, read);
    this.#holders.delete(hash);
    this.#holders.set(hash, cached);
    return cached;
  }

  /** Keys or their members have changed. What is being read now is not kept either. */
  forget(): void {
    this.#changes++;
    this.#holders.clear();
  }

  async #readThrough(
    hash: string,
    read: () => Promise<KeyHolder | null>,
  ): Promise<KeyHolder | null> {
    const changesBefore = this.#changes;
    const holder = await read();
    // A change may be younger than what was read.
    if (holder !== null && changesBefore === this.#changes) this.#keep(hash, holder);
    return holder;
  }

  #keep(hash: string, holder: KeyHolder): void {
    this.#holders.set(hash, holder);
    if (this.#holders.size <= MAX_CACHED_KEYS) return;
    for (const oldest of this.#holders.keys()) {
      this.#holders.delete(oldest);
      return;
    }
  }
}
