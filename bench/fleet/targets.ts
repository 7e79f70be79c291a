/** What a coordinator holds itself to with a fleet of homes. */
import { atMost } from '../targets.js';
import type { Target } from '../targets.js';

export const TARGETS: readonly Target[] = [
  {
    ...atMost(60, 'RSS that idle homes add to an empty coordinator', (of) => {
      return of('gateway', 'rss.idle') - of('gateway', 'rss.empty');
    }),
    unit: ' MB',
  },
  inMs(10, "GET /models, p99, for the homes' owner", 'models.owner.p99'),
  inMs(10, 'GET /models, p99, through one network', 'models.guest.p99'),
  {
    ...atMost(60, 'all homes dropped at once: until the last is back', (of) => {
      return of('gateway', 'drop.seconds');
    }),
    unit: ' s',
  },
  inMs(250, "meanwhile, the longest gap in another home's streams", 'drop.gap.max'),
];

function inMs(goal: number, says: string, metric: string): Target {
  return { ...atMost(goal, says, (of) => of('gateway', metric)), unit: ' ms' };
}
