/**
 * Slows down whoever guesses passwords: after so many that were wrong in a row, each further one
 * must wait twice as long as the one before. An attempt counts as wrong from its beginning: a
 * hundred at once are a hundred.
 */
import { forgetLeast } from './rate.js';

export interface Patience {
  /** Typing errors that cost nothing. */
  readonly freeTries: number;
  readonly maxWaitMs: number;
}

/** For whoever guesses from one address. */
export const FIRM: Patience = { freeTries: 5, maxWaitMs: 15 * 60_000 };

/**
 * For an account, wherever its guessers are: slow for a thousand machines together, and too short
 * for one of them to keep its owner out.
 */
export const GENTLE: Patience = { freeTries: 50, maxWaitMs: 10_000 };

/**
 * For an IPv6 network, whose holder has 65,536 addresses to guess from: too few at once to fill the
 * line of passwords that are checked, and too short to keep the other homes in it out.
 */
export const SHARED: Patience = { freeTries: 20, maxWaitMs: 10_000 };

const FIRST_WAIT_MS = 1_000;

/** After which nothing is held against anybody; longer than any wait. */
const MEMORY_MS = 60 * 60_000;

/** Some 200 bytes each. Beyond it those with the fewest wrong attempts are forgotten. */
export const MAX_TRACKED = 10_000;

interface Tries {
  readonly wrong: number;
  readonly lastAt: number;
}

export class LogInThrottle {
  readonly #patience: Patience;
  /** By account or address, the last attempt at the end. */
  readonly #tries = new Map<string, Tries>();

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  get tracked(): number {
    return this.#tries.size;
  }

  /** Milliseconds until the next attempt may begin; 0 where it may now (`now` is monotonic ms). */
  waitMs(key: string, now: number): number {
    const { wrong, lastAt } = this.#read(key, now);
    return Math.max(0, lastAt + waitAfter(wrong, this.#patience) - now);
  }

  /** An attempt begins, and counts as wrong until it is taken back or forgotten. */
  begin(key: string, now: number): void {
    const wrong = this.#read(key, now).wrong + 1;
    if (!this.#tries.has(key) && this.#tries.size >= MAX_TRACKED) {
      forgetLeast(this.#tries, (tries) => (isPast(tries, now) ? 0 : tries.wrong));
    }
    this.#write(key, { wrong, lastAt: now });
  }

  /** It was wrong: the next one waits from now on, however long this one took. */
  confirm(key: string, now: number): void {
    const tries = this.#tries.get(key);
    if (tries !== undefined) this.#write(key, { ...tries, lastAt: now });
  }

  /** It was not wrong, or came to no end. */
  takeBack(key: string): void {
    const tries = this.#tries.get(key);
    if (tries === undefined) return;
    if (tries.wrong <= 1) this.#tries.delete(key);
    else this.#tries.set(key, { ...tries, wrong: tries.wrong - 1 });
  }

  /** It was right: what was wrong before is forgotten. */
  forget(key: string): void {
    this.#tries.delete(key);
  }

  #read(key: string, now: number): Tries {
    const tries = this.#tries.get(key);
    return tries === undefined || isPast(tries, now) ? NONE : tries;
  }

  #write(key: string, tries: Tries): void {
    this.#tries.delete(key);
    this.#tries.set(key, tries);
  }
}

const NONE: Tries = { wrong: 0, lastAt: Number.NEGATIVE_INFINITY };

function isPast({ lastAt }: Tries, now: number): boolean {
  return now - lastAt > MEMORY_MS;
}

function waitAfter(wrong: number, { freeTries, maxWaitMs }: Patience): number {
  if (wrong < freeTries) return 0;
  return Math.min(maxWaitMs, FIRST_WAIT_MS * 2 ** (wrong - freeTries));
}

// What keeps the code of a waiting machine from being guessed, and machines from filling the
// database. A code is one of 20^8 and lives for 10 minutes. Whoever guesses is locked out, and the
// machine waits on: no count of wrong codes ends a log-in, or any member could end all of them.
//
// 1 account finds one of 10 waiting codes within their 10 minutes with 5 * 10 / 20^8, one in 500
// million. 100 accounts, each with an address of its own, while 1,000 codes wait: 100 * 5 * 1,000 /
// 20^8, one in 51,000, and each of the 100 is in the audit log.

/** In all. */
export const MAX_PENDING_DEVICES = 1_000;

/** Of the places that are free, one network has this part: 90 while nobody else waits. */
const NETWORK_PART = 10;

/**
 * Whether one more of a network may wait. The fuller it is, the fewer each network has: a hundred
 * of them take 900 places, and whoever comes then still has nine. Only a thousand fill all.
 */
export function mayWait({ own, all }: { readonly own: number; readonly all: number }): boolean {
  return NETWORK_PART * own < MAX_PENDING_DEVICES - all;
}

/** Of one account, or one user of the command line, until it is locked out. */
export const MAX_WRONG_CODES = 5;

/**
 * From one address, by all who log in there. A multiple of what one account has: no member locks
 * out the rest of a household. Loopback is not counted: it is a proxy that tells no addresses.
 */
export const MAX_WRONG_CODES_AN_ADDRESS = 4 * MAX_WRONG_CODES;

/** From the last wrong code on; after as long without one, all are forgotten. */
export const CODE_LOCK_OUT_MS = 15 * 60_000;
