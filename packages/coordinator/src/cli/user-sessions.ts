import { ago, printRows, say } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import { dataOption, example, isoTime, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

/** The commands of `user` that tell who is logged in. */
export function addUserSessions(user: Command): void {
  user
    .command('sessions')
    .description("list who is logged in to the dashboard, or one member's sessions")
    .argument('[member]', 'id, e-mail address or name')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('user sessions anna'))
    .action(list);
  user
    .command('logout')
    .description('end one session, or all of a member')
    .argument('<member|session>', 'a member, or the id of a session')
    .addOption(dataOption())
    .addHelpText('after', example('user logout anna'))
    .action(logout);
}

async function list(member: string | undefined, options: DataOption & JsonOption): Promise<void> {
  const sessions = await admin(options, 'user.sessions', { member: member ?? null });
  printRows(sessions, COLUMNS, options.json === true);
}

async function logout(session: string, options: DataOption): Promise<void> {
  const { name, ended } = await admin(options, 'user.logout', { session });
  say(`Sessions of ${name} that have ended: ${ended}.`);
}

type Row = AdminResult<'user.sessions'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  member: ({ member }: Row) => member,
  address: ({ address }: Row) => address,
  'user agent': ({ user_agent }: Row) => user_agent,
  'last used': ({ last_used_at: at }: Row) => ago(at, Date.now()),
  expires: ({ expires_at: at }: Row) => isoTime(at),
};
