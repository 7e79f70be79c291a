/** The run as text: one table a question, then the targets. */
import { cpus } from 'node:os';
import type { Samples } from '../samples.js';
import { formatNumber, table } from '../table.js';
import { targetTable } from '../targets.js';
import { CONNECTIONS, CROWD, TOKEN_INTERVAL_MS } from './phases.js';
import { TARGETS } from './targets.js';

export function report(samples: Samples): string {
  const machine = `Node ${process.versions.node}, ${cpus().length} cores, medians of all rounds`;
  return [
    `media: ${machine}`,
    transferTable(samples, `25 MiB upload, ${CONNECTIONS} at once`, 'upload'),
    transferTable(samples, `4 MiB image, ${CONNECTIONS} at once`, 'image'),
    transferTable(samples, `1,000 × 1,024 numbers, ${CONNECTIONS} at once`, 'vectors'),
    crowdTable(samples),
    costTable(samples),
    targetTable(TARGETS, samples),
  ].join('\n\n');
}

function transferTable(samples: Samples, title: string, phase: string): string {
  const rate = `${phase}.rate`;
  const rows = samples.subjects.map((subject) => [
    subject,
    formatNumber(samples.median(subject, rate), 0),
    formatNumber(samples.median(subject, rate) / samples.median('hop', rate), 2),
    formatNumber(samples.median(subject, rate) / samples.median('direct', rate), 2),
    formatNumber(samples.median(subject, `${phase}.p50`), 0),
  ]);
  return table([title, 'MiB/s', '× hop', '× direct', 'p50 ms'], rows);
}

function crowdTable(samples: Samples): string {
  const heading = [
    `One stream, ${TOKEN_INTERVAL_MS} ms a token`,
    'inter-token p99 ms',
    `with ${CROWD} uploads`,
    'added ms',
    'uploads MiB/s',
  ];
  const rows = samples.subjects.map((subject) => [
    subject,
    formatNumber(samples.median(subject, 'alone.gap'), 1),
    formatNumber(samples.median(subject, 'crowd.gap'), 1),
    formatNumber(samples.median(subject, 'crowd.added'), 1),
    formatNumber(samples.median(subject, 'crowd.rate'), 0),
  ]);
  return table(heading, rows);
}

const PROCESSES = [
  ['hop', 'hop'],
  ['gateway', 'coordinator'],
  ['gateway', 'agent'],
] as const;

function costTable(samples: Samples): string {
  const heading = [
    'Process',
    'CPU ms a MiB up',
    'CPU ms a MiB of image',
    'CPU ms a MiB of numbers',
    `RSS growth MiB, ${CONNECTIONS} uploads`,
    `RSS MiB, ${CROWD} uploads`,
  ];
  const rows = PROCESSES.map(([subject, role]) => [
    role,
    formatNumber(samples.median(subject, `upload.cpu.${role}`), 2),
    formatNumber(samples.median(subject, `image.cpu.${role}`), 2),
    formatNumber(samples.median(subject, `vectors.cpu.${role}`), 2),
    formatNumber(samples.median(subject, `memory.growth.${role}`), 0),
    formatNumber(samples.median(subject, `crowd.rss.${role}`), 0),
  ]);
  return table(heading, rows);
}
