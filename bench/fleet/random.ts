/**
 * Numbers that a seed repeats (mulberry32). Each source is independent of the others, so that each
 * home behaves the same again, whatever the others do.
 */
export class Random {
  #state: number;

  /** Neighbouring seeds and indices give unlike numbers. */
  constructor(seed: number, index = 0) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** As long as the time until the next of independent events that come so far apart on average. */
  wait(meanMs: number): number {
    return -Math.log(1 - this.next()) * meanMs;
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.below(list.length)] ?? list[0];
  }
}
