/** What the matcher holds itself to. */
import { OPEN_MS } from '@inference-gateway/coordinator/core/routing/breaker';
import { atLeast, atMost } from '../targets.js';
import type { Target } from '../targets.js';
import { SLOWDOWNS } from './scenarios.js';
import { splitName } from './schedule.js';
import { runName } from './situations.js';

/** Failures until the breaker opens, and one probe each time that it may be tried again. */
const ALLOWED = 5 + Math.floor((30 * 60_000) / OPEN_MS);
const FAILING = 'a card fails in 5 ms';
const TALKS = '12 conversations on 9 slots';
const LATER = 'a fast card comes later';

export const TARGETS: readonly Target[] = [
  ...SLOWDOWNS.map((slowdown) =>
    atLeast(0.9, `two speeds, slowdown ${slowdown}: answers/s at worst, against the ideal`, (of) =>
      of(splitName(slowdown, []), 'worst'),
    ),
  ),
  {
    ...atMost(ALLOWED, 'calls to a card that fails in 5 ms, of 620 in half an hour', (of) =>
      of(runName(FAILING, []), 'given'),
    ),
    unit: '',
  },
  atLeast(1.25, 'cache hits with affinity, against without', (of) => {
    const [kept, lost] = [runName(TALKS, []), runName(TALKS, ['affinity'])];
    return of(kept, 'cacheHits') / of(lost, 'cacheHits');
  }),
  {
    ...atMost(0, 'conversations that wait beside a free card', (of) =>
      of(runName(TALKS, []), 'idleWhileWaiting'),
    ),
    unit: '',
  },
  {
    ...atLeast(
      0.75,
      'share of answers of a fast newcomer, there for two thirds of the time',
      (of) => of(runName(LATER, []), 'share'),
    ),
    unit: '',
  },
];
