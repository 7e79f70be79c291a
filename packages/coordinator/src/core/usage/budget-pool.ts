/**
 * The quota of a key, a member or a share whose calls reach several coordinators: beside the ledger
 * of what has been used, what each coordinator may use without asking again. Pure rules; the
 * database keeps the pool, and has the clock.
 */
import { inUnit, NOTHING, QUOTA_PERIODS, QUOTA_UNITS, sumOf } from './quota.js';
import type { Amount, PeriodUse, Quota, QuotaUnit } from './quota.js';
import type { QuotaSubject } from './quotas.js';

/**
 * What a coordinator that is gone had taken and not used is free after this time. Coordinators read
 * the ledger and take again more often.
 */
export const BUDGET_LEASE_MS = 30_000;

/** Of what is left, what coordinators together may have taken and not used. */
const IDLE_PART = 10;

interface BudgetHold {
  readonly amount: Amount;
  /** Unix ms. */
  readonly until: number;
}

/** By the id of a running coordinator. */
export interface BudgetPool {
  readonly leases: Readonly<Record<string, BudgetHold>>;
}

export interface BudgetAsk {
  readonly subject: QuotaSubject;
  readonly quota: Quota;
  /** Reserved for calls that run. */
  readonly kept: Amount;
  /** Of the call that waits longest. A limit of which something is left is passed by one call. */
  readonly first: Amount;
  /** Of all calls that wait. */
  readonly wanted: Amount;
}

export interface BudgetLease {
  /** Beyond `kept`; for units without a limit, 0. */
  readonly granted: Amount;
  /** What a coordinator may hold and not use. */
  readonly spare: Amount;
  /** What the other coordinators hold. */
  readonly others: Amount;
  /** By the ledger, which has every call that ended here before the question. */
  readonly use: PeriodUse;
}

export const NO_HOLDS: BudgetPool = { leases: {} };

interface BudgetAsking {
  readonly holder: string;
  /** Unix ms by the clock of the database. */
  readonly at: number;
  readonly use: PeriodUse;
}

export function leaseBudget(
  pool: BudgetPool,
  ask: BudgetAsk,
  { holder, at, use }: BudgetAsking,
): { readonly pool: BudgetPool; readonly lease: BudgetLease } {
  const alive = Object.entries(pool.leases).filter(([id, { until }]) => {
    // A clock that was set back must not keep them for ever.
    return id !== holder && Math.min(until, at + BUDGET_LEASE_MS) > at;
  });
  const others = alive.reduce((sum, [, { amount }]) => sumOf(sum, amount), NOTHING);
  const held = sumOf(others, ask.kept);
  const parts = Math.max(2, alive.length) * IDLE_PART;
  const spareOf = (unit: QuotaUnit): number => {
    const rest = restOf(ask.quota, use, unit);
    return rest === null ? 0 : Math.max(0, Math.floor((rest - inUnit(held, unit)) / parts));
  };
  const spare = amountIn(spareOf);
  const granted = amountIn((unit) => {
    const rest = restOf(ask.quota, use, unit);
    const wanted = Math.max(inUnit(ask.wanted, unit), spareOf(unit));
    const free = rest === null ? 0 : rest - inUnit(held, unit);
    if (free <= 0 || inUnit(ask.wanted, unit) === 0) return 0;
    return Math.max(inUnit(ask.first, unit), Math.min(free, wanted));
  });
  const amount = sumOf(ask.kept, granted);
  const isEmpty = QUOTA_UNITS.every((unit) => inUnit(amount, unit) <= 0);
  const own = isEmpty ? [] : [[holder, { amount, until: at + BUDGET_LEASE_MS }] as const];
  const leases = Object.fromEntries([...alive, ...own]);
  return { pool: { leases }, lease: { granted, spare, others, use } };
}

/** What the ledger leaves of the unit's limits; null if it has none. */
function restOf(quota: Quota, use: PeriodUse, unit: QuotaUnit): number | null {
  const rests = QUOTA_PERIODS.flatMap((period) => {
    const limit = quota[period][unit];
    return limit === undefined ? [] : [limit - inUnit(use[period], unit)];
  });
  return rests.length === 0 ? null : Math.min(...rests);
}

function amountIn(units: (unit: QuotaUnit) => number): Amount {
  const audioMs = Math.ceil(units('audio_s') * 1_000);
  return { requests: units('requests'), tokens: units('tokens'), images: units('images'), audioMs };
}
