import { fieldText, printRows } from '@inference-gateway/shared/program/print';
import type { Cell } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import { parseDuration, dataOption, example, isoTime, jsonOption, parseCount } from './options.js';
import type { DataOption, JsonOption } from './options.js';

const DEFAULT_LIMIT = 50;

interface ListOptions extends DataOption, JsonOption {
  /** Seconds. */
  readonly since?: number;
  readonly action?: string;
  readonly actor?: string;
  readonly subject?: string;
  readonly limit: number;
}

export function addAudit(program: Command): void {
  const audit = program
    .command('audit')
    .description('the audit log: who changed what, and when; its entries cannot be edited')
    .addHelpText('after', example('audit list --since 7d'));
  audit
    .command('list')
    .description('list changes, newest first')
    .option('--since <duration>', 'only the last 7d or 12h; default: all', parseDuration)
    .option('--action <action>', 'only one kind, such as key, or one action, such as key.create')
    .option(
      '--actor <actor>',
      'only changes by this actor: a member, cli:<user of the machine>, agent, …',
    )
    .option('--subject <id>', 'only changes of the member, key, … with this id')
    .addOption(
      new Option('--limit <n>', 'at most this many')
        .argParser(parseCount)
        .default(DEFAULT_LIMIT, '50'),
    )
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('audit list --since 7d --action key.create'))
    .action(list);
}

async function list(options: ListOptions): Promise<void> {
  const { since, action, actor, subject, limit } = options;
  const entries = await admin(options, 'audit.list', {
    since_s: since ?? null,
    action: action ?? null,
    actor: actor ?? null,
    subject: subject ?? null,
    limit,
  });
  printRows(entries, COLUMNS, options.json === true);
}

type Row = AdminResult<'audit.list'>[number];

/** `role: member → admin`; for a created or deleted subject, only its values. */
function changeOf({ before, after }: Row): string {
  const sides = [before, after].filter((side) => side !== null);
  const fields = new Set(sides.flatMap((side) => Object.keys(side)));
  const changes = [...fields].map(
    (field) => `${field}: ${sides.map((side) => valueText(field, side[field])).join(' → ')}`,
  );
  return changes.join(', ');
}

function valueText(field: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => valueText(field, one)).join(' and ');
  if (typeof value !== 'object' || value === null) return fieldText(field, value as Cell);
  const inner = Object.entries(value).map(([name, one]) => `${name} ${valueText(name, one)}`);
  return inner.length === 0 ? '-' : `(${inner.join(', ')})`;
}

const COLUMNS = {
  time: ({ at }: Row) => isoTime(at),
  actor: ({ actor, actor_name: name }: Row) => (name === null ? actor : `${actor} (${name})`),
  action: ({ action }: Row) => action,
  subject: ({ subject }: Row) => `${subject.kind} ${subject.name}`,
  change: changeOf,
};
