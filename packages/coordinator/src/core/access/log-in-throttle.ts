/**
 * Slows down password guessing: after `freeTries` wrong attempts in a row, each further attempt
 * must wait twice as long as the one before. An attempt counts as wrong from its start, so a
 * hundred parallel attempts count as a hundred.
 */
import { forgetLeast } from './rate.js';

export interface Patience {
  /** Wrong attempts without a delay, for typing errors. */
  readonly freeTries: number;
  readonly maxWaitMs: number;
}

/** For guesses from one address. */
export const FIRM: Patience = { freeTries: 5, maxWaitMs: 15 * 60_000 };

/**
 * For guesses at one account from any address: slow for a thousand machines together, and too short
 * for one of them to lock out the owner.
 */
export const GENTLE: Patience = { freeTries: 50, maxWaitMs: 10_000 };

/**
 * For an IPv6 network, whose holder has 65,536 addresses to guess from: few enough at once that
 * they cannot fill the queue of password checks, and short enough that the other homes in the
 * network are not locked out.
 */
export const SHARED: Patience = { freeTries: 20, maxWaitMs: 10_000 };

const FIRST_WAIT_MS = 1_000;

/** Wrong attempts are forgotten after this time; longer than any wait. */
export const MEMORY_MS = 60 * 60_000;

/** Some 200 bytes each. Beyond this number, those with the fewest wrong attempts are forgotten. */
export const MAX_TRACKED = 10_000;

/** The wrong attempts of an account or an address. */
export interface Tries {
  readonly wrong: number;
  readonly lastAt: number;
}

/** Who tries to log in: what wrong attempts are counted against. */
export interface Guesser {
  readonly kind: keyof typeof PATIENCE;
  readonly key: string;
}

/** `pair`: an account at one address. */
export const PATIENCE = {
  pair: FIRM,
  address: FIRM,
  network: SHARED,
  account: GENTLE,
} as const satisfies Readonly<Record<string, Patience>>;

/**
 * `wrong`; `right`: the wrong attempts before it are forgotten, of the account and not of the
 * address, which others may share; `unchecked`: it counts for nothing.
 */
export type TryEnd = 'wrong' | 'right' | 'unchecked';

/** Counts attempts to log in, of one coordinator or of several together. */
export interface LogInLimit {
  /**
   * Milliseconds until the next attempt may begin; 0 if it begins now. Then it counts as wrong
   * until its end is told.
   */
  begin(guessers: readonly Guesser[]): number | Promise<number>;
  end(guessers: readonly Guesser[], end: TryEnd): void | Promise<void>;
}

/** The counts of one coordinator, in its memory. */
export class LogInCounts implements LogInLimit {
  readonly #now: () => number;
  readonly #throttles = {
    pair: new LogInThrottle(PATIENCE.pair),
    address: new LogInThrottle(PATIENCE.address),
    network: new LogInThrottle(PATIENCE.network),
    account: new LogInThrottle(PATIENCE.account),
  };

  /** `now`: monotonic ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  begin(guessers: readonly Guesser[]): number {
    const now = this.#now();
    const waits = guessers.map(({ kind, key }) => this.#throttles[kind].waitMs(key, now));
    const waitMs = Math.max(...waits);
    if (waitMs > 0) return waitMs;
    for (const { kind, key } of guessers) this.#throttles[kind].begin(key, now);
    return 0;
  }

  end(guessers: readonly Guesser[], end: TryEnd): void {
    const now = this.#now();
    for (const { kind, key } of guessers) {
      const throttle = this.#throttles[kind];
      if (end === 'wrong') throttle.confirm(key, now);
      else if (end === 'right' && isOfAccount(kind)) throttle.forget(key);
      else throttle.takeBack(key);
    }
  }
}

// The rules, for one guesser.

export function waitMsOf({ wrong, lastAt }: Tries, kind: Guesser['kind'], now: number): number {
  // An attempt in the future was counted before the clock was set back.
  return Math.max(0, Math.min(lastAt, now) + waitAfter(wrong, PATIENCE[kind]) - now);
}

export function begun(tries: Tries, now: number): Tries {
  return { wrong: tries.wrong + 1, lastAt: now };
}

/** Null: nothing is left to count. */
export function ended(
  tries: Tries,
  {
    kind,
    end,
    now,
  }: { readonly kind: Guesser['kind']; readonly end: TryEnd; readonly now: number },
): Tries | null {
  if (end === 'wrong') return { ...tries, lastAt: now };
  if (tries.wrong <= 1 || (end === 'right' && isOfAccount(kind))) return null;
  return { ...tries, wrong: tries.wrong - 1 };
}

function isOfAccount(kind: Guesser['kind']): boolean {
  return kind === 'pair' || kind === 'account';
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

  /**
   * Milliseconds until the next attempt may begin; 0 if it may begin now (`now` is monotonic ms).
   */
  waitMs(key: string, now: number): number {
    const { wrong, lastAt } = this.#read(key, now);
    return Math.max(0, lastAt + waitAfter(wrong, this.#patience) - now);
  }

  /** An attempt begins. It counts as wrong until `takeBack` or `forget`. */
  begin(key: string, now: number): void {
    const wrong = this.#read(key, now).wrong + 1;
    if (!this.#tries.has(key) && this.#tries.size >= MAX_TRACKED) {
      forgetLeast(this.#tries, (tries) => (isPast(tries, now) ? 0 : tries.wrong));
    }
    this.#write(key, { wrong, lastAt: now });
  }

  /** It was wrong: the wait before the next one starts now, however long this check took. */
  confirm(key: string, now: number): void {
    const tries = this.#tries.get(key);
    if (tries !== undefined) this.#write(key, { ...tries, lastAt: now });
  }

  /** It was not wrong, or it did not finish. */
  takeBack(key: string): void {
    const tries = this.#tries.get(key);
    if (tries === undefined) return;
    if (tries.wrong <= 1) this.#tries.delete(key);
    else this.#tries.set(key, { ...tries, wrong: tries.wrong - 1 });
  }

  /** It was right: earlier wrong attempts are forgotten. */
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

// Limits that keep the code of a waiting machine from being guessed, and machines from filling the
// database. A code is one of 20^8 and valid for 10 minutes. The account that guesses is locked out,
// and the machine keeps waiting: wrong codes never end a log-in, otherwise any member could end all
// of them.
//
// 1 account finds one of 10 waiting codes within their 10 minutes with 5 * 10 / 20^8, one in 500
// million. 100 accounts, each with an address of its own, while 1,000 codes wait: 100 * 5 * 1,000 /
// 20^8, one in 51,000, and each of the 100 is in the audit log.

/** For all networks together. */
export const MAX_PENDING_DEVICES = 1_000;

/** One network may take this fraction (1/10) of the free places: 90 if no other network waits. */
const NETWORK_PART = 10;

/**
 * Whether one more machine of a network may wait. The fuller the table, the fewer places each
 * network has: a hundred networks take 900 places, and the next one still has nine. Only a thousand
 * networks fill all.
 */
export function mayWait({ own, all }: { readonly own: number; readonly all: number }): boolean {
  return NETWORK_PART * own < MAX_PENDING_DEVICES - all;
}

/** Wrong codes of one account, or one user of the command line, until it is locked out. */
export const MAX_WRONG_CODES = 5;

/**
 * Wrong codes from one address, by all accounts there. A multiple of one account's limit, so that
 * one member cannot lock out the rest of a household. Loopback is not counted: it is a proxy that
 * does not forward addresses.
 */
export const MAX_WRONG_CODES_AN_ADDRESS = 4 * MAX_WRONG_CODES;

/** Counted from the last wrong code; after this time without one, all are forgotten. */
export const CODE_LOCK_OUT_MS = 15 * 60_000;
