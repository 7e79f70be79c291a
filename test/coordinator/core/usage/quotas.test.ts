import { MAX_COUNTED_ACCOUNTS, Quotas } from '@inference-gateway/coordinator/core/usage/quotas';
import type { Account } from '@inference-gateway/coordinator/core/usage/quotas';
import { NOTHING, sumOf } from '@inference-gateway/coordinator/core/usage/quota';
import type { Amount, PeriodUse } from '@inference-gateway/coordinator/core/usage/quota';
import { array, asyncProperty, assert, constantFrom, integer, record } from 'fast-check';
import { describe, expect, test } from 'vitest';

const NOON = Date.UTC(2026, 10, 23, 12);
const DAY_MS = 86_400_000;
const ONE: Amount = { ...NOTHING, requests: 1, tokens: 10 };

function account(tokens: number, keyId: string | null = 'key'): Account {
  return { memberId: 'anna', keyId, title: 'The key', quota: { day: { tokens }, month: {} } };
}

function of(memberId: string): Account {
  return { ...account(10), memberId };
}

function row(requestId: string, tokens: number, at = NOON) {
  const numbers = { promptTokens: tokens, completionTokens: 0, estimated: false };
  return { requestId, at, memberId: 'anna', keyId: 'key', ...numbers, audioMs: 0, images: 0 };
}

/** Counts over a ledger that the test writes. */
function stage() {
  const state = { now: NOON, reads: 0, ledger: NOTHING, fails: false };
  const read = async (): Promise<PeriodUse> => {
    state.reads += 1;
    if (state.fails) throw new Error('no database');
    return { day: state.ledger, month: state.ledger };
  };
  const quotas = new Quotas(read, () => state.now);
  return { state, quotas };
}

describe('the counts of a limited account', () => {
  test('are read once, and again after a minute, on a new day, or a clock set back', async () => {
    const { state, quotas } = stage();
    await quotas.load([account(5)]);
    expect(quotas.load([account(5)])).toBeNull();
    expect(state.reads).toBe(1);
    state.now += 60_000;
    await quotas.load([account(5)]);
    state.now = NOON + DAY_MS;
    await quotas.load([account(5)]);
    state.now = NOON;
    await quotas.load([account(5)]);
    expect(state.reads).toBe(4);
  });

  test('are read once by all that wait for them, and are not read without an account', async () => {
    const { state, quotas } = stage();
    expect(quotas.load([])).toBeNull();
    const waiting = Array.from({ length: 50 }, async () => quotas.load([account(5)]));
    await Promise.all(waiting);
    expect(state.reads).toBe(1);
  });

  test('that cannot be read refuse the call with the error, and are read by the next', async () => {
    const { state, quotas } = stage();
    state.fails = true;
    await expect(quotas.load([account(5)])).rejects.toThrow('no database');
    state.fails = false;
    await quotas.load([account(5)]);
    expect(quotas.reserve('a', [account(5)], ONE)).toBeNull();
  });

  test('have what ended while they were read', async () => {
    const { quotas } = stage();
    const loading = quotas.load([account(10)]);
    quotas.count(row('a', 10));
    await loading;
    expect(quotas.refusalOf([account(10)], ONE)).toMatchObject({ used: 10, isReserved: false });
  });

  test('have nothing of another day, of another key, or of another member', async () => {
    const { quotas } = stage();
    await quotas.load([account(10)]);
    quotas.count(row('a', 10, NOON - DAY_MS));
    quotas.count({ ...row('b', 10), keyId: 'another' });
    quotas.count({ ...row('c', 10), memberId: 'ben' });
    expect(quotas.refusalOf([account(10)], ONE)).toBeNull();
  });

  test('of the member have those of all keys', async () => {
    const { quotas } = stage();
    await quotas.load([account(20, null)]);
    quotas.count(row('a', 10));
    quotas.count({ ...row('b', 10), keyId: 'another' });
    expect(quotas.refusalOf([account(20, null)], ONE)).toMatchObject({ used: 20 });
  });

  test('are limited in number, and one with a running call is kept', async () => {
    const { state, quotas } = stage();
    await quotas.load([of('running')]);
    expect(quotas.reserve('r', [of('running')], ONE)).toBeNull();
    for (let i = 0; i < MAX_COUNTED_ACCOUNTS; i++) await quotas.load([of(`member ${i}`)]);
    expect(quotas.refusalOf([of('running')], ONE)).toMatchObject({ isReserved: true });
    const before = state.reads;
    expect(quotas.load([of('running')])).toBeNull();
    await quotas.load([of('member 0')]);
    expect(state.reads).toBe(before + 1);
  });
});

describe('a reservation', () => {
  test('is all or nothing over several accounts, and the one that is used up is told', async () => {
    const { quotas } = stage();
    const both = [account(100), account(5, null)];
    await quotas.load(both);
    expect(quotas.reserve('a', both, ONE)).toBeNull();
    expect(quotas.reserve('b', both, ONE)).toMatchObject({ limit: 5, isReserved: true });
    quotas.release('a');
    expect(quotas.reserve('b', both, ONE)).toBeNull();
  });

  test('is amended, released once, and ended by its row under the name of the job', async () => {
    const { quotas } = stage();
    await quotas.load([account(20)]);
    quotas.reserve('job', [account(20)], ONE);
    quotas.amend('job', { ...ONE, tokens: 20 });
    quotas.amend('unknown', ONE);
    expect(quotas.refusalOf([account(20)], ONE)).not.toBeNull();
    quotas.count(row('job.1', 4), 'job');
    quotas.release('job');
    expect(quotas.refusalOf([account(20)], ONE)).toBeNull();
    expect(quotas.refusalOf([account(4)], ONE)).toMatchObject({ used: 4, isReserved: false });
    expect(quotas.refusalOf([account(5)], ONE)).toBeNull();
  });
});

test('whatever happens in which order, the counts are those of a plain ledger', async () => {
  const step = record({
    what: constantFrom('start', 'end', 'fail', 'minute', 'day'),
    tokens: integer({ min: 1, max: 30 }),
  });
  await assert(
    asyncProperty(array(step, { maxLength: 40 }), async (steps) => {
      const { state, quotas } = stage();
      const running = new Map<string, number>();
      const limit = account(50);
      for (const [i, { what, tokens }] of steps.entries()) {
        await quotas.load([limit]);
        const held = [...running.values()].reduce((sum, one) => sum + one, 0);
        if (what === 'start') {
          const refusal = quotas.reserve(`r${i}`, [limit], { ...NOTHING, tokens });
          expect(refusal === null).toBe(state.ledger.tokens + held < 50);
          if (refusal === null) running.set(`r${i}`, tokens);
        }
        const [name = null] = running.keys();
        if (name !== null && (what === 'end' || what === 'fail')) {
          running.delete(name);
          if (what === 'fail') quotas.release(name);
          else {
            // It may use less than it has reserved.
            const used = { ...row(name, tokens, state.now) };
            state.ledger = sumOf(state.ledger, { ...NOTHING, requests: 1, tokens });
            quotas.count(used);
          }
        }
        if (what === 'minute') state.now += 61_000;
        if (what === 'day') {
          state.now += DAY_MS;
          state.ledger = NOTHING;
        }
      }
    }),
  );
});
