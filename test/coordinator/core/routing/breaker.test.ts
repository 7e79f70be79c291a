import {
  allowProbe,
  CLOSED_BREAKER,
  concerns,
  failureShare,
  nextProbeMs,
  OPEN_MS,
  PROBE_TIMEOUT_MS,
  record,
  returnProbe,
  standing,
  takeProbe,
} from '@inference-gateway/coordinator/core/routing/breaker';
import type { BreakerState } from '@inference-gateway/coordinator/core/routing/breaker';
import { describe, expect, it, test } from 'vitest';

const NOW = 1_000;

/** `o` is an answer, `x` a failure; lower case for Anna's calls, upper case for Ben's. */
function after(outcomes: string, from: BreakerState = CLOSED_BREAKER, now = NOW): BreakerState {
  let state = from;
  for (const one of outcomes) {
    const memberId = one === one.toLowerCase() ? 'anna' : 'ben';
    const outcome = one.toLowerCase() === 'o' ? 'ok' : 'failed';
    state = record(state, { outcome, memberId }, now);
  }
  return state;
}

const OPEN = after('xxxxx');
const DUE = NOW + OPEN_MS;
const PROBING = takeProbe(OPEN, DUE);

test.each<[string, string, 'closed' | 'open']>([
  ['nothing has happened', '', 'closed'],
  ['4 failed in a row', 'xxxx', 'closed'],
  ['5 failed in a row', 'xxxxx', 'open'],
  ['an answer came between them', 'xxxxoxxxx', 'closed'],
  ['half of 18 failed', 'xo'.repeat(9), 'closed'],
  ['half of 20 failed', 'xo'.repeat(10), 'open'],
  ['9 of 20 failed', `oo${'xo'.repeat(9)}`, 'closed'],
  ['half of the last 20 failed, and few before', `${'o'.repeat(40)}${'xo'.repeat(10)}`, 'open'],
  ['many failed, but long ago', `${'xxo'.repeat(4)}${'o'.repeat(9)}${'o'.repeat(20)}`, 'closed'],
])('where %s', (_, outcomes, expected) => {
  expect(standing(after(outcomes), NOW)).toBe(expected);
});

test.each<[string, BreakerState, number, 'closed' | 'open' | 'probe']>([
  ['open until its time is over', OPEN, DUE - 1, 'open'],
  ['then one call may try', OPEN, DUE, 'probe'],
  ['and only one at a time', PROBING, DUE + 1, 'open'],
  ['a probe that never reports is over', PROBING, DUE + PROBE_TIMEOUT_MS, 'probe'],
  ['a probe that told nothing leaves it to the next', returnProbe(PROBING), DUE + 1, 'probe'],
  ['an answer to the probe closes it', after('o', PROBING, DUE + 5), DUE + 5, 'closed'],
  ['a failure opens it again', after('x', PROBING, DUE + 5), DUE + 4 + OPEN_MS, 'open'],
  ['for as long as before', after('x', PROBING, DUE + 5), DUE + 5 + OPEN_MS, 'probe'],
  ['a new link lets a probe through at once', allowProbe(OPEN), NOW + 1, 'probe'],
  ['even where the old link took the last one away', allowProbe(PROBING), DUE, 'probe'],
  ['and closes nothing', allowProbe(CLOSED_BREAKER), NOW, 'closed'],
])('%s', (...[, state, now, expected]) => {
  expect(standing(state, now)).toBe(expected);
});

describe('while it is open', () => {
  it.each(['o', 'x'])('calls from before are no news: %s', (outcome) => {
    expect(after(outcome, OPEN, NOW + 10)).toEqual(OPEN);
  });

  it('tells when the next probe is due', () => {
    expect(nextProbeMs(OPEN, NOW + 1_000)).toBe(OPEN_MS - 1_000);
    expect(nextProbeMs(OPEN, DUE + 1)).toBe(0);
    expect(nextProbeMs(CLOSED_BREAKER, NOW)).toBe(0);
  });
});

describe('it stands in the way', () => {
  test.each<[string, string, 'both' | 'anna' | 'ben']>([
    ['of the one whose calls alone failed', 'xxxxx', 'anna'],
    ['also among the answers of others', 'xO'.repeat(10), 'anna'],
    ['of everybody where another failed as well', 'xxXxx', 'both'],
    ['of everybody where half of all failed, several members’', 'xoXO'.repeat(5), 'both'],
    ['of everybody once another fails while it is open', 'xxxxxX', 'both'],
    ['of no one else for an answer of theirs', 'xxxxxOOO', 'anna'],
  ])('%s', (_, outcomes, who) => {
    const state = after(outcomes);
    expect(state.openedAt).not.toBeNull();
    expect(concerns(state, 'anna')).toBe(who !== 'ben');
    expect(concerns(state, 'ben')).toBe(who !== 'anna');
  });

  test('of the one whose probe failed, until another fails, too', () => {
    const probed = after('X', takeProbe(after('xxXxx'), DUE), DUE + 1);
    expect([concerns(probed, 'anna'), concerns(probed, 'ben')]).toEqual([false, true]);
    expect(concerns(after('x', probed, DUE + 2), 'anna')).toBe(true);
  });
});

it('an answer to the probe forgets what was before', () => {
  expect(after('o', PROBING, DUE)).toEqual(CLOSED_BREAKER);
});

it('the share of failures counts those as good that are not known yet', () => {
  expect(failureShare(CLOSED_BREAKER)).toBe(0);
  expect(failureShare(after('x'))).toBe(0.05);
  expect(failureShare(after(`${'x'.repeat(4)}${'o'.repeat(18)}`))).toBe(0.1);
});

it('only the last 20 outcomes are kept', () => {
  expect(after('o'.repeat(50)).outcomes).toHaveLength(20);
});
