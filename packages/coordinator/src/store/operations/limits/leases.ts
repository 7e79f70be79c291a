/**
 * What coordinators lease of the limits of members, and wrong attempts to log in: a row a limit,
 * whose state is JSON that the rules of each kind of limit read and write. A row is locked from its
 * reading to the end of the operation. Times are the database's own: coordinators' clocks differ.
 */
import { begun, ended, MEMORY_MS, waitMsOf } from '../../../core/access/log-in-throttle.js';
import type { Guesser, Tries } from '../../../core/access/log-in-throttle.js';
import { LEASE_MS, leaseTokens, NO_REQUESTS } from '../../../core/access/rate-pool.js';
import type { RatePool } from '../../../core/access/rate-pool.js';
import { leaseSlots, NO_CALLS } from '../../../core/access/slot-pool.js';
import type { SlotPool } from '../../../core/access/slot-pool.js';
import { BUDGET_LEASE_MS, leaseBudget, NO_HOLDS } from '../../../core/usage/budget-pool.js';
import type { BudgetPool } from '../../../core/usage/budget-pool.js';
import { nameOf } from '../../../core/usage/quotas.js';
import type { Operations } from '../operations.js';
import { statement } from '../statement.js';
import type { Operation } from '../statement.js';
import { usageOperations } from '../usage/usage.js';

type LeaseOperations = Pick<
  Operations,
  'leaseRates' | 'leaseSlots' | 'leaseBudgets' | 'beginLogIn' | 'endLogIn' | 'forgetLeases'
>;

export const leaseOperations: LeaseOperations = {
  *leaseRates(asks, holder) {
    const { at, states } = yield* lockStates<RatePool>(asks.map(({ subject }) => rateOf(subject)));
    const answers = asks.map((ask) => {
      const known = states.get(rateOf(ask.subject)) ?? NO_REQUESTS;
      return { ask, ...leaseTokens(known, ask, { holder, at }) };
    });
    const written = answers.map(({ ask, pool }) => {
      const lastsMs = 2 * ask.windowMs + LEASE_MS;
      return { subject: rateOf(ask.subject), state: pool, expiresAt: at + lastsMs };
    });
    yield* writeStates(written);
    return answers.map(({ lease }) => lease);
  },

  *leaseSlots(asks, holder) {
    const { at, states } = yield* lockStates<SlotPool>(asks.map(({ subject }) => slotsOf(subject)));
    const answers = asks.map((ask) => {
      const known = states.get(slotsOf(ask.subject)) ?? NO_CALLS;
      return { ask, ...leaseSlots(known, ask, { holder, at }) };
    });
    const written = answers.map(({ ask, pool }) => {
      return { subject: slotsOf(ask.subject), state: pool, expiresAt: at + LEASE_MS };
    });
    yield* writeStates(written);
    return answers.map(({ lease }) => lease);
  },

  *leaseBudgets(asks, holder, now) {
    const { at, states } = yield* lockStates<BudgetPool>(asks.map((ask) => budgetOf(ask.subject)));
    const written: WrittenState[] = [];
    const leases = [];
    for (const ask of asks) {
      const subject = budgetOf(ask.subject);
      // Read once the row is locked: what another coordinator gave back before is in the ledger.
      const use = yield* usageOperations.quotaUse(ask.subject, now);
      const known = states.get(subject) ?? NO_HOLDS;
      const { pool, lease } = leaseBudget(known, ask, { holder, at, use });
      written.push({ subject, state: pool, expiresAt: at + BUDGET_LEASE_MS });
      leases.push(lease);
    }
    yield* writeStates(written);
    return leases;
  },

  *beginLogIn(guessers) {
    const { at, states } = yield* lockStates<Tries>(guessers.map(logInOf));
    const triesOf = (guesser: Guesser): Tries => states.get(logInOf(guesser)) ?? NO_TRIES;
    const waits = guessers.map((guesser) => waitMsOf(triesOf(guesser), guesser.kind, at));
    const waitMs = Math.max(...waits);
    if (waitMs > 0) return waitMs;
    const written = guessers.map((guesser) => {
      const state = begun(triesOf(guesser), at);
      return { subject: logInOf(guesser), state, expiresAt: at + MEMORY_MS };
    });
    yield* writeStates(written);
    return 0;
  },

  *endLogIn(guessers, end) {
    const { at, states } = yield* lockStates<Tries>(guessers.map(logInOf));
    const written = guessers.map((guesser) => {
      const subject = logInOf(guesser);
      const { kind } = guesser;
      const state = ended(states.get(subject) ?? NO_TRIES, { kind, end, now: at });
      const expiresAt = state === null ? at : state.lastAt + MEMORY_MS;
      return { subject, state: state ?? NO_TRIES, expiresAt };
    });
    yield* writeStates(written);
  },

  *forgetLeases() {
    yield* forget.run({});
  },
};

const NO_TRIES: Tries = { wrong: 0, lastAt: 0 };

const rateOf = (memberId: string): string => `rate ${memberId}`;
const slotsOf = (memberId: string): string => `slots ${memberId}`;
const budgetOf = (subject: Parameters<typeof nameOf>[0]): string => `budget ${nameOf(subject)}`;
const logInOf = ({ kind, key }: Guesser): string => `log-in ${kind} ${key}`;

const sqliteNow = `cast(unixepoch('subsec') * 1000 as integer)`;
const postgresNow = 'cast(extract(epoch from clock_timestamp()) * 1000 as bigint)';

interface LockedRow {
  readonly subject: string;
  /** JSON. */
  readonly state: string | null;
  readonly expiresAt: number;
  readonly at: number;
}

/** In the order of their names, as every operation locks them. */
const read = `from limit_leases where subject in (select value from json_each(@subjects))
   order by subject`;
const lockRows = statement<{ subjects: string }, LockedRow>({
  sqlite: `select subject, state, expires_at as "expiresAt", ${sqliteNow} as at ${read}`,
  postgres: `select subject, state, expires_at as "expiresAt", ${postgresNow} as at ${read}
   for update`,
});
const begin = statement<{ subject: string }>({
  sqlite: `insert into limit_leases (subject, state, expires_at)
     values (@subject, null, ${sqliteNow} + ${LEASE_MS}) on conflict (subject) do nothing`,
  postgres: `insert into limit_leases (subject, state, expires_at)
     values (@subject, null, ${postgresNow} + ${LEASE_MS}) on conflict (subject) do nothing`,
});

interface States<State> {
  /** Unix ms. */
  readonly at: number;
  /** Those that still count. */
  readonly states: ReadonlyMap<string, State>;
}

function* lockStates<State>(subjects: readonly string[]): Operation<States<State>> {
  if (subjects.length === 0) return { at: 0, states: new Map() };
  const asked = { subjects: JSON.stringify(subjects) };
  let rows = yield* lockRows.all(asked);
  if (rows.length < subjects.length) {
    yield* begin.each(subjects.toSorted().map((subject) => ({ subject })));
    rows = yield* lockRows.all(asked);
  }
  const at = Math.max(...rows.map((row) => row.at));
  const states = new Map<string, State>();
  for (const { subject, state, expiresAt } of rows) {
    if (state !== null && expiresAt > at) states.set(subject, JSON.parse(state) as State);
  }
  return { at, states };
}

interface WrittenState {
  readonly subject: string;
  readonly state: unknown;
  readonly expiresAt: number;
}

const write = statement<{ subject: string; state: string; expiresAt: number }>(
  'update limit_leases set state = @state, expires_at = @expiresAt where subject = @subject',
);

function* writeStates(written: readonly WrittenState[]): Operation<void> {
  yield* write.each(written.map((one) => ({ ...one, state: JSON.stringify(one.state) })));
}

const forget = statement({
  sqlite: `delete from limit_leases where expires_at <= ${sqliteNow}`,
  // Rows that an operation uses now are left to the next time.
  postgres: `delete from limit_leases where subject in
     (select subject from limit_leases where expires_at <= ${postgresNow} for update skip locked)`,
});
