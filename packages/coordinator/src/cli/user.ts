import { print, printJson, printRows, say } from '@inference-gateway/shared/program/print';
import { readSecret } from '@inference-gateway/shared/program/secret';
import type { Command } from 'commander';
import type { AdminResult } from '../admin/commands.js';
import { admin } from './client.js';
import { dataOption, example, isoTime, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

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

type Row = AdminResult<'user.list'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  name: ({ name }: Row) => name,
  email: ({ email }: Row) => email,
  role: ({ role }: Row) => role,
  created: ({ created_at: at }: Row) => isoTime(at),
};
