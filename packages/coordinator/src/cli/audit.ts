import { printRows } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../admin/commands.js';
import { admin } from './client.js';
import { parseDuration } from './duration.js';
import { dataOption, example, isoTime, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';
import { parseCount } from './parse-count.js';
import { withReadableTimes } from './readable-times.js';

const DEFAULT_LIMIT = 50;
/** In a table; JSON has all of it. */
const CHANGE_CHARACTERS = 120;

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
    .description('who changed what; nothing of it is ever changed or deleted')
    .addHelpText('after', example('audit list --since 7d'));
  audit
    .command('list')
    .description('list changes, the newest first')
    .option('--since <duration>', '7d or 12h back; default: all', parseDuration)
    .option('--action <action>', 'of one kind only: key, or key.create')
    .option('--actor <actor>', 'by one only: a member, cli:<user of the machine>, agent, …')
    .option('--subject <id>', 'of one only, by its id')
    .addOption(
      new Option('--limit <n>', 'how many').argParser(parseCount).default(DEFAULT_LIMIT, '50'),
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

/** `role: member → admin`; of what is new or gone, only what it is or was. */
function changeOf({ before, after }: Row): string {
  const sides = [before, after].flatMap((side) => (side === null ? [] : [withReadableTimes(side)]));
  const fields = new Set(sides.flatMap((side) => Object.keys(side)));
  const changes = [...fields].map((field) => {
    return `${field}: ${sides.map((side) => valueText(side[field])).join(' → ')}`;
  });
  const line = changes.join(', ');
  return line.length <= CHANGE_CHARACTERS ? line : `${line.slice(0, CHANGE_CHARACTERS - 1)}…`;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const COLUMNS = {
  time: ({ at }: Row) => isoTime(at),
  actor: ({ actor, actor_name: name }: Row) => (name === null ? actor : `${actor} (${name})`),
  action: ({ action }: Row) => action,
  subject: ({ subject }: Row) => `${subject.kind} ${subject.name}`,
  change: changeOf,
};
