/** The run as text: a table a question, then the targets. */
import { cpus } from 'node:os';
import type { Samples } from '../samples.js';
import { formatNumber, table } from '../table.js';
import { targetTable } from '../targets.js';
import { QUESTIONS } from './answers.js';
import { FORMS } from './app-shell.js';
import { LONG_LISTS } from './long-lists.js';
import { STATES } from './tabs.js';
import { TARGETS } from './targets.js';

export function report(samples: Samples): string {
  const machine = `Node ${process.versions.node}, ${cpus().length} cores`;
  return [
    `dashboard: ${machine}, medians of ${cell(samples, 'openings', 0)} openings`,
    shellTable(samples),
    openTable(samples),
    tabsTable(samples),
    answersTable(samples),
    listsTable(samples),
    targetTable(TARGETS, samples),
  ].join('\n\n');
}

function shellTable(samples: Samples): string {
  const heading = ['App shell', 'files', 'KiB plain', 'gzip', 'brotli'];
  const sizes = FORMS.map((form) => cell(samples, `shell.${form}`, 1));
  const files = cell(samples, 'shell.files', 0);
  return table(heading, [['index.html, and what it loads', files, ...sizes]]);
}

function openTable(samples: Samples): string {
  const row = (says: string, metric: string): string[] => [
    says,
    cell(samples, metric, 0),
    cell(samples, `${metric}.task`, 0),
  ];
  const rows = [row('Home, with its first figure', 'open.home'), row('log-in page', 'open.login')];
  return table(['First screen, cold cache', 'ms', 'longest task ms'], rows);
}

function tabsTable(samples: Samples): string {
  const heading = [
    `${cell(samples, 'tabs', 0)} tabs, ${formatNumber(of(samples, 'tabsMs') / 1_000, 0)} s`,
    'coordinator CPU, % of a core',
    'without tabs',
    'RSS MB',
    'at the end',
    'requests/s',
    'answered 304, %',
    'hints/s',
    'KiB/s',
    'p50 ms',
    'p99 ms',
  ];
  const metrics: readonly (readonly [string, number])[] = [
    ['cpu', 1],
    ['alone.cpu', 1],
    ['rss.begin', 0],
    ['rss.end', 0],
    ['rps', 1],
    ['notModified', 0],
    ['hints', 1],
    ['kb', 1],
    ['p50', 1],
    ['p99', 1],
  ];
  const rows = STATES.map((state) => [
    { idle: 'idle', busy: 'a job a second' }[state],
    ...metrics.map(([metric, digits]) => cell(samples, `${state}.${metric}`, digits)),
  ]);
  return table(heading, rows);
}

function answersTable(samples: Samples): string {
  const jobs = cell(samples, 'jobs', 0);
  const heading = [`Answers, ${jobs} jobs of theirs`, 'KiB', 'p50 ms', 'p99 ms'];
  const rows = Object.entries(QUESTIONS).map(([metric, { says }]) => [
    says,
    cell(samples, `answer.${metric}.kb`, 1),
    cell(samples, `answer.${metric}.p50`, 1),
    cell(samples, `answer.${metric}.p99`, 1),
  ]);
  return table(heading, rows);
}

function listsTable(samples: Samples): string {
  const heading = [
    'Lists in the browser',
    'first row ms',
    'longest task ms',
    'rows in the end',
    'longest task while they are added',
    'while it scrolls',
  ];
  const rows = Object.keys(LONG_LISTS).map((name) => [
    name,
    ...['drawn', 'drawn.task', 'rows', 'more.task', 'scroll.task'].map((metric) =>
      cell(samples, `list.${name}.${metric}`, 0),
    ),
  ]);
  return table(heading, rows);
}

function cell(samples: Samples, metric: string, digits: number): string {
  return formatNumber(of(samples, metric), digits);
}

function of(samples: Samples, metric: string): number {
  return samples.median('gateway', metric);
}
