/** The run as text: one table a question, then the targets. */
import type { Samples } from '../samples.js';
import { formatNumber, table } from '../table.js';
import { targetTable } from '../targets.js';
import type { RuleSet } from './rules.js';
import { SLOWDOWNS } from './scenarios.js';
import { splitName, SPLITS } from './schedule.js';
import { runName, SITUATIONS } from './situations.js';
import type { Situation } from './situations.js';
import { TARGETS } from './targets.js';

export function report(samples: Samples): string {
  return [
    'schedule: simulated time, the same in every run',
    splitTable(samples),
    ...SITUATIONS.map((situation) => situationTable(samples, situation)),
    targetTable(TARGETS, samples),
  ].join('\n\n');
}

function splitTable(samples: Samples): string {
  const heading = ['Two speeds: answers/s, of the ideal split', 'slowdown', 'worst', 'mean'];
  const rows = SLOWDOWNS.flatMap((slowdown) =>
    SPLITS.map((without) => {
      const of = (metric: string): string =>
        formatNumber(samples.median(splitName(slowdown, without), metric), 2);
      return [rulesOf(without), String(slowdown), of('worst'), of('mean')];
    }),
  );
  return table(heading, rows);
}

function situationTable(samples: Samples, { title, without, columns }: Situation): string {
  const heading = [`${title[0]?.toUpperCase()}${title.slice(1)}`, 'mean s', 'p95 s'];
  const rows = [[], ...without].map((left) => {
    const of = (metric: string, digits: number): string =>
      formatNumber(samples.median(runName(title, left), metric), digits);
    const special = columns.map(({ metric, digits }) => of(metric, digits));
    return [rulesOf(left), of('meanSeconds', 1), of('p95Seconds', 1), ...special];
  });
  return table([...heading, ...columns.map((column) => column.heading)], rows);
}

function rulesOf(without: RuleSet): string {
  return without.length === 0 ? 'all rules' : `without ${without.join(', ')}`;
}
