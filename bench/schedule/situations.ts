/** What is looked at in each situation, and without which rules it is simulated besides. */
import type { Measures } from './measures.js';
import type { Rule, RuleSet } from './rules.js';
import {
  coldCard,
  conversations,
  failingCard,
  flakyCard,
  newcomer,
  slowForAWhile,
  twoColdCards,
} from './scenarios.js';
import type { Scenario } from './simulation.js';

interface Column {
  readonly heading: string;
  readonly metric: keyof Measures;
  readonly digits: number;
}

export interface Situation {
  readonly title: string;
  readonly make: () => Scenario;
  /** The card that the situation is about. */
  readonly card: string;
  /** Rules left out, together, in each further run. */
  readonly without: readonly RuleSet[];
  readonly columns: readonly Column[];
}

const GIVEN: Column = { heading: 'calls it was given', metric: 'given', digits: 0 };
const SHARE: Column = { heading: 'its share of answers', metric: 'share', digits: 2 };
const LOADS: Column = { heading: 'loads', metric: 'loads', digits: 0 };
const FIRST_BYTE: Column = { heading: 'first byte s', metric: 'firstByteSeconds', digits: 2 };
const CACHE: Column = { heading: 'cache hits', metric: 'cacheHits', digits: 2 };
const IDLE: Column = { heading: 'waits beside a free card', metric: 'idleWhileWaiting', digits: 0 };

const FAILING: readonly RuleSet[] = [['breaker'], ['share of failures', 'breaker']];

export const SITUATIONS: readonly Situation[] = [
  {
    title: 'a card fails in 5 ms',
    make: () => failingCard(5),
    card: 'failing',
    without: FAILING,
    columns: [GIVEN],
  },
  {
    title: 'a card fails in 5 s',
    make: () => failingCard(5_000),
    card: 'failing',
    without: FAILING,
    columns: [GIVEN],
  },
  {
    title: 'a third of its calls fail',
    make: flakyCard,
    card: 'flaky',
    without: [['share of failures'], ['breaker']],
    columns: [GIVEN],
  },
  {
    title: 'a fast card that sleeps, a slow one that does not',
    make: coldCard,
    card: 'sleepy',
    without: [['loaded models']],
    columns: [LOADS, SHARE],
  },
  {
    title: 'two that sleep, one loads quickly',
    make: twoColdCards,
    card: 'flash',
    without: [['learned load times']],
    columns: [LOADS, SHARE],
  },
  ...[6, 12, 18].map((people) => ({
    title: `${people} conversations on 9 slots`,
    make: () => conversations(people),
    card: 'one',
    without: [['affinity']] satisfies RuleSet[],
    columns: [FIRST_BYTE, CACHE, IDLE],
  })),
  {
    title: 'a fast card comes later',
    make: newcomer,
    card: 'newcomer',
    without: [['newcomers first'], ['measured speed']],
    columns: [SHARE],
  },
  {
    title: 'the fast card was slow for 10 minutes',
    make: slowForAWhile,
    card: 'played on',
    without: [['fading'], ['measured speed']],
    columns: [SHARE],
  },
];

/** The name of a run in the samples. */
export function runName(title: string, without: readonly Rule[]): string {
  return without.length === 0 ? `${title}: all rules` : `${title}: without ${without.join(', ')}`;
}
