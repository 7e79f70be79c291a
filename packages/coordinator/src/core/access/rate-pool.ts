/**
 * The rate limit of a member whose requests reach several coordinators: what all of them have used
 * of the window, and the tokens that each has taken in advance, a token for a request. Used and
 * taken tokens together never exceed the limit. Pure rules; the database keeps the pool, and has
 * the clock.
 */
import { SLICES } from './rate.js';

/**
 * A coordinator spends what it has taken for this long without asking again. What one that is gone
 * had taken is free after this time; tokens of a rate limit count as spent at its end.
 */
export const LEASE_MS = 15_000;

/** Of a limit, what coordinators together may have taken and not used. */
const IDLE_PART = 10;

/** Of a window of requests. */
export interface RatePool {
  /** Requests by slice of the window. */
  readonly uses: readonly (readonly [slice: number, requests: number])[];
  readonly leases: Leases<{ readonly tokens: number }>;
}

/** By the id of a running coordinator. `until`: Unix ms. */
export type Leases<Held> = Readonly<Record<string, Held & { readonly until: number }>>;

export interface RateAsk {
  readonly subject: string;
  readonly limit: number;
  readonly windowMs: number;
  /** Requests since the last question, by their age in ms. */
  readonly spent: readonly (readonly [ageMs: number, requests: number])[];
  /** Tokens that it has and keeps: it gives the others back. */
  readonly kept: number;
  /** Requests that wait for a token; 0: no more tokens are taken. */
  readonly waiting: number;
}

export interface RateLease {
  readonly granted: number;
  /** Tokens that nobody has taken now. */
  readonly free: number;
  /** Ms until a request expires that stands in the way of the next one. */
  readonly retryMs: number;
  /** Ms until a token that is free by then can be had. */
  readonly nextMs: number;
  /** Ms until the last request of all coordinators expires. */
  readonly resetMs: number;
}

/** Who asks, and when, in Unix ms by the clock of the database. */
export interface AskedBy {
  readonly holder: string;
  readonly at: number;
}

/**
 * How much a coordinator may take in advance: with what the others have taken and not used, a tenth
 * of the limit. Three coordinators take a twentieth each.
 */
export function chunkOf(limit: number, holders: number): number {
  return Math.floor(limit / (IDLE_PART * Math.max(2, holders - 1)));
}

/** Those that still count `graceMs` after their end, without the one of `holder`. */
export function othersOf<Held>(
  leases: Leases<Held>,
  { holder, at }: AskedBy,
  graceMs = 0,
): Leases<Held> {
  const others = Object.entries(leases).filter(([id, { until }]) => {
    // A clock that was set back must not keep them for ever.
    return id !== holder && Math.min(until, at + LEASE_MS) + graceMs > at;
  });
  return Object.fromEntries(others);
}

export const NO_REQUESTS: RatePool = { uses: [], leases: {} };

export function leaseTokens(
  pool: RatePool,
  ask: RateAsk,
  by: AskedBy,
): { readonly pool: RatePool; readonly lease: RateLease } {
  const { limit, windowMs, spent, kept, waiting } = ask;
  const { holder, at } = by;
  const sliceMs = windowMs / SLICES;
  const newest = Math.floor(at / sliceMs);
  const uses = counted(pool.uses, spent, { at, sliceMs, newest });
  const others = othersOf(pool.leases, by, windowMs + sliceMs);
  const taken = Object.values(others).reduce((sum, { tokens }) => sum + tokens, 0);
  const used = uses.reduce((sum, [, requests]) => sum + requests, 0);
  const free = Math.max(0, limit - used - taken - kept);
  const chunk = chunkOf(limit, Object.keys(others).length + 1);
  const granted = waiting === 0 ? 0 : Math.min(free, Math.max(waiting, chunk));
  const tokens = kept + granted;
  const own = tokens === 0 ? {} : { [holder]: { tokens, until: at + LEASE_MS } };
  const endOf = (slice: number): number => (slice + SLICES + 1) * sliceMs - at;
  const hindering = oldestOf(uses, used + taken + tokens - limit + 1);
  const nextMs = Math.max(1, (newest + 1) * sliceMs - at);
  return {
    pool: { uses, leases: { ...others, ...own } },
    lease: {
      granted,
      free: free - granted,
      retryMs: hindering === null ? nextMs : endOf(hindering),
      nextMs,
      resetMs: Math.max(0, ...uses.map(([slice]) => endOf(slice))),
    },
  };
}

interface Slicing {
  readonly at: number;
  readonly sliceMs: number;
  readonly newest: number;
}

/** What still counts, in order. */
function counted(
  uses: RatePool['uses'],
  spent: RateAsk['spent'],
  { at, sliceMs, newest }: Slicing,
): RatePool['uses'] {
  const sums = new Map<number, number>();
  const reported = spent.map(([ageMs, count]) => [Math.floor((at - ageMs) / sliceMs), count]);
  for (const [slice = 0, count = 0] of [...uses, ...reported]) {
    // The clock may have been set back.
    const known = Math.min(slice, newest);
    if (newest - known <= SLICES) sums.set(known, (sums.get(known) ?? 0) + count);
  }
  return [...sums].toSorted(([one], [other]) => one - other);
}

/** The slice by whose end this many requests have expired; null if there are not so many. */
function oldestOf(uses: RatePool['uses'], count: number): number | null {
  let left = count;
  for (const [slice, requests] of uses) {
    left -= requests;
    if (left <= 0) return slice;
  }
  return null;
}
