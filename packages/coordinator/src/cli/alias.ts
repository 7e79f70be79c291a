import { printRows, say } from '@inference-gateway/shared/program/print';
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import { dataOption, example, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

interface WhoseOption extends DataOption {
  readonly user?: string;
}

export function addAlias(program: Command): void {
  const alias = program
    .command('alias')
    .description(
      'aliases: names that stand for models, for example for those that a program asks for',
    )
    .addHelpText('after', example("alias set 'claude-*' qwen3:30b"));
  alias
    .command('set')
    .description('set what an alias stands for; replaces what it stood for before')
    .addArgument(new Argument('<name>', "a name, or a pattern that ends in '*': put it in quotes"))
    .addArgument(new Argument('<models...>', 'ids of models; the first that can serve is taken'))
    .option('--user <member>', 'for this member alone; default: for all members')
    .addOption(dataOption())
    .addHelpText('after', example("alias set 'gpt-*' qwen3:30b llama3.2:3b"))
    .action(set);
  alias
    .command('list')
    .description('list the aliases of the gateway and of all members')
    .option('--user <member>', "only this member's own: id, e-mail address or name")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('alias list --json'))
    .action(list);
  alias
    .command('remove')
    .description('remove an alias; queued jobs under it run on the model that it stood for')
    .addArgument(new Argument('<name>', 'as it was set'))
    .option('--user <member>', "this member's own; default: the gateway's")
    .addOption(dataOption())
    .addHelpText('after', example("alias remove 'gpt-*'"))
    .action(remove);
}

async function set(name: string, models: string[], options: WhoseOption): Promise<void> {
  const user = options.user ?? null;
  const alias = await admin(options, 'alias.set', { name, models, user });
  const whose = alias.owner === null ? '' : ` for ${alias.owner}`;
  say(`'${alias.name}' stands for ${alias.models.join(', ')}${whose}.`);
  for (const warning of alias.warnings) say(warning);
}

async function list(options: WhoseOption & JsonOption): Promise<void> {
  const aliases = await admin(options, 'alias.list', { user: options.user ?? null });
  printRows(aliases, COLUMNS, options.json === true);
}

async function remove(name: string, options: WhoseOption): Promise<void> {
  const gone = await admin(options, 'alias.remove', { name, user: options.user ?? null });
  say(`'${gone.name}' is removed.`);
}

type Row = AdminResult<'alias.list'>[number];

const COLUMNS = {
  alias: ({ name }: Row) => name,
  owner: ({ owner }: Row) => owner ?? 'the gateway',
  models: ({ models }: Row) => models.join(', '),
};
