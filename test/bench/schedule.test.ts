/** What the matcher's rules bring: the short form of `npm run bench -- schedule`. */
import { describe, expect, it, test } from 'vitest';
import { measure } from '../../bench/schedule/measures.js';
import type { RuleSet } from '../../bench/schedule/rules.js';
import { shareOfIdeal } from '../../bench/schedule/schedule.js';
import { simulate } from '../../bench/schedule/simulation.js';
import { SITUATIONS } from '../../bench/schedule/situations.js';

const MINUTE = 60_000;

/** The outcome of a situation within its first minutes. */
function after(minutes: number, title: string, without: RuleSet = []) {
  const situation = SITUATIONS.find((one) => one.title === title);
  if (situation === undefined) throw new Error(`there is no situation "${title}"`);
  const scenario = { ...situation.make(), untilMs: minutes * MINUTE };
  return measure(simulate(scenario, without), situation.card);
}

test('two cards, one twice as fast, bring nine tenths of what the best split brings', () => {
  for (const slowdown of [0.5, 1]) {
    for (const callers of [2, 3, 4, 6, 8]) {
      expect(shareOfIdeal({ slowdown, callers }, [], 4 * MINUTE)).toBeGreaterThan(0.9);
    }
  }
  // A router that does not count what else a card does sends all to the faster one.
  expect(shareOfIdeal({ slowdown: 1, callers: 3 }, ['busy cards'], 4 * MINUTE)).toBeLessThan(0.7);
});

describe('a card that fails in 5 ms', () => {
  const FAILS = 'a card fails in 5 ms';

  it('gets its five failures and one probe each 30 s, and its callers are all answered', () => {
    const { given, refused, answered } = after(10, FAILS);
    expect(given).toBeLessThanOrEqual(5 + 20);
    expect(answered).toBeGreaterThan(150);
    expect(refused).toBe(0);
  });

  it('would get nearly every call, were failures not remembered', () => {
    const { given, answered } = after(10, FAILS, ['breaker', 'share of failures']);
    expect(given / answered).toBeGreaterThan(0.9);
  });
});

describe('affinity', () => {
  const TALKS = '12 conversations on 9 slots';

  it('finds more prompts in the caches, and answers sooner', () => {
    const [kept, lost] = [after(8, TALKS), after(8, TALKS, ['affinity'])];
    expect(kept.cacheHits).toBeGreaterThan(1.25 * lost.cacheHits);
    expect(kept.firstByteSeconds).toBeLessThan(lost.firstByteSeconds);
  });

  it('lets nobody wait beside a free card', () => {
    expect(after(8, TALKS).idleWhileWaiting).toBe(0);
    expect(after(4, '18 conversations on 9 slots').idleWhileWaiting).toBe(0);
  });
});

test('a fast newcomer is found out, and a card that was slow once, too', () => {
  expect(after(15, 'a fast card comes later').share).toBeGreaterThan(0.7);
  expect(after(15, 'a fast card comes later', ['newcomers first']).share).toBe(0);
  const PLAYED = 'the fast card was slow for 10 minutes';
  expect(after(240, PLAYED).share).toBeGreaterThan(after(240, PLAYED, ['fading']).share);
});

test('a loaded model comes before one that must load, and quick loading before slow', () => {
  expect(after(240, 'a fast card that sleeps, a slow one that does not').loads).toBe(0);
  const SLEEP = 'two that sleep, one loads quickly';
  const [learned, not] = [after(240, SLEEP), after(240, SLEEP, ['learned load times'])];
  expect(learned.meanSeconds).toBeLessThan(not.meanSeconds / 2);
});

test('the same run comes to the same', () => {
  expect(after(2, '6 conversations on 9 slots')).toEqual(after(2, '6 conversations on 9 slots'));
});
