/**
 * A cache of API keys. Every request needs one, and a lookup costs a round trip to the engine.
 */
import type { KeyHolder } from '../../port.js';

/**
 * About 600 bytes each. Unknown keys are not cached: a stranger could displace the real ones.
 */
export const MAX_CACHED_KEYS = 10_000;

export class KeyCache {
  /** By hash; the most recently used is the last. */
  readonly #holders = new Map<string, KeyHolder>();
  #changes = 0;

  async find(hash: string, read: () => Promise<KeyHolder | null>): Promise<KeyHolder | null> {
    const cached = this.#holders.get(hash);
    if (cached === undefined) return this.#readThrough(hash, read);
    this.#holders.delete(hash);
    this.#holders.set(hash, cached);
    return cached;
  }

  /** Keys or their members have changed. The result of a current read is not cached either. */
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
    // The value may have changed after it was read.
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
