import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { ago, printRows, say } from '@inference-gateway/shared/program/print';
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import { dataOption, example, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

export function addNode(program: Command): void {
  const node = program
    .command('node')
    .description('coordinators that share a database on PostgreSQL')
    .addHelpText('after', example('node list'));
  node
    .command('list')
    .description('list the coordinators, running or not')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('node list --json'))
    .action(list);
  node
    .command('drain')
    .description('move the agents of a coordinator to others; running work continues')
    .addArgument(nodeName())
    .addOption(dataOption())
    .addHelpText('after', example('node drain gateway-2'))
    .action(drain);
  node
    .command('resume')
    .description('let a drained coordinator serve again')
    .addArgument(nodeName())
    .addOption(dataOption())
    .addHelpText('after', example('node resume gateway-2'))
    .action(resume);
  node
    .command('remove')
    .description('forget a coordinator that does not run any more')
    .addArgument(nodeName())
    .addOption(dataOption())
    .addHelpText('after', example('node remove gateway-2'))
    .action(remove);
  node
    .command('rotate-key')
    .description('make a new key for the links between coordinators')
    .addOption(dataOption())
    .addHelpText('after', example('node rotate-key'))
    .action(rotateKey);
}

function nodeName(): Argument {
  return new Argument('<node>', 'its name, as "node list" shows it');
}

async function list(options: DataOption & JsonOption): Promise<void> {
  printRows(await admin(options, 'node.list', {}), COLUMNS, options.json === true);
}

async function drain(node: string, options: DataOption): Promise<void> {
  const { name } = await admin(options, 'node.drain', { node });
  say(`The agents of ${name} move to other coordinators. Stop it when "node list" shows 0 agents.`);
}

async function resume(node: string, options: DataOption): Promise<void> {
  const { name } = await admin(options, 'node.resume', { node });
  say(`${name} serves again.`);
}

async function remove(node: string, options: DataOption): Promise<void> {
  const { name } = await admin(options, 'node.remove', { node });
  say(`${name} is forgotten.`);
}

async function rotateKey(options: DataOption): Promise<void> {
  await admin(options, 'node.rotate-key', {});
  say('New links use the new key within 6 s; the one before it is accepted for a day.');
}

type Row = AdminResult<'node.list'>[number];

const COLUMNS = {
  name: ({ name }: Row) => name,
  state: ({ state }: Row) => state,
  agents: ({ agents }: Row) => String(agents),
  linked: ({ linked }: Row) => (linked === null ? '-' : linked ? 'yes' : 'no'),
  url: ({ url }: Row) => url ?? '-',
  version: ({ version }: Row) => version ?? '-',
  seen: ({ reported_at: at }: Row) => (at === null ? '-' : ago(at, SYSTEM_CLOCK.now())),
};
