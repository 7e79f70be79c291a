import { print, printRows, say } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import {
  parseDuration,
  dataOption,
  example,
  isoTime,
  jsonOption,
  requireYes,
  yesOption,
} from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';

interface CreateOptions extends DataOption {
  readonly owner: string;
  readonly name?: string;
  /** Seconds. */
  readonly expires: number;
  readonly replace?: string;
}

export function addToken(program: Command): void {
  const token = program
    .command('token')
    .description('join tokens: each makes one machine a provider')
    .addHelpText('after', example('token create --owner anna@example.org'));
  token
    .command('create')
    .description('create a join token for one enrolment; prints only the token')
    .requiredOption('--owner <member>', 'who will own the provider: id, e-mail address or name')
    .option('--name <name>', "the provider's name, unless its agent gives another")
    .addOption(
      new Option('--expires <duration>', '30m, 1h or 7d')
        .argParser(parseDuration)
        .default(parseDuration('1h'), '1h'),
    )
    .option(
      '--replace <provider>',
      'the provider that enrols again with it; it keeps its name and shares',
    )
    .addOption(dataOption())
    .addHelpText('after', example('token create --owner anna@example.org --name den-pc'))
    .action(create);
  token
    .command('list')
    .description('list join tokens, newest first; the secrets themselves are not stored')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('token list --json'))
    .action(list);
  token
    .command('revoke')
    .description('revoke a join token that nobody has used')
    .argument('<id>', 'as "token list" shows it')
    .addOption(yesOption())
    .addOption(dataOption())
    .addHelpText('after', example('token revoke 01K0AX3M5D7VQ4W8Z2N6R9T1BC --yes'))
    .action(revoke);
}

async function create(options: CreateOptions): Promise<void> {
  const { owner, name, expires, replace } = options;
  const created = await admin(options, 'token.create', {
    owner,
    name: name ?? null,
    expires_in_s: expires,
    replace: replace ?? null,
  });
  print(created.token);
  const end = isoTime(created.expires_at);
  const { replaces } = created;
  const machine = replaces === null ? 'one machine' : `${replaces}, which enrols again`;
  say(`For ${machine}, of ${created.owner}, until ${end}. Next: gateway-agent enroll`);
}

async function list(options: DataOption & JsonOption): Promise<void> {
  printRows(await admin(options, 'token.list', {}), COLUMNS, options.json === true);
}

async function revoke(id: string, options: DataOption & YesOption): Promise<void> {
  requireYes(options, 'token revoke makes a token useless for good');
  const { owner } = await admin(options, 'token.revoke', { token: id });
  say(`The token ${id} of ${owner} is revoked.`);
}

type Row = AdminResult<'token.list'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  owner: ({ owner }: Row) => owner,
  name: ({ name }: Row) => name,
  replaces: ({ replaces }: Row) => replaces,
  state: ({ state }: Row) => state,
  expires: ({ expires_at: at }: Row) => isoTime(at),
};
