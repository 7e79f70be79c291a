/**
 * The counts behind quotas: what each limited key and member has used in the current day and month,
 * and what running calls have reserved. Read from the ledger at first use and once a minute, and
 * kept by the usage rows between.
 */
import {
  amountOf,
  describeSpent,
  isLimited,
  NOTHING,
  periodAt,
  presentUse,
  QUOTA_PERIODS,
  spentLimit,
  sumOf,
} from './quota.js';
import type { Amount, KeyRules, PeriodUse, Quota, ShownUse, Spent } from './quota.js';
import type { UsageNumbers } from './usage-bounds.js';

/** Whose use is counted: a key's, or a member's by all keys and the dashboard. */
export interface QuotaSubject {
  readonly memberId: string;
  /** Null: all that the member uses. */
  readonly keyId: string | null;
  /** A share: what all others use through it. */
  readonly shareId?: string;
}

/** A subject with limits. */
export interface Account extends QuotaSubject {
  /** Begins the sentence about a spent limit: `The API key 'laptop'`. */
  readonly title: string;
  readonly quota: Quota;
}

/** The fields of a caller, or of a job's submitter, that set limits. */
export interface Limited {
  readonly memberId: string;
  readonly keyId: string;
  readonly keyName?: string;
  readonly rules?: KeyRules | null;
  readonly limits: { readonly quota?: Quota | null };
}

/** The limited accounts that its calls count for; empty for nearly all. */
export function accountsOf({ memberId, keyId, keyName, rules, limits }: Limited): Account[] {
  const accounts: Account[] = [];
  if (rules && isLimited(rules)) {
    const title = `The API key '${keyName ?? keyId}'`;
    accounts.push({ memberId, keyId, title, quota: rules });
  }
  const { quota } = limits;
  if (quota && isLimited(quota)) {
    accounts.push({ memberId, keyId: null, title: 'Your account', quota });
  }
  return accounts;
}

/** A share, as far as its quota goes. */
interface QuotaShare {
  readonly id: string;
  readonly caps: { readonly quota?: Quota | null };
}

/** Reads what others have used of these shares, in order. */
type ReadShareUse = (ids: readonly string[], now: number) => Promise<readonly PeriodUse[]>;

/**
 * For the owner of the shares: what all others together have used of each that has a quota, in the
 * current day and month; null for a share without one.
 */
export async function shareUses(
  shares: readonly QuotaShare[],
  read: ReadShareUse,
  now: number,
): Promise<(share: QuotaShare) => ShownUse | null> {
  const ids = shares.filter(({ caps }) => caps.quota && isLimited(caps.quota)).map(({ id }) => id);
  const uses = ids.length === 0 ? [] : await read(ids, now);
  const shown = new Map(uses.map((use, index) => [ids[index], presentUse(use, now)]));
  return ({ id }) => shown.get(id) ?? null;
}

/** Why a call may not start now. */
export interface Refusal extends Spent {
  /** A sentence for the caller. */
  readonly message: string;
  /** Until the period ends. */
  readonly waitMs: number;
}

/** A finished request. */
export type CountedRow = Omit<UsageNumbers, 'queueMs' | 'firstByteMs' | 'totalMs'> & {
  readonly requestId: string;
  readonly at: number;
  readonly memberId: string;
  readonly keyId: string;
  /** The share through which it was served; absent or null: the caller's own machine, or none. */
  readonly shareId?: string | null;
};

/**
 * Reservations of calls and jobs. Those of one process are in its memory: they are gone after a
 * restart, and finished requests are in the ledger.
 */
export interface Reservations {
  /** Reads the counts that are not known yet; null if they all are. */
  load(accounts: readonly Account[]): Promise<void> | null;
  /**
   * Reserves for the request, on all accounts or none, after reading what is not known yet; null if
   * it may start.
   */
  claim(
    requestId: string,
    accounts: readonly Account[],
    asked: Amount,
  ): Refusal | null | Promise<Refusal | null>;
  /** The same for loaded accounts. Of several coordinators, it may have to be loaded again. */
  reserve(requestId: string, accounts: readonly Account[], asked: Amount): Refusal | null;
  /** The same for the share through which the request is sent. */
  reserveShare(requestId: string, account: Account, asked: Amount): Refusal | null;
  /** Whether the counts are those of the current day. */
  isCounted(account: Account): boolean;
  /** The same without reserving. */
  refusalOf(accounts: readonly Account[], asked: Amount): Refusal | null;
  /** Replaces an estimate by a better one. */
  amend(requestId: string, asked: Amount): void;
  /** The request has ended without a usage row. */
  release(requestId: string): void;
  /** The request has ended with this usage row. `reservedAs`: its name in `reserve`. */
  count(row: CountedRow, reservedAs?: string): void;
}

/** Reads the ledger, including rows on their way to the database. */
export type ReadUse = (subject: QuotaSubject, now: number) => Promise<PeriodUse>;

/** Corrects what other processes have counted meanwhile. */
const RELOAD_MS = 60_000;

/** About 500 bytes each. */
export const MAX_COUNTED_ACCOUNTS = 10_000;

interface Count {
  use: PeriodUse;
  reserved: Amount;
  /** Unix ms; `NaN` before the first. */
  loadedAt: number;
  loading: Promise<void> | null;
  /** Counted while it is read: the ledger may have these or not. */
  meanwhile: Amount;
}

interface Hold<Count> {
  readonly counts: readonly Count[];
  asked: Amount;
}

/** What each request has reserved. */
export class Holds<Count extends { reserved: Amount }> {
  readonly #held = new Map<string, Hold<Count>>();

  /** In place of what the request held before. */
  set(requestId: string, counts: readonly Count[], asked: Amount): void {
    this.end(requestId);
    for (const count of counts) count.reserved = sumOf(count.reserved, asked);
    this.#held.set(requestId, { counts, asked });
  }

  /** Replaces an estimate. */
  amend(requestId: string, asked: Amount): void {
    const hold = this.#held.get(requestId);
    if (hold === undefined) return;
    for (const count of hold.counts) {
      count.reserved = sumOf(sumOf(count.reserved, hold.asked, -1), asked);
    }
    hold.asked = asked;
  }

  /** The counts of which it held something. */
  end(requestId: string): readonly Count[] {
    const hold = this.#held.get(requestId);
    if (hold === undefined) return [];
    this.#held.delete(requestId);
    for (const count of hold.counts) count.reserved = sumOf(count.reserved, hold.asked, -1);
    return hold.counts;
  }
}

export class Quotas implements Reservations {
  readonly #read: ReadUse;
  readonly #now: () => number;
  readonly #counts = new Map<string, Count>();
  readonly #holds = new Holds<Count>();

  constructor(read: ReadUse, now: () => number) {
    this.#read = read;
    this.#now = now;
  }

  load(accounts: readonly Account[]): Promise<void> | null {
    const now = this.#now();
    const stale = accounts.filter((account) => !isFresh(this.#countOf(account), now));
    if (stale.length === 0) return null;
    return this.#loadAll(stale);
  }

  claim(
    requestId: string,
    accounts: readonly Account[],
    asked: Amount,
  ): Refusal | null | Promise<Refusal | null> {
    const loading = this.load(accounts);
    if (loading === null) return this.reserve(requestId, accounts, asked);
    return loading.then(() => this.reserve(requestId, accounts, asked));
  }

  reserve(requestId: string, accounts: readonly Account[], asked: Amount): Refusal | null {
    const refusal = this.refusalOf(accounts, asked);
    if (refusal !== null || accounts.length === 0) return refusal;
    const counts = accounts.map((account) => this.#countOf(account));
    this.#holds.set(requestId, counts, asked);
    return null;
  }

  refusalOf(accounts: readonly Account[], asked: Amount): Refusal | null {
    const now = this.#now();
    return worstRefusal(accounts, now, (account) => {
      const { use, reserved } = this.#countOf(account);
      return spentLimit(account.quota, { use, reserved, asked, now });
    });
  }

  reserveShare(requestId: string, account: Account, asked: Amount): Refusal | null {
    return this.reserve(shareHold(requestId), [account], asked);
  }

  isCounted(account: Account): boolean {
    const { loadedAt } = this.#countOf(account);
    const now = this.#now();
    return now >= loadedAt && periodAt('day', loadedAt).end > now;
  }

  amend(requestId: string, asked: Amount): void {
    this.#holds.amend(requestId, asked);
  }

  release(requestId: string): void {
    this.#holds.end(requestId);
    this.#holds.end(shareHold(requestId));
  }

  count(row: CountedRow, reservedAs: string = row.requestId): void {
    this.release(reservedAs);
    const { at } = row;
    for (const subject of subjectsOf(row)) {
      const count = this.#counts.get(nameOf(subject));
      if (count === undefined) continue;
      const amount = amountOf(row);
      if (count.loading !== null) count.meanwhile = sumOf(count.meanwhile, amount);
      count.use = added(count.use, amount, { at, countedAt: count.loadedAt });
    }
  }

  #countOf(subject: QuotaSubject): Count {
    const name = nameOf(subject);
    const known = this.#counts.get(name);
    if (known !== undefined) return known;
    const none = { day: NOTHING, month: NOTHING };
    const count = {
      use: none,
      reserved: NOTHING,
      loadedAt: Number.NaN,
      loading: null,
      meanwhile: NOTHING,
    };
    this.#makeRoom();
    this.#counts.set(name, count);
    return count;
  }

  #makeRoom(): void {
    if (this.#counts.size < MAX_COUNTED_ACCOUNTS) return;
    for (const [name, { reserved, loading }] of this.#counts) {
      if (reserved.requests > 0 || loading !== null) continue;
      this.#counts.delete(name);
      return;
    }
  }

  async #loadAll(accounts: readonly Account[]): Promise<void> {
    await Promise.all(accounts.map((account) => this.#load(account)));
  }

  #load(account: Account): Promise<void> {
    const count = this.#countOf(account);
    count.loading ??= this.#readInto(count, account).finally(() => {
      count.loading = null;
    });
    return count.loading;
  }

  async #readInto(
    count: Count,
    { title: _title, quota: _quota, ...subject }: Account,
  ): Promise<void> {
    const now = this.#now();
    count.meanwhile = NOTHING;
    const use = await this.#read(subject, now);
    // A row that ended while the ledger was read may be in it: counted twice, until the next
    // reading, rather than not at all.
    count.use = added(use, count.meanwhile, { at: now, countedAt: now });
    count.loadedAt = now;
  }
}

/** Whose limits a finished request counts for. */
export function subjectsOf({ memberId, keyId, shareId }: CountedRow): readonly QuotaSubject[] {
  const own = [
    { memberId, keyId },
    { memberId, keyId: null },
  ];
  return shareId ? [...own, { memberId, keyId, shareId }] : own;
}

/** Of several, one that calls under way will not lift by using less than they have reserved. */
export function worstRefusal(
  accounts: readonly Account[],
  now: number,
  spentOf: (account: Account) => Spent | null,
): Refusal | null {
  let worst: Refusal | null = null;
  for (const account of accounts) {
    const spent = spentOf(account);
    if (spent === null) continue;
    const isWorse = worst === null || (worst.isReserved && !spent.isReserved);
    const message = describeSpent(account.title, spent);
    if (isWorse) worst = { ...spent, message, waitMs: spent.until - now };
  }
  return worst;
}

function isFresh({ loadedAt }: Count, now: number): boolean {
  // `NaN` is never fresh. A clock that was set back reads again.
  const age = now - loadedAt;
  return age >= 0 && age < RELOAD_MS && periodAt('day', loadedAt).end > now;
}

/** Adds to the periods of `countedAt` that `at` is in. */
export function added(
  use: PeriodUse,
  amount: Amount,
  { at, countedAt }: { readonly at: number; readonly countedAt: number },
): PeriodUse {
  const inPeriod = QUOTA_PERIODS.map((period) => {
    const { start, end } = periodAt(period, countedAt);
    const isIn = at >= start && at < end;
    return [period, isIn ? sumOf(use[period], amount) : use[period]] as const;
  });
  return Object.fromEntries(inPeriod) as Record<(typeof QUOTA_PERIODS)[number], Amount>;
}

/** A request may also hold a part of the share that serves it. */
export function shareHold(requestId: string): string {
  return `share ${requestId}`;
}

export function nameOf({ memberId, keyId, shareId }: QuotaSubject): string {
  if (shareId !== undefined) return `share ${shareId}`;
  return keyId === null ? memberId : `${memberId} ${keyId}`;
}
