/**
 * The limits of members: their rate, their concurrent calls, their quotas and their log-ins. One
 * coordinator keeps them in its memory; several on one database lease them from it.
 */
import type { Clock } from '@inference-gateway/shared/clock';
import { randomId } from '@inference-gateway/shared/ids';
import { LogInCounts } from '../core/access/log-in-throttle.js';
import type { LogInLimit } from '../core/access/log-in-throttle.js';
import { LEASE_MS } from '../core/access/rate-pool.js';
import { RateLimit } from '../core/access/rate.js';
import type { Rate } from '../core/access/rate.js';
import { Quotas } from '../core/usage/quotas.js';
import type { Reservations } from '../core/usage/quotas.js';
import type { Store } from '../store/port.js';
import { SharedQuotas } from './shared-quotas.js';
import type { AskBudgets } from './shared-quotas.js';
import { SharedRate } from './shared-rate.js';
import type { AskRates } from './shared-rate.js';
import { SharedSlots } from './shared-slots.js';

export interface Limits {
  readonly rate: Rate;
  /** Null: all calls of the members run here. */
  readonly slots: SharedSlots | null;
  readonly quotas: Reservations;
  readonly logIns: LogInLimit;
  /** Gives back what is leased. */
  close(): Promise<void>;
}

interface LimitConfig {
  readonly rateLimitRequests: number;
  readonly rateLimitWindowMs: number;
  /** Null: the database is this coordinator's alone. */
  readonly databaseUrl: string | null;
}

interface LimitParts {
  readonly store: Store;
  readonly clock: Clock;
}

export function openLimits(config: LimitConfig, { store, clock }: LimitParts): Limits {
  const { rateLimitRequests: limit, rateLimitWindowMs: windowMs, databaseUrl } = config;
  if (databaseUrl !== null) return sharedLimits({ limit, windowMs, leases: store, clock });
  return {
    rate: new RateLimit(limit, windowMs),
    slots: null,
    quotas: new Quotas((subject, at) => store.quotaUse(subject, at), clock.now),
    logIns: new LogInCounts(clock.steady),
    close: async () => {},
  };
}

interface SharedLimitParts {
  /** Of the rate. */
  readonly limit: number;
  readonly windowMs: number;
  readonly leases: Store;
  readonly clock: Clock;
}

/** Three times within a lease: one renewal may fail. */
const RENEW_MS = LEASE_MS / 3;

/** Of a coordinator beside others on the same database. */
function sharedLimits({ limit, windowMs, leases, clock }: SharedLimitParts): Limits {
  const { now, steady } = clock;
  // Not the coordinator's name: one that starts anew does not know what the last one has leased.
  const holder = randomId();
  const askRates: AskRates = (asks) => leases.leaseRates(asks, holder);
  const rate = new SharedRate({ limit, windowMs, ask: askRates, now: () => performance.now() });
  const slots = new SharedSlots((asks) => leases.leaseSlots(asks, holder), steady);
  const askBudgets: AskBudgets = (asks, at) => leases.leaseBudgets(asks, holder, at);
  const quotas = new SharedQuotas({ ask: askBudgets, now, steady });
  const renewed = (): Promise<unknown> =>
    // What cannot be renewed now is asked for when it is needed, and that call is told.
    Promise.allSettled([rate.renew(), slots.renew(), quotas.renew(), leases.forgetLeases()]);
  let renewing: Promise<unknown> | null = null;
  const timer = setInterval(() => {
    renewing ??= renewed().finally(() => (renewing = null));
  }, RENEW_MS).unref();
  return {
    rate,
    slots,
    quotas,
    logIns: {
      begin: (guessers) => leases.beginLogIn(guessers),
      end: (guessers, end) => leases.endLogIn(guessers, end),
    },
    async close() {
      clearInterval(timer);
      await renewing;
      await Promise.allSettled([rate.close(), slots.close(), quotas.close()]);
    },
  };
}
