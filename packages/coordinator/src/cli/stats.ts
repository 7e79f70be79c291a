import { printRows, say } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { SERIES_STEPS } from '../operations/stats.js';
import { USAGE_GROUPS } from '../store/port.js';
import type { UsageGroup } from '../store/port.js';
import { admin } from './client.js';
import { parseDuration, dataOption, example, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

interface StatsOptions extends DataOption, JsonOption {
  /** Seconds. */
  readonly since?: number;
  readonly by: UsageGroup;
  readonly user?: string;
  readonly step?: Step;
}

type Step = (typeof SERIES_STEPS)[number];

export function addStats(program: Command): void {
  program
    .command('stats')
    .description('usage: requests, tokens, audio and images, in whole days of UTC')
    .option(
      '--since <duration>',
      'the last 7d or 12h, from the beginning of that day; default: all',
      parseDuration,
    )
    .addOption(
      new Option('--by <group>', 'what each row sums up').choices(USAGE_GROUPS).default('day'),
    )
    .option('--user <member>', 'of one member only')
    .addOption(
      new Option(
        '--step <step>',
        'a row per hour, day or month, with speeds and durations',
      ).choices(SERIES_STEPS),
    )
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('stats --since 7d --by model'))
    .action(stats);
}

async function stats(options: StatsOptions): Promise<void> {
  const { by, since, user, step } = options;
  if (step !== undefined) return series(options, step);
  const rows = await admin(options, 'stats.show', {
    by,
    since_s: since ?? null,
    user: user ?? null,
  });
  const json = options.json === true;
  const label = by === 'member' ? memberOf : labelOf;
  printRows(rows, { [by]: label, ...SUMS }, json);
  if (!json && rows.length > 1) say(totalsOf(rows));
}

/** Without `--since`. */
const SINCE_S: Readonly<Record<Step, number>> = {
  hour: 23 * 3_600,
  day: 29 * 86_400,
  month: 334 * 86_400,
};

async function series(options: StatsOptions, step: Step): Promise<void> {
  const { by, since = SINCE_S[step], user = null } = options;
  const points = await admin(options, 'usage.series', { by, since_s: since, user, step });
  const rows = points.flatMap((point) => ('period' in point ? [point] : []));
  const model = by === 'model' ? { model: labelOf } : {};
  const times = by === 'model' ? {} : TIMES;
  const columns = {
    [step]: ({ period }: Point) => period,
    ...model,
    ...COUNTS,
    ...SPEED,
    ...times,
  };
  printRows(rows, columns, options.json === true);
}

type Row = AdminResult<'stats.show'>[number];
type Point = Extract<AdminResult<'usage.series'>[number], { readonly period: string }>;

/** A deleted name is shown as its id. */
function labelOf({ id, name }: Row): string | null {
  return name ?? id;
}

/** The sums of a deleted member are kept. */
function memberOf({ id, name }: Row): string | null {
  return name ?? `deleted member ${id}`;
}

const COUNTS = {
  requests: ({ requests }: Row) => requests,
  ok: ({ ok }: Row) => ok,
  failed: ({ failed }: Row) => failed,
  canceled: ({ canceled }: Row) => canceled,
  'tokens in': ({ prompt_tokens }: Row) => prompt_tokens,
  'tokens out': ({ completion_tokens }: Row) => completion_tokens,
  'audio s': ({ audio_ms }: Row) => audio_ms / 1_000,
  images: ({ images }: Row) => images,
};

const SUMS = {
  ...COUNTS,
  'mean ms': ({ requests, total_ms }: Row) => Math.round(total_ms / requests),
};

const SPEED = {
  'tokens/s': ({ tokens_per_s: speed }: Point) => speed && Math.round(speed * 10) / 10,
};

const TIMES = {
  'first ms p50': ({ first_byte_p50_ms: ms }: Point) => ms ?? null,
  'first ms p95': ({ first_byte_p95_ms: ms }: Point) => ms ?? null,
  'queue ms p50': ({ queue_p50_ms: ms }: Point) => ms ?? null,
  'queue ms p95': ({ queue_p95_ms: ms }: Point) => ms ?? null,
  'total ms p50': ({ total_p50_ms: ms }: Point) => ms ?? null,
  'total ms p95': ({ total_p95_ms: ms }: Point) => ms ?? null,
};

/** Written to stderr: a program that adds up the rows would count a total among them twice. */
function totalsOf(rows: readonly Row[]): string {
  const sum = (value: (row: Row) => number): number =>
    rows.reduce((total, row) => total + value(row), 0);
  return (
    `In all ${sum(SUMS.requests)} requests, ${sum(SUMS.failed)} of them failed; ` +
    `${sum(SUMS['tokens in'])} tokens in, ${sum(SUMS['tokens out'])} out; ` +
    `${sum(({ audio_ms }) => audio_ms) / 1_000} s of audio; ${sum(SUMS.images)} images.`
  );
}
