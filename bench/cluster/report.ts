/** The run as text: one table a question, then the targets. */
import { cpus } from 'node:os';
import type { Samples } from '../samples.js';
import { formatNumber, table } from '../table.js';
import { atMost, targetTable } from '../targets.js';
import type { Read, Target } from '../targets.js';
import { CONNECTIONS, STREAMS } from './cluster.js';

const TARGETS: readonly Target[] = [
  { ...atMost(1, 'hop: added p50, one connection', (of) => added(of, 'single.p50')), unit: ' ms' },
  { ...atMost(1, 'hop: added p50, 100 a second', (of) => added(of, 'steady.p50')), unit: ' ms' },
  atMost(2, 'hop: CPU a call, against a local one', (of) => ratio(of, 'load.cpu', 'hop')),
  atMost(2, 'hop: CPU a streamed chunk, against a local one', (of) =>
    ratio(of, 'streams.cpu', 'hop'),
  ),
  atMost(1.6, 'three coordinators: CPU a call, against one', (of) =>
    ratio(of, 'load.cpu', 'three'),
  ),
];

const LATENCIES = [
  ['single', 'Chat, 1 connection'],
  ['steady', 'Chat, 100 a second'],
  ['load', `Chat, ${CONNECTIONS} connections`],
] as const;

/** What each subject is compared with. */
const AGAINST: Readonly<Record<string, string>> = { hop: 'local', three: 'one' };

export function report(samples: Samples): string {
  return [
    `cluster: Node ${process.versions.node}, ${cpus().length} cores, medians of all rounds`,
    ...LATENCIES.map(([metric, heading]) => latencyTable(samples, metric, heading)),
    costTable(samples),
    targetTable(TARGETS, samples),
  ].join('\n\n');
}

function latencyTable(samples: Samples, metric: string, heading: string): string {
  const read: Read = (subject, of) => samples.median(subject, of);
  const rows = samples.subjects.map((subject) => [
    subject,
    ...['p50', 'p95'].flatMap((share) => {
      const against = AGAINST[subject];
      const ms = read(subject, `${metric}.${share}`);
      const base = against === undefined ? Number.NaN : read(against, `${metric}.${share}`);
      return [formatNumber(ms, 2), formatNumber(ms - base, 2)];
    }),
  ]);
  return table([heading, 'p50 ms', 'added', 'p95 ms', 'added'], rows);
}

function costTable(samples: Samples): string {
  const heading = [
    'Coordinators',
    'idle, % of a core',
    'requests/s',
    'CPU ms a call',
    '×',
    'at 100 a second',
    '×',
    `CPU ms a chunk, ${STREAMS} streams`,
    '×',
    'relay p50 ms',
    'first token ms',
  ];
  const read: Read = (subject, metric) => samples.median(subject, metric);
  const rows = samples.subjects.map((subject) => [
    subject,
    formatNumber(read(subject, 'idle'), 1),
    formatNumber(read(subject, 'load.rps'), 0),
    formatNumber(read(subject, 'load.cpu'), 3),
    formatNumber(ratio(read, 'load.cpu', subject), 2),
    formatNumber(read(subject, 'steady.cpu'), 3),
    formatNumber(ratio(read, 'steady.cpu', subject), 2),
    formatNumber(read(subject, 'streams.cpu'), 4),
    formatNumber(ratio(read, 'streams.cpu', subject), 2),
    formatNumber(read(subject, 'streams.relay.p50'), 2),
    formatNumber(read(subject, 'streams.first.p50'), 2),
  ]);
  return table(heading, rows);
}

function added(of: Read, metric: string): number {
  return of('hop', metric) - of('local', metric);
}

/** Of a subject over what it is compared with. */
function ratio(of: Read, metric: string, subject: string): number {
  return of(subject, metric) / of(AGAINST[subject] ?? '', metric);
}
