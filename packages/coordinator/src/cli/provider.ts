import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import {
  ago,
  nested,
  printJson,
  printRecord,
  printRows,
  say,
  print,
} from '@inference-gateway/shared/program/print';
import { Argument } from 'commander';
import type { Command } from 'commander';
import { ownTimeZone } from '@inference-gateway/shared/day-hours';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import type { QuotaLimits } from '../core/usage/quota.js';
import {
  QUOTA_HELP,
  QUOTA_VALUE,
  dataOption,
  example,
  isoTime,
  jsonOption,
  parseCount,
  parseQuota,
  providerReference,
  requireYes,
  yesOption,
} from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';
import { SHARE_COLUMNS, shareText, sharesText } from './share-text.js';

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
    .addArgument(providerReference())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('provider show anna/den-pc'))
    .action(show);
  addLinkCommands(provider);
  addStandingCommands(provider);
  addShareCommands(provider);
}

function addLinkCommands(provider: Command): void {
  provider
    .command('drain')
    .description('send a provider no new work; running work continues')
    .addArgument(providerReference())
    .addOption(dataOption())
    .addHelpText('after', example('provider drain den-pc'))
    .action(drain);
  provider
    .command('resume')
    .description('send a drained provider work again')
    .addArgument(providerReference())
    .addOption(dataOption())
    .addHelpText('after', example('provider resume den-pc'))
    .action(resume);
  provider
    .command('kick')
    .description('close the link of a provider; its agent connects again by itself')
    .addArgument(providerReference())
    .addOption(dataOption())
    .addHelpText('after', example('provider kick den-pc'))
    .action(kick);
}

/** Commands for the approval, the name and the removal of a provider. */
function addStandingCommands(provider: Command): void {
  provider
    .command('approve')
    .description('give work to a provider that waits for approval')
    .addArgument(providerReference())
    .addOption(dataOption())
    .addHelpText('after', example('provider approve den-pc'))
    .action(approve);
  provider
    .command('rename')
    .description('give a provider another name; its shares stay')
    .addArgument(providerReference())
    .addArgument(new Argument('<name>', "its new name; unique among its owner's"))
    .addOption(dataOption())
    .addHelpText('after', example('provider rename anna/den-pc attic-pc'))
    .action(rename);
  provider
    .command('remove')
    .description('remove a provider and end its shares; to come back, its machine must enrol again')
    .addArgument(providerReference())
    .addOption(yesOption())
    .addOption(dataOption())
    .addHelpText('after', example('provider remove den-pc --yes'))
    .action(remove);
}

async function list(options: DataOption & JsonOption): Promise<void> {
  printRows(await admin(options, 'provider.list', {}), COLUMNS, options.json === true);
}

async function show(provider: string, options: DataOption & JsonOption): Promise<void> {
  const record = await admin(options, 'provider.show', { provider });
  if (options.json === true) return printJson(record);
  const { gpus, host, last_error: error, services, shares, uptime, ...rest } = record;
  printRecord({
    ...rest,
    host: host === null ? null : `${host.os} ${host.arch}`,
    last_error: error && `${isoTime(error.at)} ${error.code}, ${error.model}, ${error.request_id}`,
    gpus: nested(gpus, GPU_COLUMNS),
    services: nested(services, SERVICE_COLUMNS),
    shares: nested(shares, SHARE_COLUMNS),
    uptime: uptimeText(uptime),
    disconnections: nested(uptime.disconnections, DISCONNECTION_COLUMNS),
  });
}

function uptimeText({ days }: Shown['uptime']): string | null {
  const known = days.reduce((sum, { known_ms: ms }) => sum + ms, 0);
  const online = days.reduce((sum, { online_ms: ms }) => sum + ms, 0);
  if (known === 0) return null;
  return `${Math.floor((online / known) * 1_000) / 10} % of the last ${days.length} days`;
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

async function approve(provider: string, options: DataOption): Promise<void> {
  const { name } = await admin(options, 'provider.approve', { provider });
  say(`${name} is approved.`);
}

async function rename(provider: string, name: string, options: DataOption): Promise<void> {
  const renamed = await admin(options, 'provider.rename', { provider, name });
  say(`${renamed.before} is called ${renamed.name}.`);
}

async function remove(provider: string, options: DataOption & YesOption): Promise<void> {
  requireYes(options, 'provider remove forgets a provider for good');
  const { name, shares } = await admin(options, 'provider.remove', { provider });
  say(`${name} is removed. Shares that ended with it: ${shares}.`);
}

type Row = AdminResult<'provider.list'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  owner: ({ owner }: Row) => owner,
  name: ({ name }: Row) => name,
  state: stateOf,
  busy: ({ busy, slots }: Row) => `${busy}/${slots}`,
  models: ({ models }: Row) => models.join(', '),
  'last seen': ({ online, last_seen_at: at }: Row) =>
    online ? 'now' : ago(at, SYSTEM_CLOCK.now()),
};

type Shown = AdminResult<'provider.show'>;

type Gpu = Shown['gpus'][number];

type Service = Shown['services'][number];

/** Unknown values are shown as -. */
const GPU_COLUMNS = {
  gpu: ({ name }: Gpu) => name,
  'use %': ({ use_percent: use }: Gpu) => use,
  'memory mib': ({ memory_used_mib: used }: Gpu) => used,
  'of mib': ({ memory_mib: mib }: Gpu) => mib,
  '°c': ({ temperature_c: celsius }: Gpu) => celsius,
  watts: ({ power_watts: watts }: Gpu) => watts,
};

type Disconnection = Shown['uptime']['disconnections'][number];

const DISCONNECTION_COLUMNS = {
  at: ({ at }: Disconnection) => isoTime(at),
  reason: ({ reason }: Disconnection) => reason,
  back: ({ back_at: at }: Disconnection) => (at === null ? null : isoTime(at)),
};

const SERVICE_COLUMNS = {
  id: ({ service_id: id }: Service) => id,
  type: ({ service_type: type }: Service) => type,
  busy: ({ busy, slots }: Service) => `${busy}/${slots}`,
  models: ({ models }: Service) => models.map(({ id }) => id).join(', '),
};

/** Whether it is online, and all other reasons why it gets no work. */
function stateOf({ online, draining, paused, ...rest }: Row): string {
  const { approved, owner_disabled: ownerDisabled } = rest;
  const states = [
    online ? 'online' : 'offline',
    draining ? 'draining' : [],
    paused ? 'paused' : [],
    approved ? [] : 'waiting for approval',
    ownerDisabled ? 'owner disabled' : [],
  ];
  return states.flat().join(', ');
}

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
  readonly day?: QuotaLimits;
  readonly month?: QuotaLimits;
}

interface UnshareOptions extends Selectors {
  readonly share?: string;
  readonly all?: boolean;
}

/** Commands for shares and blocks. */
function addShareCommands(provider: Command): void {
  withSelectors(provider.command('share'))
    .description('share a provider, one of its services or a model; prints the id of the share')
    .option('--slots <n>', 'slots that all who use the share may take together', parseCount)
    .option('--hours <from-until>', 'only at these hours, such as 22:00-07:00')
    .option(
      '--time-zone <name>',
      "time zone of the hours, such as Europe/Berlin; default: this machine's",
    )
    .option('--max-tokens <n>', 'longest answer, in tokens', parseCount)
    .option(`--day ${QUOTA_VALUE}`, `all others together, in a day: ${QUOTA_HELP}`, parseQuota)
    .option(`--month ${QUOTA_VALUE}`, 'the same in a month', parseQuota)
    .addOption(dataOption())
    .addHelpText('after', example('provider share den-pc --model llama3 --network friends'))
    .action(share);
  withSelectors(provider.command('unshare'))
    .description('end every share that matches all given options; prints their ids')
    .option('--share <id>', 'this share')
    .option('--all', 'all shares of the provider')
    .addOption(dataOption())
    .addHelpText('after', example('provider unshare den-pc --network friends'))
    .action(unshare);
  addBlockCommands(provider);
}

function addBlockCommands(provider: Command): void {
  provider
    .command('block')
    .description('keep a member from all providers of an owner, whatever is shared')
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
  return new Argument('<member>', 'who is blocked: id, e-mail address or name');
}

async function share(provider: string, options: ShareOptions): Promise<void> {
  const { slots, hours, timeZone, maxTokens, day, month } = options;
  const shared = await admin(options, 'provider.share', {
    ...selectorsOf(provider, options),
    slots: slots ?? null,
    hours: hours ?? null,
    // The time zone of the command line, not of the coordinator: hours are meant in the user's own
    // zone.
    time_zone: timeZone ?? (hours === undefined ? null : ownTimeZone()),
    max_tokens: maxTokens ?? null,
    ...(day !== undefined && { day }),
    ...(month !== undefined && { month }),
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
