import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import {
  ago,
  print,
  printJson,
  printRecord,
  printRows,
  say,
} from '@inference-gateway/shared/program/print';
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { AdminResult } from '../operations/operations.js';
import { ASSETS_ACCESS } from '@inference-gateway/shared/media/types';
import type { AssetsAccess } from '@inference-gateway/shared/media/types';
import type { QuotaLimits } from '../core/usage/quota.js';
import { admin } from './client.js';
import {
  parseDuration,
  dataOption,
  example,
  isoTime,
  jsonOption,
  parseEndpoints,
  parseModels,
  parseQuota,
  QUOTA_HELP,
  QUOTA_VALUE,
  quotaText,
  requireYes,
  yesOption,
} from './options.js';
import type { DataOption, JsonOption, YesOption } from './options.js';

interface CreateOptions extends DataOption {
  readonly user: string;
  readonly name: string;
  readonly scope: 'own' | 'any';
  readonly assets?: AssetsAccess;
  /** Seconds. */
  readonly expires?: number;
  /** Empty: all models. */
  readonly models?: readonly string[];
  /** Empty: all endpoints. */
  readonly endpoints?: readonly string[];
  readonly day?: QuotaLimits;
  readonly month?: QuotaLimits;
}

type RuleOptions = DataOption & Pick<CreateOptions, 'models' | 'endpoints' | 'day' | 'month'>;

interface RotateOptions extends DataOption {
  /** Seconds. */
  readonly overlap: number;
}

interface ListOptions extends DataOption, JsonOption {
  readonly user?: string;
}

export function addKey(program: Command): void {
  const key = program
    .command('key')
    .description("API keys: what a member's programs send")
    .addHelpText('after', example('key list --user anna@example.org'));
  key
    .command('create')
    .description('create a key; prints only the key, which is not shown again')
    .requiredOption('--user <member>', 'whose key: id, e-mail address or name')
    .requiredOption('--name <name>', 'what it is for; unique among the live keys of the member')
    .addOption(
      new Option('--scope <scope>', "own: calls never leave the member's own machines")
        .choices(['own', 'any'])
        .default('any'),
    )
    .addOption(
      new Option(
        '--assets <access>',
        'link: generated files get links that open without a key, for a limited time',
      ).choices(ASSETS_ACCESS),
    )
    .option(
      '--expires <duration>',
      '90d, 12h or 30m; default: the key does not expire',
      parseDuration,
    )
    .option('--models <names>', MODELS_HELP, parseModels)
    .option('--endpoints <paths>', ENDPOINTS_HELP, parseEndpoints)
    .option(`--day ${QUOTA_VALUE}`, `all limits of a day: ${QUOTA_HELP}`, parseQuota)
    .option(`--month ${QUOTA_VALUE}`, 'all limits of a month, in the same form', parseQuota)
    .addOption(dataOption())
    .addHelpText('after', example('key create --user anna@example.org --name laptop --expires 90d'))
    .action(create);
  key
    .command('list')
    .description('list keys; the secrets themselves are not stored')
    .option('--user <member>', 'of one member only')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('key list --json'))
    .action(list);
  addRuleCommands(key);
  addChangeCommands(key);
  addStateCommands(key);
}

const MODELS_HELP = 'the only models and aliases that it reaches, with commas between; "any": all';
const ENDPOINTS_HELP =
  'the only endpoints that it may call, such as /v1/chat/completions,/v1/embeddings; "any": all';

function addRuleCommands(key: Command): void {
  key
    .command('show')
    .description('show one key: its rules, and what it has used today and this month (UTC)')
    .addArgument(reference())
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('key show anna/laptop'))
    .action(show);
  key
    .command('limit')
    .description('restrict a key; it applies from the next request on, and to jobs that wait')
    .addArgument(reference())
    .option('--models <names>', MODELS_HELP, parseModels)
    .option('--endpoints <paths>', ENDPOINTS_HELP, parseEndpoints)
    .option(`--day ${QUOTA_VALUE}`, `all limits of a day: ${QUOTA_HELP}`, parseQuota)
    .option(`--month ${QUOTA_VALUE}`, 'all limits of a month, in the same form', parseQuota)
    .addOption(dataOption())
    .addHelpText('after', example('key limit anna/laptop --models qwen3:8b --day tokens=100000'))
    .action(limit);
}

function addChangeCommands(key: Command): void {
  key
    .command('rename')
    .description('give a key another name; it keeps working')
    .addArgument(reference())
    .argument('<name>', 'unique among the live keys of the member')
    .addOption(dataOption())
    .addHelpText('after', example('key rename anna/laptop desktop'))
    .action(rename);
  key
    .command('rotate')
    .description('give a key a new secret; prints only the new key, which is not shown again')
    .addArgument(reference())
    .addOption(
      new Option('--overlap <duration>', 'how long the old secret still works; 0s ends it at once')
        .argParser(parseOverlap)
        .default(parseDuration('24h'), '24h'),
    )
    .addOption(dataOption())
    .addHelpText('after', example('key rotate anna/laptop --overlap 7d'))
    .action(rotate);
}

function addStateCommands(key: Command): void {
  key
    .command('disable')
    .description('stop a key at once, until it is enabled')
    .addArgument(reference())
    .addOption(dataOption())
    .addHelpText('after', example('key disable gwk_1a2b3c4d'))
    .action((ref: string, options: DataOption) => setState('disable', ref, options));
  key
    .command('enable')
    .description('let a disabled key work again')
    .addArgument(reference())
    .addOption(dataOption())
    .addHelpText('after', example('key enable anna/laptop'))
    .action((ref: string, options: DataOption) => setState('enable', ref, options));
  key
    .command('revoke')
    .description('stop a key at once and for good')
    .addArgument(reference())
    .addOption(yesOption())
    .addOption(dataOption())
    .addHelpText('after', example('key revoke anna/laptop --yes'))
    .action((ref: string, options: DataOption & YesOption) => {
      requireYes(options, 'key revoke stops a key for good');
      return setState('revoke', ref, options);
    });
}

/** Unlike other durations, an overlap may be 0. */
function parseOverlap(written: string): number {
  return /^0[smhd]?$/.test(written) ? 0 : parseDuration(written);
}

function reference(): Argument {
  return new Argument('<key>', 'id, prefix or OWNER/NAME');
}

async function create(options: CreateOptions): Promise<void> {
  const { user, name, scope, assets, expires } = options;
  const rules = rulesOf(options);
  const created = await admin(options, 'key.create', {
    user,
    name,
    scope,
    assets: assets ?? null,
    expires_in_s: expires ?? null,
    ...rules,
  });
  print(created.key);
  const at = created.expires_at;
  const end = at === null ? 'It does not expire.' : `Until ${isoTime(at)}.`;
  say(`Key '${name}' of ${created.owner}. It is shown this one time. ${end}`);
}

async function list(options: ListOptions): Promise<void> {
  const keys = await admin(options, 'key.list', { user: options.user ?? null });
  printRows(keys, COLUMNS, options.json === true);
}

function rulesOf({ models, endpoints, day, month }: RuleOptions) {
  return {
    ...(models === undefined ? {} : { models: models.length === 0 ? null : [...models] }),
    ...(endpoints === undefined
      ? {}
      : { endpoints: endpoints.length === 0 ? null : [...endpoints] }),
    ...(day === undefined ? {} : { day }),
    ...(month === undefined ? {} : { month }),
  };
}

async function show(key: string, options: DataOption & JsonOption): Promise<void> {
  const shown = await admin(options, 'key.show', { key });
  if (options.json === true) return printJson(shown);
  const { day, month, used, models, endpoints, ...rest } = shown;
  printRecord({
    ...rest,
    models: models ?? 'any',
    endpoints: endpoints ?? 'any',
    'a day': quotaText(day, used.day),
    'a month': quotaText(month, used.month),
    'used today': quotaText(amountsOf(used.day)),
    'used this month': quotaText(amountsOf(used.month)),
  });
}

type Used = AdminResult<'key.show'>['used']['day'];

function amountsOf({ until: _until, ...amounts }: Used): Omit<Used, 'until'> {
  return amounts;
}

async function limit(key: string, options: RuleOptions): Promise<void> {
  const changed = await admin(options, 'key.limit', { key, ...rulesOf(options) });
  const rules = [
    `models ${changed.models?.join(', ') ?? 'any'}`,
    `endpoints ${changed.endpoints?.join(', ') ?? 'any'}`,
    `a day ${quotaText(changed.day) ?? 'no limit'}`,
    `a month ${quotaText(changed.month) ?? 'no limit'}`,
  ];
  say(`${changed.owner}/${changed.name}: ${rules.join('; ')}.`);
}

async function rename(key: string, name: string, options: DataOption): Promise<void> {
  const renamed = await admin(options, 'key.rename', { key, name });
  say(`${renamed.was} is ${renamed.name} now.`);
}

async function rotate(key: string, options: RotateOptions): Promise<void> {
  const rotated = await admin(options, 'key.rotate', { key, overlap_s: options.overlap });
  print(rotated.key);
  const until = rotated.previous_until;
  const old =
    until === null ? 'The old one has ended.' : `The old one is good until ${isoTime(until)}.`;
  const state = rotated.state === 'active' ? '' : ` The key is ${rotated.state}, as it was before.`;
  say(`New secret of ${rotated.owner}/${rotated.name}. It is shown this one time. ${old}${state}`);
}

async function setState(
  verb: 'disable' | 'enable' | 'revoke',
  key: string,
  options: DataOption,
): Promise<void> {
  const changed = await admin(options, `key.${verb}`, { key });
  const isShut = verb === 'enable' && changed.is_owner_disabled;
  say(`${changed.name} is ${changed.state}${isShut ? ', but its owner is disabled' : ''}.`);
}

type Row = AdminResult<'key.list'>[number];

const COLUMNS = {
  id: ({ id }: Row) => id,
  owner: ({ owner }: Row) => owner,
  name: ({ name }: Row) => name,
  prefix: ({ prefix }: Row) => prefix,
  state: ({ state }: Row) => state,
  scope: ({ scope }: Row) => scope,
  assets: ({ assets }: Row) => assets,
  models: ({ models }: Row) => models?.join(', ') ?? null,
  endpoints: ({ endpoints }: Row) => endpoints?.join(', ') ?? null,
  'a day': ({ day }: Row) => quotaText(day),
  'a month': ({ month }: Row) => quotaText(month),
  'last used': ({ last_used_at: at }: Row) => ago(at, SYSTEM_CLOCK.now()),
  expires: ({ expires_at: at }: Row) => (at === null ? 'never' : isoTime(at)),
  'previous until': ({ previous_until: at }: Row) => (at === null ? null : isoTime(at)),
};
