/**
 * The quotas of a coordinator that shares its database with others: it holds a part of what is left
 * of each limit, reserves from that, and asks for more when it does not suffice.
 */
import { BUDGET_LEASE_MS } from '../core/usage/budget-pool.js';
import type { BudgetAsk, BudgetLease } from '../core/usage/budget-pool.js';
import {
  amountOf,
  inUnit,
  NOTHING,
  periodAt,
  QUOTA_PERIODS,
  QUOTA_UNITS,
  spentLimit,
  sumOf,
} from '../core/usage/quota.js';
import type { Amount, PeriodUse, QuotaUnit, Spent } from '../core/usage/quota.js';
import {
  added,
  Holds,
  MAX_COUNTED_ACCOUNTS,
  nameOf,
  shareHold,
  subjectsOf,
  worstRefusal,
} from '../core/usage/quotas.js';
import type { Account, CountedRow, Refusal, Reservations } from '../core/usage/quotas.js';

/** Answers each, in order, for this day and month. Throws `storage_unavailable`. */
export type AskBudgets = (
  asks: readonly BudgetAsk[],
  now: number,
) => Promise<readonly BudgetLease[]>;

/** What is held is renewed, and the ledger is read, when it is this old. */
const RENEW_MS = BUDGET_LEASE_MS / 3;

/** A limit that refuses calls is looked at again this often. */
const REFUSED_MS = 1_000;

/** What any call may use. */
const LEAST: Amount = { requests: 1, tokens: 1, images: 1, audioMs: 1 };

interface SharedQuotaParts {
  readonly ask: AskBudgets;
  /** Unix ms: the limits are those of a day and a month. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly steady: () => number;
}

interface Count {
  account: Account;
  /** By the ledger, with `spent`. */
  use: PeriodUse;
  others: Amount;
  /** What this coordinator may reserve and use until `validUntil`. */
  leased: Amount;
  reserved: Amount;
  /** Used since the ledger was read. */
  spent: Amount;
  /** Calls that wait for more, the first one at the front. */
  readonly waiting: Set<Amount>;
  /** Could not be reserved by one that does not wait. */
  missed: Amount | null;
  /** What it may hold and not use. */
  spare: Amount;
  isUsed: boolean;
  asking: Promise<void> | null;
  /** Unix ms of the day and month; `NaN` before the first. */
  loadedAt: number;
  /** Monotonic ms. */
  askedAt: number;
}

export class SharedQuotas implements Reservations {
  readonly #parts: SharedQuotaParts;
  readonly #counts = new Map<string, Count>();
  readonly #holds = new Holds<Count>();

  constructor(parts: SharedQuotaParts) {
    this.#parts = parts;
  }

  load(accounts: readonly Account[]): Promise<void> | null {
    const due = accounts.map((account) => this.#countOf(account)).filter((one) => this.#isDue(one));
    for (const count of due) count.isUsed = true;
    return due.length === 0 ? null : this.#askFor(due);
  }

  claim(
    requestId: string,
    accounts: readonly Account[],
    asked: Amount,
  ): Refusal | null | Promise<Refusal | null> {
    const counts = accounts.map((account) => this.#countOf(account));
    if (counts.some((count) => !this.#suffices(count, asked))) {
      return this.#claimLater(requestId, counts, asked);
    }
    this.#hold(requestId, counts, asked);
    return null;
  }

  reserve(requestId: string, accounts: readonly Account[], asked: Amount): Refusal | null {
    const counts = accounts.map((account) => this.#countOf(account));
    const refusal = this.refusalOf(accounts, asked);
    if (refusal !== null || accounts.length === 0) return refusal;
    const short = counts.filter((count) => !this.#suffices(count, asked));
    const now = this.#parts.now();
    for (const count of short) count.missed = asked;
    if (short.length > 0) {
      return worstRefusal(accounts, now, (account) => lacking(account, asked, now));
    }
    this.#hold(requestId, counts, asked);
    return null;
  }

  refusalOf(accounts: readonly Account[], asked: Amount): Refusal | null {
    const now = this.#parts.now();
    return worstRefusal(accounts, now, (account) => {
      return this.#spentOf(this.#countOf(account), asked);
    });
  }

  reserveShare(requestId: string, account: Account, asked: Amount): Refusal | null {
    return this.reserve(shareHold(requestId), [account], asked);
  }

  isCounted(account: Account): boolean {
    const count = this.#countOf(account);
    return count.missed === null && this.#isOfToday(count);
  }

  amend(requestId: string, asked: Amount): void {
    this.#holds.amend(requestId, asked);
  }

  release(requestId: string): void {
    this.#release(requestId);
    this.#release(shareHold(requestId));
  }

  count(row: CountedRow, reservedAs: string = row.requestId): void {
    this.#holds.end(reservedAs);
    this.#holds.end(shareHold(reservedAs));
    const amount = amountOf(row);
    for (const subject of subjectsOf(row)) {
      const count = this.#counts.get(nameOf(subject));
      if (count === undefined) continue;
      count.spent = sumOf(count.spent, amount);
      count.use = added(count.use, amount, { at: row.at, countedAt: count.loadedAt });
      this.#giveBackSurplus(count);
    }
  }

  /** Called a few times within `BUDGET_LEASE_MS`. */
  async renew(): Promise<void> {
    const now = this.#parts.steady();
    const due: Count[] = [];
    for (const [name, count] of this.#counts) {
      if (count.asking !== null || now - count.askedAt < RENEW_MS) continue;
      if (isHeld(count)) due.push(count);
      else if (!count.isUsed) this.#counts.delete(name);
    }
    await this.#askFor(due);
  }

  /** Gives back all. */
  async close(): Promise<void> {
    const all = [...this.#counts.values()];
    await Promise.allSettled(all.flatMap(({ asking }) => asking ?? []));
    for (const count of all) count.isUsed = false;
    await this.#askFor(all.filter(isHeld));
  }

  async #claimLater(
    requestId: string,
    counts: readonly Count[],
    asked: Amount,
  ): Promise<Refusal | null> {
    const wait: Amount = { ...asked };
    for (const count of counts) count.waiting.add(wait);
    try {
      for (let freshMs = REFUSED_MS; ; freshMs = BUDGET_LEASE_MS) {
        const short = counts.filter((count) => !this.#suffices(count, asked));
        if (short.length === 0) {
          this.#hold(requestId, counts, asked);
          return null;
        }
        const refusal = this.#refusalNow(short, asked, freshMs);
        if (refusal !== null) return refusal;
        // What it brings may be reserved by those that waited longer.
        await this.#askFor(short);
      }
    } finally {
      for (const count of counts) count.waiting.delete(wait);
    }
  }

  /** Null if none, or the database has to be asked: of counts that are older than `freshMs`. */
  #refusalNow(counts: readonly Count[], asked: Amount, freshMs: number): Refusal | null {
    const now = this.#parts.steady();
    const told = counts.filter((count) => {
      return this.#isOfToday(count) && now - count.askedAt < freshMs;
    });
    const accounts = told.map(({ account }) => account);
    return this.refusalOf(accounts, asked);
  }

  #hold(requestId: string, counts: readonly Count[], asked: Amount): void {
    if (counts.length === 0) return;
    for (const count of counts) count.isUsed = true;
    this.#holds.set(requestId, counts, asked);
  }

  #release(requestId: string): void {
    for (const count of this.#holds.end(requestId)) this.#giveBackSurplus(count);
  }

  #countOf(account: Account): Count {
    const name = nameOf(account);
    const known = this.#counts.get(name);
    if (known !== undefined) {
      known.account = account;
      return known;
    }
    const count: Count = {
      account,
      use: { day: NOTHING, month: NOTHING },
      others: NOTHING,
      leased: NOTHING,
      reserved: NOTHING,
      spent: NOTHING,
      waiting: new Set(),
      missed: null,
      spare: NOTHING,
      isUsed: false,
      asking: null,
      loadedAt: Number.NaN,
      askedAt: Number.NEGATIVE_INFINITY,
    };
    this.#makeRoom();
    this.#counts.set(name, count);
    return count;
  }

  #makeRoom(): void {
    if (this.#counts.size < MAX_COUNTED_ACCOUNTS) return;
    for (const [name, count] of this.#counts) {
      if (count.reserved.requests > 0 || count.asking !== null || count.waiting.size > 0) continue;
      this.#counts.delete(name);
      return;
    }
  }

  /** Whether it must be read before a limit is judged. */
  #isDue(count: Count): boolean {
    const age = this.#parts.steady() - count.askedAt;
    if (!this.#isOfToday(count) || age >= RENEW_MS || count.missed !== null) return true;
    if (this.#spentOf(count, LEAST) !== null) return age >= REFUSED_MS;
    return !this.#suffices(count, LEAST);
  }

  #isOfToday({ loadedAt }: Count): boolean {
    const now = this.#parts.now();
    // `NaN` is never of today. A clock that was set back reads again.
    return now >= loadedAt && periodAt('day', loadedAt).end > now;
  }

  /** Whether so much can be reserved from what is held. */
  #suffices(count: Count, asked: Amount): boolean {
    const { askedAt, asking, account } = count;
    if (asking !== null || !this.#isOfToday(count)) return false;
    if (this.#parts.steady() - askedAt >= BUDGET_LEASE_MS) return false;
    const left = leftOf(count);
    return QUOTA_UNITS.every((unit) => {
      const use = inUnit(asked, unit);
      return use === 0 || !isLimitedIn(account, unit) || use <= inUnit(left, unit);
    });
  }

  #spentOf({ account, use, others, reserved }: Count, asked: Amount): Spent | null {
    const now = this.#parts.now();
    return spentLimit(account.quota, { use, reserved: sumOf(reserved, others), asked, now });
  }

  /**
   * Calls have reserved much more than they used, or what they used counts twice: it is in the
   * ledger now, and held until the next question. Others may need it.
   */
  #giveBackSurplus(count: Count): void {
    const idle = [leftOf(count), count.spent];
    const isSurplus = QUOTA_UNITS.some((unit) => {
      const most = 2 * inUnit(count.spare, unit);
      return isLimitedIn(count.account, unit) && idle.some((one) => inUnit(one, unit) > most);
    });
    // If the database cannot be asked, the next call is told.
    if (isSurplus && count.asking === null) void this.#askFor([count]).catch(() => {});
  }

  /** One question at a time for each. */
  #askFor(counts: readonly Count[]): Promise<void> {
    const pending = counts.flatMap(({ asking }) => (asking === null ? [] : [asking]));
    const idle = counts.filter(({ asking }) => asking === null);
    if (idle.length === 0) return allOf(pending);
    const asking = this.#ask(idle).finally(() => {
      for (const count of idle) count.asking = null;
    });
    for (const count of idle) count.asking = asking;
    return allOf([...pending, asking]);
  }

  async #ask(counts: readonly Count[]): Promise<void> {
    const { ask, now: unixNow, steady } = this.#parts;
    const [askedAt, loadedAt] = [steady(), unixNow()];
    const sent = counts.map((count) => {
      const { spent, reserved, missed } = count;
      count.missed = null;
      return { count, spent, reserved, missed, ask: askOf(count, missed) };
    });
    try {
      const leases = await ask(
        sent.map((one) => one.ask),
        loadedAt,
      );
      sent.forEach(({ count, spent, reserved }, index) => {
        const lease = leases[index];
        if (lease === undefined) return;
        count.spent = sumOf(count.spent, spent, -1);
        count.leased = sumOf(reserved, lease.granted);
        count.spare = lease.spare;
        count.others = lease.others;
        // What ended meanwhile may be in the ledger: counted twice, rather than not at all.
        count.use = usedWith(lease.use, count.spent);
        count.isUsed = count.waiting.size > 0;
        count.askedAt = askedAt;
        count.loadedAt = loadedAt;
      });
    } catch (error) {
      // It may have been carried out, and then holds less.
      for (const { count, missed } of sent) {
        count.leased = sumOf(count.reserved, count.spent);
        count.missed ??= missed;
      }
      throw error;
    }
  }
}

function askOf({ account, reserved, waiting, isUsed }: Count, missed: Amount | null): BudgetAsk {
  const { title: _title, quota, ...subject } = account;
  const all = missed === null ? [...waiting] : [...waiting, missed];
  const idle = isUsed ? LEAST : NOTHING;
  const [first = idle] = all;
  const wanted = all.length === 0 ? idle : all.reduce((sum, one) => sumOf(sum, one), NOTHING);
  return { subject, quota, kept: reserved, first, wanted };
}

/** What may still be reserved. */
function leftOf({ leased, reserved, spent }: Count): Amount {
  return sumOf(sumOf(leased, reserved, -1), spent, -1);
}

function isHeld({ leased, spent }: Count): boolean {
  return QUOTA_UNITS.some((unit) => inUnit(leased, unit) > 0 || inUnit(spent, unit) > 0);
}

function usedWith(use: PeriodUse, spent: Amount): PeriodUse {
  return { day: sumOf(use.day, spent), month: sumOf(use.month, spent) };
}

function isLimitedIn({ quota }: Account, unit: QuotaUnit): boolean {
  return QUOTA_PERIODS.some((period) => quota[period][unit] !== undefined);
}

/** For one that cannot wait until more is held: as if the rest were reserved. */
function lacking({ quota }: Account, asked: Amount, now: number): Spent | null {
  const use = { day: NOTHING, month: NOTHING };
  const infinite = { requests: Infinity, tokens: Infinity, images: Infinity, audioMs: Infinity };
  return spentLimit(quota, { use, reserved: infinite, asked, now });
}

async function allOf(pending: readonly Promise<void>[]): Promise<void> {
  await Promise.all(pending);
}
