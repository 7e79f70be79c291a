/** `gateway-agent services`: the services of the configuration file. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { printRows, say } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import type { ConfigLocation } from '../config/file.js';
import { editConfigFile, readSoundConfig } from '../config/file.js';
import { serviceId } from '../config/schema.js';
import type { FileService } from '../config/schema.js';
import { askOwnProvider } from '../coordinator-api/own-provider.js';
import type { OwnShare } from '../coordinator-api/own-provider.js';
import { configOption, enterConfig, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';
import { serviceIndex, addServicesAdd } from './services-add.js';
import { addServicesLimit } from './services-limit.js';
import { addServicesScan } from './services-scan.js';
import { addServicesShare, partnersOf, partnersText, sharesReaching } from './services-share.js';

export function addServices(program: Command): void {
  const services = program
    .command('services')
    .description('the local model servers that this machine offers')
    .addHelpText('after', example('services scan'));
  services
    .command('list')
    .description('list the configured services')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('services list --json'))
    .action(list);
  services
    .command('remove')
    .description('take a service out of the configuration')
    .argument('<id>', 'as "services list" shows it')
    .option('--yes', 'really do it')
    .addOption(configOption())
    .addHelpText('after', example('services remove llm-1a2b3c4d --yes'))
    .action(remove);
  addServicesAdd(services);
  addServicesScan(services);
  addServicesShare(services);
  addServicesLimit(services);
}

async function list({ config, json }: ConfigOption & JsonOption): Promise<void> {
  const location = enterConfig(config);
  const { services = [] } = await readSoundConfig(location);
  const shares = await sharesOf(location);
  const rows = services.map((service) => row(service, shares));
  const partners = ({ id }: Row): string => (shares === null ? '?' : partnersText(id, shares));
  printRows(rows, { ...COLUMNS, 'shared with': partners }, json === true);
}

/** A list of the configuration must not wait long for the shares. */
const SHARES_TIMEOUT_MS = 3_000;

/** Null if the coordinator does not answer. */
async function sharesOf(location: ConfigLocation): Promise<readonly OwnShare[] | null> {
  try {
    const { url, token } = await loadConfig(location);
    if (url === null || token === null) return null;
    const own = await askOwnProvider({ url, token, timeoutMs: SHARES_TIMEOUT_MS });
    if (!own.approved) say(`Nobody gets any of it until an administrator of ${url} approves it.`);
    return own.shares;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    say(`What is shared is not known: ${error.message}`);
    return null;
  }
}

type Row = ReturnType<typeof row>;

function row(service: FileService, shares: readonly OwnShare[] | null) {
  const id = serviceId(service);
  return {
    id,
    type: service.type,
    backend: service.backend,
    base_url: service.base_url,
    slots: service.slots ?? null,
    slot_group: service.slot_group ?? null,
    api_key_file: service.api_key_file ?? null,
    models: service.models ?? null,
    workflows: service.workflows ?? null,
    prove: service.prove ?? false,
    foreign: service.foreign ?? true,
    hours: service.hours ?? null,
    drop_fields: service.drop_fields ?? [],
    shared_with: shares === null ? null : partnersOf(id, shares),
    shares: shares === null ? null : sharesReaching(id, shares).map(limitsOf),
  };
}

/** `day` and `month` as they are typed; `used`: by all others together. */
function limitsOf({ id, network, member, model, ...share }: OwnShare) {
  const { slots, hours, max_tokens, day = null, month = null, used = null } = share;
  return { id, network, member, model, slots, hours, max_tokens, day, month, used };
}

const COLUMNS = {
  id: ({ id }: Row) => id,
  type: ({ type }: Row) => type,
  backend: ({ backend }: Row) => backend,
  'base url': ({ base_url: url }: Row) => url,
  slots: ({ slots }: Row) => slots ?? 'auto',
  group: ({ slot_group: group }: Row) => group,
  models: ({ models }: Row) => models?.map(({ id }) => id).join(', ') ?? 'all',
  others: ({ foreign, hours }: Row) => (foreign ? (hours ?? 'always') : 'never'),
};

async function remove(
  id: string,
  options: ConfigOption & { readonly yes?: boolean },
): Promise<void> {
  const location = enterConfig(options.config);
  const { services = [] } = await readSoundConfig(location);
  const index = serviceIndex(id, services);
  if (options.yes !== true) {
    throw new CommandError(EXIT.usage, `services remove ${id} takes it out for good: add --yes.`);
  }
  await editConfigFile(location, (document) => {
    document['services'] = (document['services'] as unknown[]).toSpliced(index, 1);
  });
  say(`Removed ${id}. A running agent serves it until it is restarted.`);
}
