import { printRows, say } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
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
}

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
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('stats --since 7d --by model'))
    .action(stats);
}

async function stats(options: StatsOptions): Promise<void> {
  const { by, since, user } = options;
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

type Row = AdminResult<'stats.show'>[number];

/** A deleted name is shown as its id. */
function labelOf({ id, name }: Row): string | null {
  return name ?? id;
}

/** The sums of a deleted member are kept. */
function memberOf({ id, name }: Row): string | null {
  return name ?? `deleted member ${id}`;
}

const SUMS = {
  requests: ({ requests }: Row) => requests,
  ok: ({ ok }: Row) => ok,
  failed: ({ failed }: Row) => failed,
  canceled: ({ canceled }: Row) => canceled,
  'tokens in': ({ prompt_tokens }: Row) => prompt_tokens,
  'tokens out': ({ completion_tokens }: Row) => completion_tokens,
  'audio s': ({ audio_ms }: Row) => audio_ms / 1_000,
  images: ({ images }: Row) => images,
  'mean ms': ({ requests, total_ms }: Row) => Math.round(total_ms / requests),
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
