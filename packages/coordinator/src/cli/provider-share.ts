/** What owners let others use of a provider, and whom they keep from it. */
import { ownTimeZone } from '@inference-gateway/shared/day-hours';
import { print, say } from '@inference-gateway/shared/program/print';
import { Argument } from 'commander';
import type { Command } from 'commander';
import { admin } from './client.js';
import { dataOption, example } from './options.js';
import type { DataOption } from './options.js';
import { parseCount } from './parse-count.js';
import { providerReference } from './provider-reference.js';
import { shareText, sharesText } from './share-text.js';

interface Selectors extends DataOption {
  readonly service?: string;
  readonly model?: string;
  readonly network?: string;
  readonly user?: string;
}

interface ShareOptions extends Selectors {
  readonly slots?: number;
  readonly hours?: string;
  readonly timeZone?: string;
  readonly maxTokens?: number;
}

interface UnshareOptions extends Selectors {
  readonly share?: string;
  readonly all?: boolean;
}

export function addShareCommands(provider: Command): void {
  withSelectors(provider.command('share'))
    .description('let others use all of it, a service or a model; prints the id of the share')
    .option('--slots <n>', 'at once, of all who use the share together', parseCount)
    .option('--hours <from-until>', 'only then, as 22:00-07:00')
    .option('--time-zone <name>', 'of the hours, as Europe/Berlin; default: of this machine')
    .option('--max-tokens <n>', 'of one answer', parseCount)
    .addOption(dataOption())
    .addHelpText('after', example('provider share den-pc --model llama3 --network friends'))
    .action(share);
  withSelectors(provider.command('unshare'))
    .description('end every share that fits all that is named; prints their ids')
    .option('--share <id>', 'this one')
    .option('--all', 'all of the provider')
    .addOption(dataOption())
    .addHelpText('after', example('provider unshare den-pc --network friends'))
    .action(unshare);
  addBlockCommands(provider);
}

function addBlockCommands(provider: Command): void {
  provider
    .command('block')
    .description('keep a member from all that an owner has, whatever is shared')
    .addArgument(member())
    .requiredOption('--owner <member>', 'whose providers: id, e-mail address or name')
    .addOption(dataOption())
    .addHelpText('after', example('provider block ben --owner anna'))
    .action(block);
  provider
    .command('unblock')
    .description('let a blocked member use again what the owner shares with them')
    .addArgument(member())
    .requiredOption('--owner <member>', 'whose providers: id, e-mail address or name')
    .addOption(dataOption())
    .addHelpText('after', example('provider unblock ben --owner anna'))
    .action(unblock);
}

function withSelectors(command: Command): Command {
  return command
    .addArgument(providerReference())
    .option('--service <id>', 'one service, by its service_id')
    .option('--model <id>', 'one model')
    .option('--network <network>', 'with a network: id or name')
    .option('--user <member>', 'with a member: id, e-mail address or name');
}

function member(): Argument {
  return new Argument('<member>', 'who is kept away: id, e-mail address or name');
}

async function share(provider: string, options: ShareOptions): Promise<void> {
  const { slots, hours, timeZone, maxTokens } = options;
  const shared = await admin(options, 'provider.share', {
    ...selectorsOf(provider, options),
    slots: slots ?? null,
    hours: hours ?? null,
    // Of the command line, not of the coordinator: hours are meant as whoever types them has them.
    time_zone: timeZone ?? (hours === undefined ? null : ownTimeZone()),
    max_tokens: maxTokens ?? null,
  });
  print(shared.id);
  say(`Shared: ${shareText(shared)}.`);
  if (shared.warning !== null) say(`warning: ${shared.warning}`);
}

async function unshare(provider: string, options: UnshareOptions): Promise<void> {
  const { ended, left } = await admin(options, 'provider.unshare', {
    ...selectorsOf(provider, options),
    share: options.share ?? null,
    all: options.all === true,
  });
  print(ended.map(({ id }) => id).join('\n'));
  for (const one of ended) say(`No longer shared: ${shareText(one)}.`);
  if (left.length > 0) say(`Still shared: ${sharesText(left)}.`);
}

async function block(member: string, options: DataOption & { owner: string }): Promise<void> {
  const blocked = await admin(options, 'provider.block', { member, owner: options.owner });
  say(`${blocked.member} gets nothing of ${blocked.owner}'s. Work that runs is finished.`);
}

async function unblock(member: string, options: DataOption & { owner: string }): Promise<void> {
  const { member: name, owner } = await admin(options, 'provider.unblock', {
    member,
    owner: options.owner,
  });
  say(`${name} may use what ${owner} shares with them.`);
}

function selectorsOf(provider: string, { service, model, network, user }: Selectors) {
  return {
    provider,
    service: service ?? null,
    model: model ?? null,
    network: network ?? null,
    user: user ?? null,
  };
}
