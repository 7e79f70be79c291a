/** The run as text: one table a question, then the targets. */
import { cpus } from 'node:os';
import type { Samples } from '../samples.js';
import { formatNumber, table } from '../table.js';
import { targetTable } from '../targets.js';
import { BATCH_ITEMS, CONNECTIONS } from './phases.js';
import { QUEUES } from './queues/queues.js';
import { FEW, MANY } from './tables/table-round.js';
import { TARGETS } from './targets.js';

export function report(samples: Samples): string {
  const machine = `Node ${process.versions.node}, ${cpus().length} cores, medians of all rounds`;
  return [
    `jobs: ${machine}`,
    callTable(samples),
    submissionTable(samples),
    latencyTable(samples),
    queueTable(samples),
    sizeTable(samples),
    targetTable(TARGETS, samples),
  ].join('\n\n');
}

function callTable(samples: Samples): string {
  const heading = [
    `Calls at ${CONNECTIONS} connections`,
    'a second',
    '× synchronous',
    'coordinator CPU ms',
    'agent CPU ms',
  ];
  const rows = [
    ['synchronous', 'sync'],
    ['jobs, to PROCESSED', 'jobs'],
    ['lines of a file, to completed', 'file'],
  ].map(([says = '', phase = '']) => {
    const of = (metric: string): number => samples.median('gateway', `${phase}.${metric}`);
    return [
      says,
      formatNumber(of('rps'), 0),
      formatNumber(of('rps') / samples.median('gateway', 'sync.rps'), 2),
      formatNumber(of('cpu.coordinator'), 3),
      formatNumber(of('cpu.agent'), 3),
    ];
  });
  return table(heading, rows);
}

function submissionTable(samples: Samples): string {
  const rows = [1, CONNECTIONS].map((connections) => [
    `${connections} connection${connections === 1 ? '' : 's'}`,
    ...['rps', 'p50', 'p99'].map((metric) =>
      formatNumber(
        samples.median('gateway', `submit${connections}.${metric}`),
        metric === 'rps' ? 0 : 2,
      ),
    ),
  ]);
  return table(['Submissions, queue paused', '202 a second', 'p50 ms', 'p99 ms'], rows);
}

function latencyTable(samples: Samples): string {
  const of = (metric: string): number => samples.median('gateway', metric);
  return table(
    ['From the submission', 'ms'],
    [
      [`batch of ${BATCH_ITEMS}, to DONE`, formatNumber(of('batch.seconds') * 1_000, 0)],
      ['one job on an idle slot, to its start, p50', formatNumber(of('start.p50'), 2)],
      ['the same, p99', formatNumber(of('start.p99'), 2)],
    ],
  );
}

/** What is safe once `add` has been answered, as each queue ships. */
const DURABILITY: Readonly<Record<(typeof QUEUES)[number], string>> = {
  gateway: 'SQLite, synchronous FULL',
  plainjob: 'SQLite, synchronous NORMAL (as it ships)',
  'gateway-postgres': 'PostgreSQL, as the server says',
  'plainjob-full': 'SQLite, synchronous FULL',
  bullmq: "Redis, as the server's configuration says",
};

function queueTable(samples: Samples): string {
  const heading = [
    'Queue alone',
    'durability',
    'added a second',
    'claimed and finished',
    'whole jobs a second',
    '× gateway',
  ];
  const rows = QUEUES.map((name) => [
    name,
    DURABILITY[name],
    formatNumber(samples.median(name, 'queue.add'), 0),
    formatNumber(samples.median(name, 'queue.run'), 0),
    formatNumber(samples.median(name, 'queue'), 0),
    formatNumber(samples.median(name, 'queue') / samples.median('gateway', 'queue'), 2),
  ]);
  return table(heading, rows);
}

const OPERATIONS = [
  ['list, newest 50', 'list'],
  ['list, 50 from the middle', 'listDeep'],
  ['list, 50 of one status', 'listStatus'],
  ['get', 'get'],
  ['claim of 50', 'claim'],
] as const;

function sizeTable(samples: Samples): string {
  const rowsOf = (name: string): string => `${formatNumber(samples.median(name, 'rows'), 0)} jobs`;
  const heading = ['ms', ...['store', 'HTTP'].flatMap(sizesOf)];
  const rows = OPERATIONS.map(([says, metric]) => [
    says,
    ...['store', 'api'].flatMap((way) => {
      const [few, many] = [FEW, MANY].map((name) => samples.median(name, `${way}.${metric}`));
      const [a = Number.NaN, b = Number.NaN] = [few, many];
      return [formatNumber(a, 3), formatNumber(b, 3), formatNumber(b / a, 2)];
    }),
  ]);
  return table(heading, rows);

  function sizesOf(way: string): string[] {
    return [`${way}, ${rowsOf(FEW)}`, rowsOf(MANY), '×'];
  }
}
