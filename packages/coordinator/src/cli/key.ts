import { ago, print, printRows, say } from '@inference-gateway/shared/program/print';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../admin/commands.js';
import { admin } from './client.js';
import { parseDuration } from './duration.js';
import { dataOption, example, isoTime, jsonOption, requireYes, yesOption } from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';

interface CreateOptions extends DataOption {
  readonly user: string;
  readonly name: string;
  readonly scope: 'own' | 'any';
  /** Seconds. */
  readonly expires?: number;
}

interface ListOptions extends DataOption, JsonOption {
  readonly user?: string;
}

export function addKey(program: Command): void {
  const key = program
    .command('key')
    .description("API keys: what a member's programs send")
    .addHelpText('after', example('key list --user anna@example.org'));
  key
    .command('create')
    .description('create a key; prints the key alone, this one time')
    .requiredOption('--user <member>', 'whose key: id, e-mail address or name')
    .requiredOption('--name <name>', 'what it is for; unique among the live keys of the member')
    .addOption(
      new Option('--scope <scope>', "own: calls never leave the member's own machines")
        .choices(['own', 'any'])
        .default('any'),
    )
    .option('--expires <duration>', '90d, 12h or 30m; without it the key stays', parseDuration)
    .addOption(dataOption())
    .addHelpText('after', example('key create --user anna@example.org --name laptop --expires 90d'))
    .action(create);
  key
    .command('list')
    .description('list keys; the secrets themselves are stored nowhere')
    .option('--user <member>', 'of one member only')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('key list --json'))
    .action(list);
  addStateCommands(key);
}

function addStateCommands(key: Command): void {
  key
    .command('disable')
    .description('stop a key at once, until it is enabled')
    .addArgument(reference())
    .addOption(dataOption())
    .addHelpText('after', example('key disable gwk_1a2b3c4d'))
    .action((ref: string, options: DataOption) => setState('disable', ref, options));
  key
    .command('enable')
    .description('let a disabled key work again')
    .addArgument(reference())
    .addOption(dataOption())
    .addHelpText('after', example('key enable anna/laptop'))
    .action((ref: string, options: DataOption) => setState('enable', ref, options));
  key
    .command('revoke')
    .description('stop a key at once and for good')
    .addArgument(reference())
    .addOption(yesOption())
    .addOption(dataOption())
    .addHelpText('after', example('key revoke anna/laptop --yes'))
    .action((ref: string, options: DataOption & YesOption) => {
      requireYes(options, 'key revoke stops a key for good');
      return setState('revoke', ref, options);
    });
}

function reference(): Argument {
  return new Argument('<key>', 'id, prefix or OWNER/NAME');
}

async function create(options: CreateOptions): Promise<void> {
  const { user, name, scope, expires } = options;
  const created = await admin(options, 'key.create', {
    user,
    name,
    scope,
    expires_in_s: expires ?? null,
  });
  print(created.key);
  const at = created.expires_at;
  const end = at === null ? 'It does not expire.' : `Until ${isoTime(at)}.`;
  say(`Key '${name}' of ${created.owner}. It is shown this one time. ${end}`);
}

async function list(options: ListOptions): Promise<void> {
  const keys = await admin(options, 'key.list', { user: options.user ?? null });
  printRows(keys, COLUMNS, options.json === true);
}

async function setState(
  verb: 'disable' | 'enable' | 'revoke',
  key: string,
  options: DataOption,
): Promise<void> {
  const changed = await admin(options, `key.${verb}`, { key });
  say(`${changed.name} is ${changed.state}.`);
}

type Row = AdminResult<'key.list'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  owner: ({ owner }: Row) => owner,
  name: ({ name }: Row) => name,
  prefix: ({ prefix }: Row) => prefix,
  state: ({ state }: Row) => state,
  scope: ({ scope }: Row) => scope,
  'last used': ({ last_used_at: at }: Row) => ago(at, Date.now()),
  expires: ({ expires_at: at }: Row) => (at === null ? 'never' : isoTime(at)),
};
