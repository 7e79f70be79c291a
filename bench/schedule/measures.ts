/** What a simulation came to, in numbers. */
import { percentilesOf } from '../statistics.js';
import type { Outcome } from './simulation.js';

export interface Measures {
  readonly answered: number;
  readonly refused: number;
  readonly meanSeconds: number;
  readonly p95Seconds: number;
  readonly firstByteSeconds: number;
  readonly loads: number;
  readonly idleWhileWaiting: number;
  /** Of the turns that had one before them. */
  readonly cacheHits: number;
  /** Calls that the card got, answered or not. */
  readonly given: number;
  /** Of all answers, those of the card. */
  readonly share: number;
}

/** `card` is the one that the situation is about. */
export function measure(outcome: Outcome, card: string): Measures {
  const { answered, refused, loads, idleWhileWaiting } = outcome;
  const totals = answered.map(({ totalMs }) => totalMs / 1_000);
  const later = answered.filter(({ call }) => call.sharedTokens > 0);
  return {
    answered: answered.length,
    refused,
    meanSeconds: mean(totals),
    p95Seconds: percentilesOf(totals).p95,
    firstByteSeconds: mean(answered.map(({ firstByteMs }) => firstByteMs / 1_000)),
    loads,
    idleWhileWaiting,
    cacheHits: later.filter(({ hitsCache }) => hitsCache).length / later.length,
    given: outcome.given.get(card) ?? 0,
    share: answered.filter(({ cardId }) => cardId === card).length / answered.length,
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
