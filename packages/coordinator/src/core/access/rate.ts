/**
 * The rate limit: one sliding window per member. The window is divided into sixty slices, so its
 * memory is fixed. A request counts until its whole slice is one window old, at most one slice
 * longer than necessary: no stretch of one window ever contains more than the limit.
 */

export const SLICES = 60;

export interface RateStanding {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the whole limit is free again. */
  readonly resetS: number;
  /** Seconds, 1 to 60, until one more request is allowed. */
  readonly retryAfterS: number;
}

/** A rate limit, of one coordinator or of several together. */
export interface Rate {
  /**
   * Counts one request at `now` (monotonic ms), unless it exceeds the limit. `limit` is the
   * member's own; null means the default.
   */
  take(memberId: string, now: number, limit?: number | null): RateStanding | Promise<RateStanding>;
  /** The member's standing, without counting. */
  look(memberId: string, now: number, limit?: number | null): RateStanding;
}

interface MemberWindow {
  /**
   * Requests by slice number modulo the array's length; one slice more than the window, for the
   * current partial slice.
   */
  readonly counts: Float64Array;
  newest: number;
  total: number;
}

export class RateLimit implements Rate {
  readonly #limit: number;
  readonly #sliceMs: number;
  readonly #maxMembers: number;
  readonly #windows = new Map<string, MemberWindow>();
  #sweptAt = 0;

  /** Beyond `maxMembers`, the members with the fewest requests are forgotten. */
  constructor(limit: number, windowMs: number, maxMembers = Infinity) {
    this.#limit = limit;
    this.#maxMembers = maxMembers;
    this.#sliceMs = windowMs / SLICES;
  }

  /** Members whose requests are held in memory: about 600 bytes each. */
  get members(): number {
    return this.#windows.size;
  }

  take(memberId: string, now: number, limit: number | null = null): RateStanding {
    this.#forgetIdle(now);
    const window = this.#windowAt(memberId, now);
    if (!this.#windows.has(memberId)) this.#makeRoom(now);
    this.#windows.set(memberId, window);
    const most = limit ?? this.#limit;
    if (window.total >= most) return this.#standing(window, now, { most, allowed: false });
    const index = window.newest % window.counts.length;
    window.counts[index] = (window.counts[index] ?? 0) + 1;
    window.total += 1;
    return this.#standing(window, now, { most, allowed: true });
  }

  look(memberId: string, now: number, limit: number | null = null): RateStanding {
    const most = limit ?? this.#limit;
    return this.#standing(this.#windowAt(memberId, now), now, { most, allowed: true });
  }

  #windowAt(memberId: string, now: number): MemberWindow {
    const slice = this.#sliceAt(now);
    const known = this.#windows.get(memberId);
    if (known === undefined) {
      return { counts: new Float64Array(SLICES + 1), newest: slice, total: 0 };
    }
    const passed = Math.min(slice - known.newest, known.counts.length);
    for (let i = 1; i <= passed; i++) forget(known, known.newest + i);
    known.newest = Math.max(known.newest, slice);
    return known;
  }

  /** Runs once per window, so a member who left is kept for two windows at most. */
  #forgetIdle(now: number): void {
    const slice = this.#sliceAt(now);
    if (slice - this.#sweptAt <= SLICES) return;
    this.#sweptAt = slice;
    for (const [memberId, { newest }] of this.#windows) {
      if (slice - newest > SLICES) this.#windows.delete(memberId);
    }
  }

  #makeRoom(now: number): void {
    if (this.#windows.size < this.#maxMembers) return;
    const slice = this.#sliceAt(now);
    forgetLeast(this.#windows, ({ newest, total }) => (slice - newest > SLICES ? 0 : total));
  }

  #sliceAt(now: number): number {
    return Math.floor(now / this.#sliceMs);
  }

  #standing(
    window: MemberWindow,
    now: number,
    { most, allowed }: { readonly most: number; readonly allowed: boolean },
  ): RateStanding {
    const windowS = Math.ceil((this.#sliceMs * SLICES) / 1000);
    const untilGoneS = (age: number): number =>
      ((window.newest - age + SLICES + 1) * this.#sliceMs - now) / 1000;
    return {
      allowed,
      limit: most,
      remaining: Math.max(0, most - window.total),
      resetS: window.total === 0 ? 0 : clamp(Math.ceil(untilGoneS(youngest(window))), 1, windowS),
      retryAfterS: allowed ? 1 : clamp(Math.ceil(untilGoneS(hindering(window, most))), 1, 60),
    };
  }
}

/** The age, in slices, of the newest slice that holds a request. */
function youngest(window: MemberWindow): number {
  let age = 0;
  while (age < SLICES && countAt(window, age) === 0) age++;
  return age;
}

/**
 * The age of the slice that has to expire before one more request is allowed: the oldest slice with
 * a request, or a newer one if the limit was lowered below what has been sent.
 */
function hindering(window: MemberWindow, limit: number): number {
  let left = window.total;
  for (let age = SLICES; age > 0; age--) {
    left -= countAt(window, age);
    if (left < limit) return age;
  }
  return 0;
}

export function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** Empties a slice before it is reused. */
function forget(window: MemberWindow, slice: number): void {
  const index = slice % window.counts.length;
  window.total -= window.counts[index] ?? 0;
  window.counts[index] = 0;
}

/** Requests in the slice that is `age` slices old. */
function countAt(window: MemberWindow, age: number): number {
  const length = window.counts.length;
  return window.counts[(((window.newest - age) % length) + length) % length] ?? 0;
}

/**
 * Makes room in a map of counts: drops the 10% of its entries with the smallest counts, the
 * oldest of equal ones first, so that a flood of new names cannot remove what is counted against
 * another. `countOf` must be 0 for an entry that no longer counts.
 */
export function forgetLeast<T>(entries: Map<string, T>, countOf: (entry: T) => number): void {
  const counted = Array.from(entries, ([key, entry]) => ({ key, count: countOf(entry) }));
  counted.sort((a, b) => a.count - b.count);
  for (const { key } of counted.slice(0, Math.ceil(counted.length / 10))) entries.delete(key);
}
