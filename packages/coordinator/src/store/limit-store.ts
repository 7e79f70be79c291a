/** The part of the store's port for limits that several coordinators share. */
import type { Guesser, TryEnd } from '../core/access/log-in-throttle.js';
import type { RateAsk, RateLease } from '../core/access/rate-pool.js';
import type { SlotAsk, SlotLease } from '../core/access/slot-pool.js';
import type { BudgetAsk, BudgetLease } from '../core/usage/budget-pool.js';

/**
 * What coordinators lease of limits. `holder`: the id of a running coordinator. Times are those of
 * the database, whose clock all coordinators share.
 */
export interface LimitStore {
  /** Answers each, in order; so do the next two. No subject may be there twice. */
  leaseRates(asks: readonly RateAsk[], holder: string): Promise<readonly RateLease[]>;
  leaseSlots(asks: readonly SlotAsk[], holder: string): Promise<readonly SlotLease[]>;
  /** `now` defines the day and the month, in UTC. */
  leaseBudgets(
    asks: readonly BudgetAsk[],
    holder: string,
    now: number,
  ): Promise<readonly BudgetLease[]>;
  /** Milliseconds until the next attempt may begin; 0 if it began. */
  beginLogIn(guessers: readonly Guesser[]): Promise<number>;
  endLogIn(guessers: readonly Guesser[], end: TryEnd): Promise<void>;
  /** Deletes what no longer counts. */
  forgetLeases(): Promise<void>;
}
