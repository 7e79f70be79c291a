import {
  nested,
  print,
  printJson,
  printRecord,
  printRows,
  say,
} from '@inference-gateway/shared/program/print';
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import { dataOption, example, jsonOption, requireYes, yesOption } from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';
import { SHARE_COLUMNS } from './share-text.js';

export function addNetwork(program: Command): void {
  const network = program
    .command('network')
    .description('networks: groups of members; what is shared with a network, its members may use')
    .addHelpText('after', example('network list'));
  addReading(network);
  addMemberCommands(network);
  network
    .command('create')
    .description('create a network; prints its id')
    .addArgument(new Argument('<name>', 'unique'))
    .requiredOption('--owner <member>', 'its first member: id, e-mail address or name')
    .addOption(dataOption())
    .addHelpText('after', example('network create friends --owner anna'))
    .action(create);
  network
    .command('rename')
    .description('give a network another name; what is shared with it stays')
    .addArgument(reference())
    .addArgument(new Argument('<new>', 'its new name'))
    .addOption(dataOption())
    .addHelpText('after', example('network rename friends family'))
    .action(rename);
  network
    .command('delete')
    .description('delete a network, and end everything that is shared with it')
    .addArgument(reference())
    .addOption(yesOption())
    .addOption(dataOption())
    .addHelpText('after', example('network delete friends --yes'))
    .action(remove);
}

function addReading(network: Command): void {
  network
    .command('list')
    .description('list the networks')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('network list --json'))
    .action(list);
  network
    .command('show')
    .description('show the members of a network and what is shared with it')
    .addArgument(reference())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('network show friends'))
    .action(show);
}

function addMemberCommands(network: Command): void {
  network
    .command('add')
    .description('add a member, who may use at once what is shared with the network')
    .addArgument(reference())
    .addArgument(member())
    .addOption(dataOption())
    .addHelpText('after', example('network add friends ben@example.org'))
    .action(join);
  network
    .command('remove')
    .description('remove a member, who may no longer use what is shared with the network')
    .addArgument(reference())
    .addArgument(member())
    .addOption(dataOption())
    .addHelpText('after', example('network remove friends ben'))
    .action(leave);
}

function reference(): Argument {
  return new Argument('<network>', 'id or name');
}

function member(): Argument {
  return new Argument('<member>', 'id, e-mail address or name');
}

async function create(name: string, options: DataOption & { owner: string }): Promise<void> {
  const network = await admin(options, 'network.create', { name, owner: options.owner });
  print(network.id);
  say(`Network ${network.name} of ${network.owner}. Next: network add ${network.name} …`);
}

async function list(options: DataOption & JsonOption): Promise<void> {
  printRows(await admin(options, 'network.list', {}), COLUMNS, options.json === true);
}

async function show(network: string, options: DataOption & JsonOption): Promise<void> {
  const shown = await admin(options, 'network.show', { network });
  if (options.json === true) return printJson(shown);
  const members = shown.members.map(({ name }) => name);
  printRecord({ ...shown, members, shares: nested(shown.shares, SHARE_COLUMNS) });
}

async function join(network: string, member: string, options: DataOption): Promise<void> {
  const joined = await admin(options, 'network.add', { network, member });
  say(`${joined.member} is in ${joined.name}.`);
}

async function leave(network: string, member: string, options: DataOption): Promise<void> {
  const left = await admin(options, 'network.remove', { network, member });
  say(`${left.member} is out of ${left.name}. Work that runs is finished.`);
}

async function rename(network: string, name: string, options: DataOption): Promise<void> {
  const renamed = await admin(options, 'network.rename', { network, name });
  say(`${renamed.before} is called ${renamed.name}.`);
}

async function remove(network: string, options: DataOption & YesOption): Promise<void> {
  requireYes(options, 'network delete ends a network with all that is shared with it');
  const gone = await admin(options, 'network.delete', { network });
  say(`${gone.name} is deleted. Shares that ended with it: ${gone.shares}.`);
}

type Row = AdminResult<'network.list'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  name: ({ name }: Row) => name,
  owner: ({ owner }: Row) => owner,
  members: ({ members }: Row) => members,
  shares: ({ shares }: Row) => shares,
};
