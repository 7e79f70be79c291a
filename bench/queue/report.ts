/** The run as text: the queues, the operations on both engines, then the targets. */
import { cpus } from 'node:os';
import type { Samples } from '../samples.js';
import { formatNumber, table } from '../table.js';
import { atLeast, targetTable } from '../targets.js';
import type { Target } from '../targets.js';
import { ENGINES, OPERATIONS } from './operations.js';
import { QUEUES } from './queue.js';

const TARGETS: readonly Target[] = (['graphile-worker', 'pg-boss'] as const).map((peer) =>
  atLeast(1, `jobs of one member a second, against ${peer}`, (of) => {
    return of('gateway', 'queue') / of(peer, 'queue');
  }),
);

export function report(samples: Samples): string {
  const machine = `Node ${process.versions.node}, ${cpus().length} cores`;
  const title = `queue: ${machine}, medians of all rounds, in brackets the least and the most`;
  const tables = [queueTable(samples), operationTable(samples), targetTable(TARGETS, samples)];
  return [title, ...tables].join('\n\n');
}

function queueTable(samples: Samples): string {
  const heading = [
    'Queue on PostgreSQL',
    'added a second',
    'claimed and finished',
    'whole jobs a second',
    'gateway ÷ it, in the same round',
  ];
  const rounds = samples.toJSON();
  const rows = QUEUES.map((name) => {
    const own = rounds['gateway']?.['queue'] ?? [];
    const theirs = rounds[name]?.['queue'] ?? [];
    return [
      name,
      formatNumber(samples.median(name, 'queue.add'), 0),
      formatNumber(samples.median(name, 'queue.run'), 0),
      spread(theirs, 0),
      spread(
        theirs.map((rate, round) => (own[round] ?? Number.NaN) / rate),
        2,
      ),
    ];
  });
  return table(heading, rows);
}

function spread(values: readonly number[], digits: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  const [least = Number.NaN, most = Number.NaN] = [sorted[0], sorted.at(-1)];
  const middle = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const [mid, low, high] = [middle, least, most].map((value) => formatNumber(value, digits));
  return `${mid} (${low}–${high})`;
}

function operationTable(samples: Samples): string {
  const heading = ['One at a time, ms', ...ENGINES.flatMap((name) => [`${name} p50`, 'p99'])];
  const rows = Object.keys(OPERATIONS).map((operation) => [
    operation,
    ...ENGINES.flatMap((engine) =>
      ['p50', 'p99'].map((one) => formatNumber(samples.median(engine, `${operation}.${one}`), 2)),
    ),
  ]);
  return table(heading, rows);
}
