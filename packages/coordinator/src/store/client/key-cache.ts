/**
 * A cache of API keys: what their secrets stand for, and what jobs of theirs may do. Every request
 * and every job needs one, and a lookup costs a round trip to the engine.
 */

/**
 * About 600 bytes each. Unknown keys are not cached: a stranger could displace the real ones.
 */
export const MAX_CACHED_KEYS = 10_000;

export class KeyCache<T> {
  /** By hash or id; the most recently used is the last. */
  readonly #known = new Map<string, T>();
  readonly #isCurrent: () => boolean;
  #newest = '';
  #changes = 0;

  /** `isCurrent`: false while a change may be unknown here. Then every lookup asks the database. */
  constructor(isCurrent: () => boolean) {
    this.#isCurrent = isCurrent;
  }

  async find(name: string, read: () => Promise<T | null>): Promise<T | null> {
    const cached = this.#known.get(name);
    if (cached === undefined || !this.#isCurrent()) return this.#readThrough(name, read);
    // Each deletion may copy the table.
    if (name !== this.#newest) {
      this.#known.delete(name);
      this.#known.set(name, cached);
      this.#newest = name;
    }
    return cached;
  }

  /** Keys or their members have changed. The result of a current read is not cached either. */
  forget(): void {
    this.#changes++;
    this.#known.clear();
  }

  async #readThrough(name: string, read: () => Promise<T | null>): Promise<T | null> {
    const changesBefore = this.#changes;
    const found = await read();
    // The value may have changed after it was read.
    if (found !== null && changesBefore === this.#changes) this.#keep(name, found);
    return found;
  }

  #keep(name: string, found: T): void {
    this.#known.set(name, found);
    this.#newest = name;
    if (this.#known.size <= MAX_CACHED_KEYS) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      return;
    }
  }
}
