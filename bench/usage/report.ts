/** The run as text: answers on both engines, the writing of usage, then the targets. */
import { cpus } from 'node:os';
import { ENGINES } from '../engines.js';
import type { Samples } from '../samples.js';
import { formatNumber, table } from '../table.js';
import { targetTable } from '../targets.js';
import type { Target } from '../targets.js';
import { QUESTIONS } from './questions.js';
import { GROUPS } from './writes.js';

const TARGETS: readonly Target[] = ENGINES.map((engine) => ({
  says: `the slowest question on ${engine}, p50`,
  goal: 50,
  better: 'less',
  unit: ' ms',
  measure: (of) => Math.max(...Object.keys(QUESTIONS).map((metric) => of(engine, `${metric}.p50`))),
}));

export function report(samples: Samples): string {
  const machine = `Node ${process.versions.node}, ${cpus().length} cores`;
  const sizes = ENGINES.map((one) => `${one} ${formatNumber(samples.median(one, 'mb'), 0)} MB`);
  const title = `usage: ${machine}; a year of hours of 500 members: ${sizes.join(', ')}`;
  return [title, reads(samples), writes(samples), targetTable(TARGETS, samples)].join('\n\n');
}

function reads(samples: Samples): string {
  const heading = ['Question, ms', ...ENGINES.flatMap((engine) => [`${engine} p50`, 'max'])];
  const rows = Object.entries(QUESTIONS).map(([metric, { says }]) => [
    says,
    ...ENGINES.flatMap((engine) =>
      ['p50', 'max'].map((one) => formatNumber(samples.median(engine, `${metric}.${one}`), 1)),
    ),
  ]);
  return table(heading, rows);
}

function writes(samples: Samples): string {
  const heading = ['Writing on SQLite, µs a request', 'row and all sums', 'of it sums of periods'];
  const rows = Object.entries(GROUPS).map(([metric, { says }]) => [
    says,
    ...['whole', 'periods'].map((one) =>
      formatNumber(samples.median('sqlite', `write.${metric}.${one}`), 0),
    ),
  ]);
  return table(heading, rows);
}
