import { ago, printRecord, printRows, say } from '@inference-gateway/shared/program/print';
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../admin/commands.js';
import { admin } from './client.js';
import { dataOption, example, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';
import { withReadableTimes } from './readable-times.js';

export function addProvider(program: Command): void {
  const provider = program
    .command('provider')
    .description("providers: members' machines and what they serve")
    .addHelpText('after', example('provider list'));
  provider
    .command('list')
    .description('list the providers, online or not')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('provider list --json'))
    .action(list);
  provider
    .command('show')
    .description('show one provider with its services')
    .addArgument(reference())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('provider show anna/den-pc'))
    .action(show);
  addLinkCommands(provider);
}

function addLinkCommands(provider: Command): void {
  provider
    .command('drain')
    .description('send it no new work; work under way goes on')
    .addArgument(reference())
    .addOption(dataOption())
    .addHelpText('after', example('provider drain den-pc'))
    .action(drain);
  provider
    .command('resume')
    .description('send it work again')
    .addArgument(reference())
    .addOption(dataOption())
    .addHelpText('after', example('provider resume den-pc'))
    .action(resume);
  provider
    .command('kick')
    .description('close its link; its agent connects again by itself')
    .addArgument(reference())
    .addOption(dataOption())
    .addHelpText('after', example('provider kick den-pc'))
    .action(kick);
}

function reference(): Argument {
  return new Argument('<provider>', 'id or name; OWNER/NAME where several have that name');
}

async function list(options: DataOption & JsonOption): Promise<void> {
  printRows(await admin(options, 'provider.list', {}), COLUMNS, options.json === true);
}

async function show(provider: string, options: DataOption & JsonOption): Promise<void> {
  const record = await admin(options, 'provider.show', { provider });
  const json = options.json === true;
  printRecord(json ? record : withReadableTimes(record), json);
}

async function drain(provider: string, options: DataOption): Promise<void> {
  const { name } = await admin(options, 'provider.drain', { provider });
  say(`${name} gets no new work. "provider resume ${name}" lets it in again.`);
}

async function resume(provider: string, options: DataOption): Promise<void> {
  const { name } = await admin(options, 'provider.resume', { provider });
  say(`${name} gets work again.`);
}

async function kick(provider: string, options: DataOption): Promise<void> {
  const { name } = await admin(options, 'provider.kick', { provider });
  say(`The link of ${name} is closed.`);
}

type Row = AdminResult<'provider.list'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  owner: ({ owner }: Row) => owner,
  name: ({ name }: Row) => name,
  state: ({ online, draining }: Row) =>
    `${online ? 'online' : 'offline'}${draining ? ', draining' : ''}`,
  busy: ({ busy, slots }: Row) => `${busy}/${slots}`,
  models: ({ models }: Row) => models.join(', '),
  'last seen': ({ online, last_seen_at: at }: Row) => (online ? 'now' : ago(at, Date.now())),
};
