/** What jobs hold themselves to, as ratios within one run. */
import { atLeast, atMost, ratio } from '../targets.js';
import type { Read, Target } from '../targets.js';
import { FEW, MANY } from './tables/table-round.js';

const SAME_CALLS = 'jobs to PROCESSED a second, against the same calls made synchronously';
const GROWTH = (of: Read): number => of('gateway', 'file.rss');
const SAME_TABLE = 'in the large table, against the small one';

const PEERS = [
  ['plainjob', 0.8],
  ['plainjob-full', 3],
  ['bullmq', 1],
] as const;

export const TARGETS: readonly Target[] = [
  atLeast(0.7, SAME_CALLS, (of) => of('gateway', 'jobs.rps') / of('gateway', 'sync.rps')),
  atLeast(0.5, `lines of a file a second, against the same calls made synchronously`, (of) => {
    return of('gateway', 'file.rps') / of('gateway', 'sync.rps');
  }),
  { ...atMost(64, 'coordinator RSS growth with the file', GROWTH), unit: ' MiB' },
  atLeast(8, 'submissions a second at 64 connections, against one by one', (of) => {
    return of('gateway', 'submit64.rps') / of('gateway', 'submit1.rps');
  }),
  { ...atMost(1, 'batch of 256 to DONE', (of) => of('gateway', 'batch.seconds')), unit: ' s' },
  ...PEERS.map(([peer, goal]) =>
    atLeast(goal, `no-op jobs a second in the store alone, against ${peer}`, (of) =>
      ratio(of, 'queue', peer),
    ),
  ),
  inMs(5, 'submit to start on an idle slot, p50', 'start.p50'),
  inMs(30, 'submit to start on an idle slot, p99', 'start.p99'),
  atMost(2, `list ${SAME_TABLE}`, (of) => slowest(of, LISTS)),
  atMost(2, `get ${SAME_TABLE}`, (of) => slowest(of, GETS)),
  atMost(2, `claim ${SAME_TABLE}`, (of) => slowest(of, ['store.claim'])),
];

const LISTS = ['list', 'listDeep', 'listStatus'].flatMap((of) => [`store.${of}`, `api.${of}`]);
const GETS = ['store.get', 'api.get'];

function inMs(goal: number, says: string, metric: string): Target {
  return { ...atMost(goal, says, (of) => of('gateway', metric)), unit: ' ms' };
}

/** The worst of several, so that none hides behind another. */
function slowest(of: Read, metrics: readonly string[]): number {
  return Math.max(...metrics.map((metric) => of(MANY, metric) / of(FEW, metric)));
}
