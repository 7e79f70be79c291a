import {
  bytesText,
  print,
  printJson,
  printRecord,
  printRows,
  say,
  ago,
} from '@inference-gateway/shared/program/print';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { readSecret } from '@inference-gateway/shared/program/secret';
import {
  askYesNo,
  terminalStreams,
  withTerminal,
} from '@inference-gateway/shared/program/terminal';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { readPublicUrl } from '../config/config.js';
import { admin } from './client.js';
import {
  dataOption,
  example,
  isoTime,
  jsonOption,
  memberArgument,
  requireYes,
  yesOption,
  parseDuration,
  quotaText,
} from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';

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
    .option('--admin', 'make them an admin of the dashboard')
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
    .description('make a member an admin of the dashboard, or an ordinary member again')
    .addArgument(memberArgument())
    .addArgument(new Argument('<role>', 'the new role').choices(['admin', 'member']))
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
  user
    .command('reset-link')
    .description('make a link by which a member sets a new password; prints only the link')
    .addArgument(memberArgument())
    .addOption(dataOption())
    .addHelpText('after', example('user reset-link anna'))
    .action(makeResetLink);
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
    .description('delete a member and everything of theirs; lists it and asks first, unless --yes')
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
  const { limits, used, ...rest } = record;
  printRecord({
    ...rest,
    'limits.requests': limits.requests ?? 'default',
    'limits.concurrent': limits.concurrent ?? 'default',
    'limits.day': quotaText(limits.day, used.day),
    'limits.month': quotaText(limits.month, used.month),
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

async function makeResetLink(member: string, options: DataOption): Promise<void> {
  const made = await admin(options, 'user.reset-link', { member });
  const origin = made.origin ?? readPublicUrl(options);
  print(origin === null ? made.secret : `${origin}/reset#${made.secret}`);
  const end = `For ${made.member} (${made.email}), once, until ${isoTime(made.expires_at)}.`;
  if (origin !== null) return say(`${end} Anyone with the link can use it.`);
  say(
    `${end} That is the token alone: no coordinator runs, and GATEWAY_PUBLIC_URL is unset. ` +
      'The link has <public URL>/reset# before it.',
  );
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

interface InviteOptions extends DataOption {
  readonly email: string;
  readonly admin?: boolean;
  readonly network?: string;
  /** Seconds. */
  readonly expires: number;
}

/** The commands of `user` for invites. */
function addUserInvites(user: Command): void {
  user
    .command('invite')
    .description('invite somebody, who chooses name and password; prints only the link')
    .requiredOption('--email <address>', 'e-mail address, seen by admins only')
    .option('--admin', 'make them an admin of the dashboard')
    .option('--network <network>', 'a network that they join, too')
    .addOption(
      new Option('--expires <duration>', 'how long the link works: 12h or 7d')
        .argParser(parseDuration)
        .default(parseDuration('7d'), '7d'),
    )
    .addOption(dataOption())
    .addHelpText('after', example('user invite --email ben@example.org --network friends'))
    .action(invite);
  user
    .command('invites')
    .description('list invites, newest first; their links are not stored')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('user invites --json'))
    .action(listInvites);
  user
    .command('uninvite')
    .description('revoke an invite that nobody has used')
    .argument('<invite>', 'id, or an e-mail address: all its open invites')
    .addOption(dataOption())
    .addHelpText('after', example('user uninvite ben@example.org'))
    .action(uninvite);
}

async function invite(options: InviteOptions): Promise<void> {
  const { email, network, expires } = options;
  const invited = await admin(options, 'user.invite', {
    email,
    admin: options.admin === true,
    network: network ?? null,
    expires_in_s: expires,
  });
  const origin = invited.origin ?? readPublicUrl(options);
  // In the fragment, which is not sent to servers: no proxy can log it.
  print(origin === null ? invited.secret : `${origin}/join#${invited.secret}`);
  const end = `For ${invited.email}, once, until ${isoTime(invited.expires_at)}.`;
  if (origin !== null) {
    const body = `{"token": "<the link>", "name": "…", "password": "…", "key_name": "first"}`;
    return say(
      `${end} Anyone with the link can use it, and joins with:\n` +
        `  curl ${origin}/api/join -H 'content-type: application/json' -d '${body}'`,
    );
  }
  say(
    `${end} That is the token alone: no coordinator runs, and GATEWAY_PUBLIC_URL is unset. ` +
      'The link has <public URL>/join# before it.',
  );
}

async function listInvites(options: DataOption & JsonOption): Promise<void> {
  printRows(await admin(options, 'user.invites', {}), INVITE_COLUMNS, options.json === true);
}

async function uninvite(reference: string, options: DataOption): Promise<void> {
  const { email, revoked } = await admin(options, 'user.uninvite', { invite: reference });
  say(`Invites of ${email} that are revoked: ${revoked.length}.`);
}

type InviteRow = AdminResult<'user.invites'>[number];

const INVITE_COLUMNS = {
  id: ({ id }: InviteRow) => id,
  email: ({ email }: InviteRow) => email,
  role: ({ role }: InviteRow) => role,
  network: ({ network }: InviteRow) => network,
  state: ({ state }: InviteRow) => state,
  expires: ({ expires_at: at }: InviteRow) => isoTime(at),
};

/** The commands of `user` for sessions. */
function addUserSessions(user: Command): void {
  user
    .command('sessions')
    .description("list who is logged in to the dashboard, or one member's sessions")
    .argument('[member]', 'id, e-mail address or name')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('user sessions anna'))
    .action(listSessions);
  user
    .command('logout')
    .description('end one session, or all sessions of a member')
    .argument('<member|session>', 'a member, or the id of a session')
    .addOption(dataOption())
    .addHelpText('after', example('user logout anna'))
    .action(logout);
}

async function listSessions(
  member: string | undefined,
  options: DataOption & JsonOption,
): Promise<void> {
  const sessions = await admin(options, 'user.sessions', { member: member ?? null });
  printRows(sessions, SESSION_COLUMNS, options.json === true);
}

async function logout(session: string, options: DataOption): Promise<void> {
  const { name, ended } = await admin(options, 'user.logout', { session });
  say(`Sessions of ${name} that have ended: ${ended}.`);
}

type SessionRow = AdminResult<'user.sessions'>[number];

const SESSION_COLUMNS = {
  id: ({ id }: SessionRow) => id,
  member: ({ member }: SessionRow) => member,
  address: ({ address }: SessionRow) => address,
  'user agent': ({ user_agent }: SessionRow) => user_agent,
  'last used': ({ last_used_at: at }: SessionRow) => ago(at, SYSTEM_CLOCK.now()),
  expires: ({ expires_at: at }: SessionRow) => isoTime(at),
  device: ({ device }: SessionRow) => device,
  by: ({ method }: SessionRow) => method,
};
