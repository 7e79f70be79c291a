/** The run as text: one table a question, then the targets. */
import { cpus } from 'node:os';
import type { Samples } from '../samples.js';
import { formatNumber, table } from '../table.js';
import { targetTable } from '../targets.js';
import { CONNECTIONS, STREAMS } from './phases.js';
import { TARGETS } from './targets.js';

export function report(samples: Samples): string {
  const machine = `Node ${process.versions.node}, ${cpus().length} cores, medians of all rounds`;
  return [
    `relay: ${machine}`,
    ...CONNECTIONS.map((connections) => jsonTable(samples, connections)),
    steadyTable(samples),
    streamsTable(samples),
    costTable(samples),
    targetTable(TARGETS, samples),
  ].join('\n\n');
}

function jsonTable(samples: Samples, connections: number): string {
  const metric = `json${connections}`;
  const heading = [
    `JSON chat, ${connections} connection${connections === 1 ? '' : 's'}`,
    'requests/s',
    '× hop',
    'p50 ms',
    'added p50',
    'added p95',
    'added p99',
  ];
  const rows = samples.subjects.map((subject) => [
    subject,
    formatNumber(samples.median(subject, `${metric}.rps`), 0),
    formatNumber(ratio(samples, subject, `${metric}.rps`), 2),
    formatNumber(samples.median(subject, `${metric}.p50`), 2),
    ...addedCells(samples, subject, metric),
  ]);
  return table(heading, rows);
}

function steadyTable(samples: Samples): string {
  const heading = ['200 requests/s', 'p50 ms', 'added p50', 'added p95', 'added p99'];
  const rows = samples.subjects.map((subject) => [
    subject,
    formatNumber(samples.median(subject, 'steady.p50'), 2),
    ...addedCells(samples, subject, 'steady'),
  ]);
  return table(heading, rows);
}

function streamsTable(samples: Samples): string {
  const heading = [
    'Streams',
    'first token ms, 1 stream',
    `chunks/s, ${STREAMS} streams`,
    'relay p50 ms',
    'relay p99 ms',
    'first token ms',
    'flood chunks/s',
    '× hop',
  ];
  const rows = samples.subjects.map((subject) => [
    subject,
    formatNumber(samples.median(subject, 'first.token'), 2),
    formatNumber(samples.median(subject, 'streams.rate'), 0),
    formatNumber(samples.median(subject, 'streams.relay.p50'), 2),
    formatNumber(samples.median(subject, 'streams.relay.p99'), 2),
    formatNumber(samples.median(subject, 'streams.first'), 1),
    formatNumber(samples.median(subject, 'flood.rate'), 0),
    formatNumber(ratio(samples, subject, 'flood.rate'), 2),
  ]);
  return table(heading, rows);
}

const PROCESSES = [
  ['hop', 'hop'],
  ['gateway', 'coordinator'],
  ['gateway', 'agent'],
  ['nginx', 'nginx'],
  ['portkey', 'portkey'],
] as const;

function costTable(samples: Samples): string {
  const heading = [
    'Process',
    'CPU ms a request',
    'CPU ms a chunk',
    `RSS MB, ${STREAMS} streams`,
    'RSS MB, 1,000 requests',
    'RSS MB, many requests',
  ];
  const measured = PROCESSES.filter(([subject]) => samples.subjects.includes(subject));
  const rows = measured.map(([subject, role]) => [
    role,
    formatNumber(samples.median(subject, `json16.cpu.${role}`), 3),
    formatNumber(samples.median(subject, `streams.cpu.${role}`), 4),
    formatNumber(samples.median(subject, `streams.rss.${role}`), 0),
    formatNumber(samples.median(subject, `memory.few.${role}`), 0),
    formatNumber(samples.median(subject, `memory.many.${role}`), 0),
  ]);
  return table(heading, rows);
}

function addedCells(samples: Samples, subject: string, metric: string): string[] {
  return ['p50', 'p95', 'p99'].map((share) => {
    const direct = samples.median('direct', `${metric}.${share}`);
    return formatNumber(samples.median(subject, `${metric}.${share}`) - direct, 2);
  });
}

function ratio(samples: Samples, subject: string, metric: string): number {
  return samples.median(subject, metric) / samples.median('hop', metric);
}
