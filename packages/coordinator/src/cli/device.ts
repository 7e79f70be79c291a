import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { ago, printRows, say } from '@inference-gateway/shared/program/print';
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import { dataOption, example, isoTime, jsonOption, requireYes, yesOption } from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';

interface ApproveOptions extends DataOption, YesOption {
  readonly owner: string;
}

export function addDevice(program: Command): void {
  const device = program
    .command('device')
    .description('machines that wait for approval: "gateway-agent login" shows their codes')
    .addHelpText('after', example('device list'));
  device
    .command('list')
    .description('list the machines that wait, with codes and addresses, oldest first')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('device list --json'))
    .action(list);
  device
    .command('approve')
    .description('make the machine a provider; without --yes, only show it')
    .addArgument(code())
    .requiredOption('--owner <member>', 'who will own it: id, e-mail address or name')
    .addOption(yesOption())
    .addOption(dataOption())
    .addHelpText('after', example('device approve BCDF-GHJK --owner anna@example.org --yes'))
    .action(approve);
  device
    .command('deny')
    .description('refuse the machine; it may ask again')
    .addArgument(code())
    .addOption(dataOption())
    .addHelpText('after', example('device deny BCDF-GHJK'))
    .action(deny);
}

function code(): Argument {
  return new Argument('<code>', 'as the machine shows it; case and hyphen do not matter');
}

async function list(options: DataOption & JsonOption): Promise<void> {
  printRows(await admin(options, 'device.list', {}), COLUMNS, options.json === true);
}

async function approve(typed: string, options: ApproveOptions): Promise<void> {
  const named = { code: typed, owner: options.owner };
  if (options.yes !== true) {
    const found = await admin(options, 'device.find', named);
    const asked = `which asked ${ago(found.created_at, SYSTEM_CLOCK.now())} ago`;
    requireYes(options, `this makes ${machine(found)}, ${asked}, a provider of ${found.owner}`);
  }
  const approved = await admin(options, 'device.approve', named);
  say(`${machine(approved)} becomes a provider of ${approved.owner} as soon as it asks again.`);
}

async function deny(typed: string, options: DataOption): Promise<void> {
  say(`${machine(await admin(options, 'device.deny', { code: typed }))} is turned away.`);
}

/** `den-pc (host tower) at 203.0.113.7`: to compare with the machine that shows the code. */
function machine({ name, host, address }: Pick<Row, 'name' | 'host' | 'address'>): string {
  const called = host === null ? (name ?? 'a machine') : withHost(name, host);
  return `${called} at ${address}`;
}

function withHost(name: string | null, host: string): string {
  return name === null ? `the host ${host}` : `${name} (host ${host})`;
}

type Row = AdminResult<'device.list'>[number];

const COLUMNS = {
  code: ({ code: shown }: Row) => shown,
  name: ({ name }: Row) => name,
  host: ({ host }: Row) => host,
  address: ({ address }: Row) => address,
  asked: ({ created_at: at }: Row) => `${ago(at, SYSTEM_CLOCK.now())} ago`,
  expires: ({ expires_at: at }: Row) => isoTime(at),
};
