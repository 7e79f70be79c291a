/** The run as text: a table a question, then the targets. */
import { cpus } from 'node:os';
import type { Samples } from '../samples.js';
import { formatNumber, table } from '../table.js';
import { targetTable } from '../targets.js';
import { STEADY_STREAMS } from './phases.js';
import { TARGETS } from './targets.js';

export function report(samples: Samples): string {
  const homes = formatNumber(of(samples, 'homes'), 0);
  const machine = `Node ${process.versions.node}, ${cpus().length} cores, medians of all rounds`;
  return [
    `fleet: ${homes} homes, ${machine}`,
    idleTable(samples),
    modelsTable(samples),
    openTable(samples),
    dropTable(samples),
    targetTable(TARGETS, samples),
  ].join('\n\n');
}

function idleTable(samples: Samples): string {
  const homes = of(samples, 'homes');
  const added = of(samples, 'rss.idle') - of(samples, 'rss.empty');
  const perHome = (added * 1024) / homes;
  return table(
    ['Idle homes', 'measured'],
    [
      ['all at once, until the last is online', `${cell(samples, 'arrival.seconds', 2)} s`],
      ['coordinator RSS, empty', `${cell(samples, 'rss.empty', 0)} MB`],
      ['coordinator RSS, with all homes', `${cell(samples, 'rss.idle', 0)} MB`],
      ['of that a home', `${formatNumber(perHome, 1)} KB`],
      ['coordinator CPU, of one core', `${cell(samples, 'cpu.idle', 1)} %`],
      ["RSS of the homes' own process", `${cell(samples, 'rss.homes', 0)} MB`],
    ],
  );
}

function modelsTable(samples: Samples): string {
  const row = (says: string, who: string): string[] => [
    says,
    cell(samples, `models.${who}.rows`, 0),
    ...['p50', 'p95', 'p99', 'max'].map((share) => cell(samples, `models.${who}.${share}`, 2)),
  ];
  const rows = [row("the homes' owner", 'owner'), row('a member of their network', 'guest')];
  return table(['GET /models by', 'models', 'p50 ms', 'p95', 'p99', 'longest'], rows);
}

function openTable(samples: Samples): string {
  const heading = [
    'Chats, open loop',
    'calls',
    'failed',
    'p50 ms',
    'p95',
    'p99',
    'p99.9',
    'longest',
    'CPU ms a call',
    'generator late p99',
  ];
  const shares = ['p50', 'p95', 'p99', 'p999', 'max'];
  const row = [
    `${cell(samples, 'perSecond', 0)} a second`,
    cell(samples, 'open.requests', 0),
    cell(samples, 'open.failed', 0),
    ...shares.map((share) => cell(samples, `open.${share}`, 2)),
    cell(samples, 'open.cpu', 3),
    cell(samples, 'open.late', 2),
  ];
  return table(heading, [row]);
}

function dropTable(samples: Samples): string {
  const row = (says: string, phase: string): string[] => [
    says,
    ...['gap.p99', 'gap.max', 'relay.max'].map((of) => cell(samples, `${phase}.${of}`, 1)),
    phase === 'drop' ? cell(samples, 'drop.seconds', 2) : '',
  ];
  const heading = [
    `${STEADY_STREAMS} streams of 20 ms a token`,
    'gap p99 ms',
    'longest gap',
    'longest relay',
    'all back, s',
  ];
  const rows = [row('alone', 'calm'), row('while all homes drop', 'drop')];
  return table(heading, rows);
}

function cell(samples: Samples, metric: string, digits: number): string {
  return formatNumber(of(samples, metric), digits);
}

function of(samples: Samples, metric: string): number {
  return samples.median('gateway', metric);
}
