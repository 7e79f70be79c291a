import { printRows, say } from '@inference-gateway/shared/program/print';
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { admin } from './client.js';
import type { QuotaLimits } from '../core/usage/quota.js';
import {
  dataOption,
  example,
  jsonOption,
  parseCount,
  parseQuota,
  QUOTA_HELP,
  QUOTA_VALUE,
  quotaText,
} from './options.js';
import type { DataOption, JsonOption } from './options.js';

/** Typed instead of a number: the configured limit. */
const DEFAULT = 'default';

interface SetOptions extends DataOption {
  readonly requests?: number | typeof DEFAULT;
  readonly concurrent?: number | typeof DEFAULT;
  readonly day?: QuotaLimits;
  readonly month?: QuotaLimits;
}

export function addLimit(program: Command): void {
  const limit = program
    .command('limit')
    .description("members' own limits, in place of the configured ones")
    .addHelpText('after', example('limit show'));
  limit
    .command('set')
    .description("set a member's limits; they apply from the next request on")
    .addArgument(new Argument('<member>', MEMBER))
    .option('--requests <n>', 'requests in a window of the rate limit, or "default"', parseLimit)
    .option('--concurrent <n>', 'synchronous calls at once, or "default"', parseLimit)
    .option(`--day ${QUOTA_VALUE}`, `all limits of a day: ${QUOTA_HELP}`, parseQuota)
    .option(`--month ${QUOTA_VALUE}`, 'all limits of a month, in the same form', parseQuota)
    .addOption(dataOption())
    .addHelpText('after', example('limit set anna --requests 600 --concurrent 32'))
    .action(set);
  limit
    .command('show')
    .description("show all members' limits, or those of one")
    .addArgument(new Argument('[member]', MEMBER))
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('limit show anna --json'))
    .action(show);
  limit
    .command('clear')
    .description('go back to the configured limits, from the next request on')
    .addArgument(new Argument('<member>', MEMBER))
    .addOption(dataOption())
    .addHelpText('after', example('limit clear anna'))
    .action(clear);
}

const MEMBER = 'id, e-mail address or name';

async function set(member: string, options: SetOptions): Promise<void> {
  const { requests, concurrent, day, month } = options;
  const limits = await admin(options, 'limit.set', {
    member,
    ...(requests === undefined ? {} : { requests: limitOf(requests) }),
    ...(concurrent === undefined ? {} : { concurrent: limitOf(concurrent) }),
    ...(day === undefined ? {} : { day }),
    ...(month === undefined ? {} : { month }),
  });
  tell(limits);
}

async function show(member: string | undefined, options: DataOption & JsonOption): Promise<void> {
  const rows = await admin(options, 'limit.show', { member: member ?? null });
  printRows(rows, COLUMNS, options.json === true);
}

async function clear(member: string, options: DataOption): Promise<void> {
  tell(await admin(options, 'limit.clear', { member }));
}

function parseLimit(text: string): number | typeof DEFAULT {
  return text === DEFAULT ? DEFAULT : parseCount(text);
}

function limitOf(written: number | typeof DEFAULT): number | null {
  return written === DEFAULT ? null : written;
}

type Row = AdminResult<'limit.show'>[number];

function tell({ name, requests, concurrent, day, month }: Row): void {
  const quotas = [
    [quotaText(day), 'a day'],
    [quotaText(month), 'a month'],
  ].flatMap(([text, period]) => (text === null ? [] : [`; ${text} ${period}`]));
  const rates = `${orDefault(requests)} requests a window, ${orDefault(concurrent)} at once`;
  say(`${name}: ${rates}${quotas.join('')}.`);
}

const COLUMNS = {
  id: ({ id }: Row) => id,
  name: ({ name }: Row) => name,
  requests: ({ requests }: Row) => orDefault(requests),
  concurrent: ({ concurrent }: Row) => orDefault(concurrent),
  'a day': ({ day }: Row) => quotaText(day),
  'a month': ({ month }: Row) => quotaText(month),
};

function orDefault(limit: number | null): number | typeof DEFAULT {
  return limit ?? DEFAULT;
}
