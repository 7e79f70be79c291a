/** The run as text: what a search takes on both engines, then the targets. */
import { cpus } from 'node:os';
import { ENGINES } from '../engines.js';
import type { Samples } from '../samples.js';
import { formatNumber, table } from '../table.js';
import { targetTable } from '../targets.js';
import type { Target } from '../targets.js';
import { QUESTIONS } from './search.js';

const TARGETS: readonly Target[] = ENGINES.map((engine) => ({
  says: `the slowest search on ${engine}, p50`,
  goal: 50,
  better: 'less',
  unit: ' ms',
  measure: (of) => Math.max(...Object.keys(QUESTIONS).map((metric) => of(engine, `${metric}.p50`))),
}));

export function report(samples: Samples): string {
  const rows = formatNumber(samples.median('sqlite', 'rows'), 0);
  const machine = `Node ${process.versions.node}, ${cpus().length} cores`;
  const heading = ['Search, ms', ...ENGINES.flatMap((engine) => [`${engine} p50`, 'max'])];
  const lines = Object.entries(QUESTIONS).map(([metric, { says }]) => [
    says,
    ...ENGINES.flatMap((engine) =>
      ['p50', 'max'].map((one) => formatNumber(samples.median(engine, `${metric}.${one}`), 1)),
    ),
  ]);
  const title = `search: ${machine}; ${rows} jobs of one member, and a file for ten of them`;
  return [title, table(heading, lines), targetTable(TARGETS, samples)].join('\n\n');
}
