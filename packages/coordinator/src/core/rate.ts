/**
 * The rate limit: a sliding window a member. The window is counted in sixty slices, so that its
 * memory is fixed and no stretch of one window ever holds more than the limit.
 */

const SLICES = 60;

export interface RateStanding {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the whole limit is free again. */
  readonly resetS: number;
  /** Seconds, 1 to 60, until one more request is allowed. */
  readonly retryAfterS: number;
}

interface MemberWindow {
  /**
   * Requests by slice number modulo the array's length; one slice more than the window, for the
   * part of it now under way.
   */
  readonly counts: Float64Array;
  newest: number;
  total: number;
}

export class RateLimit {
  readonly #limit: number;
  readonly #sliceMs: number;
  readonly #windows = new Map<string, MemberWindow>();

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#sliceMs = windowMs / SLICES;
  }

  /** Counts one request at `now` (monotonic ms), unless it is one too many. */
  take(memberId: string, now: number): RateStanding {
    const window = this.#windowAt(memberId, now);
    if (window.total >= this.#limit) return this.#standing(window, now, false);
    const index = window.newest % window.counts.length;
    window.counts[index] = (window.counts[index] ?? 0) + 1;
    window.total += 1;
    return this.#standing(window, now, true);
  }

  /** The member's standing, without counting. */
  look(memberId: string, now: number): RateStanding {
    return this.#standing(this.#windowAt(memberId, now), now, true);
  }

  #windowAt(memberId: string, now: number): MemberWindow {
    const slice = Math.floor(now / this.#sliceMs);
    const known = this.#windows.get(memberId);
    const window = known ?? { counts: new Float64Array(SLICES + 1), newest: slice, total: 0 };
    if (known === undefined) this.#windows.set(memberId, window);
    const passed = Math.min(slice - window.newest, window.counts.length);
    for (let i = 1; i <= passed; i++) forget(window, window.newest + i);
    window.newest = Math.max(window.newest, slice);
    return window;
  }

  #standing(window: MemberWindow, now: number, allowed: boolean): RateStanding {
    const windowS = Math.ceil((this.#sliceMs * SLICES) / 1000);
    const untilGoneS = (age: number): number =>
      ((window.newest - age + SLICES + 1) * this.#sliceMs - now) / 1000;
    return {
      allowed,
      limit: this.#limit,
      remaining: Math.max(0, this.#limit - window.total),
      resetS: window.total === 0 ? 0 : clamp(Math.ceil(untilGoneS(youngest(window))), 1, windowS),
      retryAfterS: allowed ? 1 : clamp(Math.ceil(untilGoneS(oldest(window))), 1, 60),
    };
  }
}

/** The age, in slices, of the newest slice that holds a request. */
function youngest(window: MemberWindow): number {
  let age = 0;
  while (age < SLICES && countAt(window, age) === 0) age++;
  return age;
}

function oldest(window: MemberWindow): number {
  let age = SLICES;
  while (age > 0 && countAt(window, age) === 0) age--;
  return age;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** Empties the slice that a new one takes the place of. */
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
