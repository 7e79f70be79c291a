import {
  bytesText,
  print,
  printJson,
  printRecord,
  printRows,
  say,
} from '@inference-gateway/shared/program/print';
import { readSecret } from '@inference-gateway/shared/program/secret';
import {
  askYesNo,
  terminalStreams,
  withTerminal,
} from '@inference-gateway/shared/program/terminal';
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import {
  dataOption,
  example,
  isoTime,
  jsonOption,
  memberArgument,
  requireYes,
  yesOption,
} from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';
import { addUserInvites } from './user-invites.js';
import { addUserSessions } from './user-sessions.js';

interface CreateOptions extends DataOption, JsonOption {
  readonly email: string;
  readonly name?: string;
  readonly admin?: boolean;
  readonly passwordFile?: string;
}

export function addUser(program: Command): void {
  const user = program
    .command('user')
    .description('members: who may call, and who owns machines')
    .addHelpText('after', example('user list'));
  user
    .command('create')
    .description("create a member; prints the member's id")
    .requiredOption('--email <address>', 'e-mail address, seen by admins only')
    .option('--name <name>', 'public name; default: the part of the address before the @')
    .option('--admin', 'may administrate in the dashboard')
    .option('--password-file <file>', 'password for the dashboard in a file, or - for stdin')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('user create --email anna@example.org --name anna'))
    .action(create);
  user
    .command('list')
    .description('list the members')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('user list --json'))
    .action(list);
  user
    .command('show')
    .description('show one member: networks, machines, keys, and who blocks whom')
    .addArgument(memberArgument())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('user show anna'))
    .action(show);
  addChangeCommands(user);
  addStateCommands(user);
  addUserInvites(user);
  addUserSessions(user);
}

function addChangeCommands(user: Command): void {
  user
    .command('rename')
    .description('give a member another public name')
    .addArgument(memberArgument())
    .argument('<name>', 'unique among the members')
    .addOption(dataOption())
    .addHelpText('after', example('user rename anna@example.org anna-lee'))
    .action(rename);
  user
    .command('role')
    .description('say whether a member may administrate in the dashboard')
    .addArgument(memberArgument())
    .addArgument(new Argument('<role>', 'what they are from now on').choices(['admin', 'member']))
    .addOption(dataOption())
    .addHelpText('after', example('user role anna admin'))
    .action(setRole);
  user
    .command('password')
    .description('set the password for the dashboard; ends the sessions of the member')
    .addArgument(memberArgument())
    .requiredOption('--password-file <file>', 'the new password in a file, or - for stdin')
    .addOption(dataOption())
    .addHelpText('after', example('user password anna --password-file -'))
    .action(setPassword);
}

function addStateCommands(user: Command): void {
  user
    .command('disable')
    .description('shut a member out at once, with their keys and machines, until enabled')
    .addArgument(memberArgument())
    .addOption(dataOption())
    .addHelpText('after', example('user disable anna'))
    .action(disable);
  user
    .command('enable')
    .description('let a disabled member in again')
    .addArgument(memberArgument())
    .addOption(dataOption())
    .addHelpText('after', example('user enable anna'))
    .action(enable);
  user
    .command('delete')
    .description('delete a member with all that is theirs; told and asked, unless --yes')
    .addArgument(memberArgument())
    .addOption(yesOption())
    .addOption(dataOption())
    .addHelpText('after', example('user delete anna --yes'))
    .action(remove);
}

async function remove(member: string, options: DataOption & YesOption): Promise<void> {
  if (options.yes !== true) {
    const preview = await admin(options, 'user.delete', { member, dry_run: true });
    say(`To delete ${preview.name} for good means:`);
    for (const line of preview.consequences) say(`  ${line}`);
    const streams = terminalStreams();
    if (streams === null) return requireYes(options, 'user delete cannot be taken back');
    const question = `Delete ${preview.name}?`;
    if (!(await withTerminal(streams, (terminal) => askYesNo(terminal, question, false)))) {
      return say('Nothing was changed.');
    }
  }
  const gone = await admin(options, 'user.delete', { member, dry_run: false });
  const files = `${gone.assets} ${gone.assets === 1 ? 'file' : 'files'}`;
  say(`${gone.name} is deleted, with ${files} of ${bytesText(gone.asset_bytes)}.`);
}

async function create(options: CreateOptions): Promise<void> {
  const { email, name, passwordFile } = options;
  const password = passwordFile === undefined ? null : await readSecret(passwordFile);
  const member = await admin(options, 'user.create', {
    email,
    name: name ?? null,
    admin: options.admin === true,
    password,
  });
  if (options.json === true) return printJson(member);
  print(member.id);
  say(`Created ${member.name} (${member.email}). Next: key create --user ${member.email} --name …`);
}

async function list(options: DataOption & JsonOption): Promise<void> {
  printRows(await admin(options, 'user.list', {}), COLUMNS, options.json === true);
}

async function show(member: string, options: DataOption & JsonOption): Promise<void> {
  const record = await admin(options, 'user.show', { member });
  if (options.json === true) return printJson(record);
  const { limits, ...rest } = record;
  printRecord({
    ...rest,
    'limits.requests': limits.requests ?? 'default',
    'limits.concurrent': limits.concurrent ?? 'default',
  });
}

async function rename(member: string, name: string, options: DataOption): Promise<void> {
  const renamed = await admin(options, 'user.rename', { member, name });
  say(`${renamed.email} is called ${renamed.name} now.`);
}

async function setRole(
  member: string,
  role: 'admin' | 'member',
  options: DataOption,
): Promise<void> {
  const { name } = await admin(options, 'user.role', { member, role });
  say(`${name} is ${role} now.`);
}

async function setPassword(
  member: string,
  options: DataOption & { readonly passwordFile: string },
): Promise<void> {
  const password = await readSecret(options.passwordFile);
  const { name } = await admin(options, 'user.password', { member, password });
  say(`${name} has a new password, and their sessions have ended.`);
}

async function disable(member: string, options: DataOption): Promise<void> {
  const { name, links_closed: closed } = await admin(options, 'user.disable', { member });
  say(`${name} is disabled. Links of their machines closed: ${closed}.`);
}

async function enable(member: string, options: DataOption): Promise<void> {
  const { name } = await admin(options, 'user.enable', { member });
  say(`${name} is enabled: their machines come back within five minutes.`);
}

type Row = AdminResult<'user.list'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  name: ({ name }: Row) => name,
  email: ({ email }: Row) => email,
  role: ({ role }: Row) => role,
  state: ({ state }: Row) => state,
  created: ({ created_at: at }: Row) => isoTime(at),
};
