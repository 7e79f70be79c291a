/**
 * The rate limit of a coordinator that shares its database with others: it takes some tokens in
 * advance, and spends them from memory. It asks when they are used up, and all requests of a member
 * that wait for the answer share one question.
 */
import { clamp } from '../core/access/rate.js';
import type { Rate, RateStanding } from '../core/access/rate.js';
import { LEASE_MS } from '../core/access/rate-pool.js';
import type { RateAsk, RateLease } from '../core/access/rate-pool.js';

/** Answers each, in order. Throws `storage_unavailable`. */
export type AskRates = (asks: readonly RateAsk[]) => Promise<readonly RateLease[]>;

/** A refused member is asked about again after this time at most. */
const MAX_REFUSED_MS = 1_000;

/** Requests are reported by their time, this exactly: a part of a slice. */
const REPORTED_PARTS = 240;

interface SharedRateParts {
  readonly limit: number;
  readonly windowMs: number;
  readonly ask: AskRates;
  /** Monotonic ms. */
  readonly now: () => number;
}

/** What is known of a member. Times are monotonic ms. */
interface Held {
  readonly memberId: string;
  limit: number;
  tokens: number;
  /** Until then the tokens may be spent. */
  validUntil: number;
  /** Not reported yet: requests by time. */
  spent: Map<number, number>;
  isUsed: boolean;
  /** Requests that wait for the answer. */
  waiting: number;
  asking: Promise<void> | null;
  refusedUntil: number;
  free: number;
  retryAt: number;
  resetAt: number;
}

export class SharedRate implements Rate {
  readonly #parts: SharedRateParts;
  readonly #members = new Map<string, Held>();

  constructor(parts: SharedRateParts) {
    this.#parts = parts;
  }

  take(
    memberId: string,
    now: number,
    limit: number | null = null,
  ): RateStanding | Promise<RateStanding> {
    const held = this.#members.get(memberId) ?? this.#add(memberId);
    held.limit = limit ?? this.#parts.limit;
    return this.#spend(held, now) ?? this.#takeLater(held);
  }

  look(memberId: string, now: number, limit: number | null = null): RateStanding {
    const held = this.#members.get(memberId);
    const most = limit ?? this.#parts.limit;
    if (held !== undefined) return this.#standing({ ...held, limit: most }, now, true);
    return { allowed: true, limit: most, remaining: most, resetS: 0, retryAfterS: 1 };
  }

  /** Called a few times within `LEASE_MS`: reports requests, gives back what was not used. */
  async renew(): Promise<void> {
    const now = this.#parts.now();
    const idle = [...this.#members.values()].filter(({ asking }) => asking === null);
    const told = idle.filter((held) => {
      const hasAny = held.tokens + held.spent.size > 0;
      if (!hasAny && now >= held.resetAt) this.#members.delete(held.memberId);
      if (!held.isUsed) held.tokens = 0;
      held.isUsed = false;
      return hasAny;
    });
    await this.#askFor(told);
  }

  /** Gives back all. */
  async close(): Promise<void> {
    const all = [...this.#members.values()];
    await Promise.allSettled(all.flatMap(({ asking }) => asking ?? []));
    const told = all.filter(({ tokens, spent }) => tokens + spent.size > 0);
    for (const held of told) held.tokens = 0;
    await this.#askFor(told);
  }

  #add(memberId: string): Held {
    const held: Held = {
      memberId,
      limit: this.#parts.limit,
      tokens: 0,
      validUntil: 0,
      spent: new Map(),
      isUsed: false,
      waiting: 0,
      asking: null,
      refusedUntil: Number.NEGATIVE_INFINITY,
      free: this.#parts.limit,
      retryAt: 0,
      resetAt: 0,
    };
    this.#members.set(memberId, held);
    return held;
  }

  async #takeLater(held: Held): Promise<RateStanding> {
    for (;;) {
      held.waiting += 1;
      try {
        // What it brings may be used up by those that waited longer.
        await (held.asking ?? this.#askFor([held]));
      } finally {
        held.waiting -= 1;
      }
      const standing = this.#spend(held, this.#parts.now());
      if (standing !== null) return standing;
    }
  }

  /** Null if the database must be asked. */
  #spend(held: Held, now: number): RateStanding | null {
    if (held.tokens > 0 && now < held.validUntil) {
      held.tokens -= 1;
      held.isUsed = true;
      const { windowMs } = this.#parts;
      const exactMs = windowMs / REPORTED_PARTS;
      // The end of the part: a request expires rather too late.
      const time = (Math.floor(now / exactMs) + 1) * exactMs;
      held.spent.set(time, (held.spent.get(time) ?? 0) + 1);
      held.resetAt = now + windowMs;
      return this.#standing(held, now, true);
    }
    return now < held.refusedUntil ? this.#standing(held, now, false) : null;
  }

  /** One question at a time for each. */
  #askFor(members: readonly Held[]): Promise<void> {
    if (members.length === 0) return Promise.resolve();
    const asking = this.#ask(members).finally(() => {
      for (const held of members) held.asking = null;
    });
    for (const held of members) held.asking = asking;
    return asking;
  }

  async #ask(members: readonly Held[]): Promise<void> {
    const sentAt = this.#parts.now();
    const sent = members.map((held) => {
      if (sentAt >= held.validUntil) held.tokens = 0;
      const { spent } = held;
      held.spent = new Map();
      return { held, spent, ask: this.#askOf(held, { spent, sentAt }) };
    });
    try {
      const leases = await this.#parts.ask(sent.map(({ ask }) => ask));
      sent.forEach(({ held, ask }, index) => {
        const lease = leases[index];
        if (lease !== undefined) this.#hold(held, { lease, ask, sentAt });
      });
    } catch (error) {
      // It may have been carried out: what is reported twice counts twice.
      for (const { held, spent } of sent) {
        for (const [time, requests] of spent) {
          held.spent.set(time, (held.spent.get(time) ?? 0) + requests);
        }
      }
      throw error;
    }
  }

  #askOf(
    { memberId, limit, tokens, waiting }: Held,
    { spent, sentAt }: Pick<Held, 'spent'> & { readonly sentAt: number },
  ): RateAsk {
    const ages = [...spent].map(([time, requests]): readonly [number, number] => {
      return [Math.max(0, sentAt - time), requests];
    });
    const { windowMs } = this.#parts;
    return { subject: memberId, limit, windowMs, spent: ages, kept: tokens, waiting };
  }

  #hold(
    held: Held,
    { lease, ask, sentAt }: { lease: RateLease; ask: RateAsk; sentAt: number },
  ): void {
    const { granted, free, retryMs, nextMs, resetMs } = lease;
    held.tokens += granted;
    held.validUntil = sentAt + LEASE_MS;
    held.free = free;
    held.resetAt = Math.max(held.resetAt, sentAt + resetMs);
    if (granted >= ask.waiting) return;
    const now = this.#parts.now();
    held.retryAt = now + retryMs;
    held.refusedUntil = now + Math.min(nextMs, MAX_REFUSED_MS);
  }

  #standing(held: Omit<Held, 'memberId'>, now: number, allowed: boolean): RateStanding {
    const { limit, tokens, free } = held;
    const windowS = Math.ceil(this.#parts.windowMs / 1_000);
    const secondsTo = (at: number): number => Math.ceil((at - now) / 1_000);
    return {
      allowed,
      limit,
      remaining: allowed ? clamp(free + tokens, 0, limit) : 0,
      resetS: held.resetAt <= now ? 0 : clamp(secondsTo(held.resetAt), 1, windowS),
      retryAfterS: allowed ? 1 : clamp(secondsTo(held.retryAt), 1, 60),
    };
  }
}
