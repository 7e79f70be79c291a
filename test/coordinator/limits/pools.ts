/** A database in memory, with the rules of the real one, for several coordinators. */
import { leaseTokens, NO_REQUESTS } from '@inference-gateway/coordinator/core/access/rate-pool';
import type { RateAsk, RatePool } from '@inference-gateway/coordinator/core/access/rate-pool';
import { leaseSlots, NO_CALLS } from '@inference-gateway/coordinator/core/access/slot-pool';
import type { SlotAsk, SlotPool } from '@inference-gateway/coordinator/core/access/slot-pool';
import { leaseBudget, NO_HOLDS } from '@inference-gateway/coordinator/core/usage/budget-pool';
import type { BudgetAsk, BudgetPool } from '@inference-gateway/coordinator/core/usage/budget-pool';
import { NOTHING, sumOf } from '@inference-gateway/coordinator/core/usage/quota';
import type { Amount } from '@inference-gateway/coordinator/core/usage/quota';

/** What happens to a question: it is carried out, or lost before that, or its answer is lost. */
export type Fault = 'none' | 'before' | 'after';

export class Pools {
  #rates: RatePool = NO_REQUESTS;
  #slots: SlotPool = NO_CALLS;
  #budgets: BudgetPool = NO_HOLDS;
  /** Of one subject. */
  ledger: Amount = NOTHING;
  questions = 0;
  fault: () => Fault = () => 'none';
  readonly #at: () => number;

  constructor(at: () => number) {
    this.#at = at;
  }

  rates(holder: string) {
    return (asks: readonly RateAsk[]) =>
      this.#answer(asks, (ask) => {
        const { pool, lease } = leaseTokens(this.#rates, ask, { holder, at: this.#at() });
        this.#rates = pool;
        return lease;
      });
  }

  slots(holder: string) {
    return (asks: readonly SlotAsk[]) =>
      this.#answer(asks, (ask) => {
        const { pool, lease } = leaseSlots(this.#slots, ask, { holder, at: this.#at() });
        this.#slots = pool;
        return lease;
      });
  }

  /** `flush`: brings what has been used into the ledger. */
  budgets(holder: string, flush: () => Amount) {
    return (asks: readonly BudgetAsk[]) =>
      this.#answer(asks, (ask) => {
        this.ledger = sumOf(this.ledger, flush());
        const use = { day: this.ledger, month: this.ledger };
        const by = { holder, at: this.#at(), use };
        const { pool, lease } = leaseBudget(this.#budgets, ask, by);
        this.#budgets = pool;
        return lease;
      });
  }

  async #answer<Ask, Lease>(asks: readonly Ask[], lease: (ask: Ask) => Lease): Promise<Lease[]> {
    const fault = this.fault();
    this.questions += 1;
    await Promise.resolve();
    if (fault === 'before') throw new Error('the database is away');
    const leases = asks.map((ask) => lease(ask));
    await Promise.resolve();
    if (fault === 'after') throw new Error('the connection broke');
    return leases;
  }
}
