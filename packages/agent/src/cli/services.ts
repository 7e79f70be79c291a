/** `gateway-agent services`: what this machine offers, as its configuration file has it. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { nearest } from '@inference-gateway/shared/nearest';
import { printRows, say } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { locateConfig } from '../config.js';
import { editConfigFile, readSoundConfig } from '../config-file.js';
import { serviceId } from '../config-schema.js';
import type { FileService } from '../config-schema.js';
import { configOption, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';
import { addServicesAdd } from './services-add.js';
import { addServicesScan } from './services-scan.js';

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
}

async function list({ config, json }: ConfigOption & JsonOption): Promise<void> {
  const { services = [] } = await readSoundConfig(locateConfig(config));
  printRows(services.map(row), COLUMNS, json === true);
}

type Row = ReturnType<typeof row>;

function row(service: FileService) {
  return {
    id: serviceId(service),
    type: service.type,
    backend: service.backend,
    base_url: service.base_url,
    slots: service.slots ?? null,
    slot_group: service.slot_group ?? null,
    api_key_file: service.api_key_file ?? null,
    models: service.models ?? null,
    prove: service.prove ?? false,
    foreign: service.foreign ?? true,
    drop_fields: service.drop_fields ?? [],
  };
}

const COLUMNS = {
  id: ({ id }: Row) => id,
  type: ({ type }: Row) => type,
  backend: ({ backend }: Row) => backend,
  'base url': ({ base_url: url }: Row) => url,
  slots: ({ slots }: Row) => slots ?? 'auto',
  group: ({ slot_group: group }: Row) => group,
  models: ({ models }: Row) => models?.map(({ id }) => id).join(', ') ?? 'all',
};

async function remove(
  id: string,
  options: ConfigOption & { readonly yes?: boolean },
): Promise<void> {
  const location = locateConfig(options.config);
  const { services = [] } = await readSoundConfig(location);
  const index = services.findIndex((service) => serviceId(service) === id);
  if (index === -1) throw unknownService(id, services.map(serviceId));
  if (options.yes !== true) {
    throw new CommandError(EXIT.usage, `services remove ${id} takes it out for good: add --yes.`);
  }
  await editConfigFile(location, (document) => {
    document['services'] = (document['services'] as unknown[]).toSpliced(index, 1);
  });
  say(`Removed ${id}. A running agent lets go of it when it is restarted.`);
}

function unknownService(id: string, known: readonly string[]): CommandError {
  const near = nearest(id, known);
  const meant = near.length > 0 ? `did you mean ${near.join(' or ')}?` : 'see "services list".';
  return new CommandError(EXIT.notFound, `no service has the id "${id}": ${meant}`);
}
