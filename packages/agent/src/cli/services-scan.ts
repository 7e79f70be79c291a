/** `gateway-agent services scan`: which model servers answer on this machine. Loopback only. */
import { printRows, say } from '@inference-gateway/shared/program/print';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { Command } from 'commander';
import type { ConfigLocation } from '../config-location.js';
import { serviceId } from '../config-schema.js';
import type { FileService } from '../config-schema.js';
import { describeServers, findServers } from './found-servers.js';
import type { DescribedServer, FoundServer } from './found-servers.js';
import { MAX_PORT, configOption, countTo, enterConfig, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';
import { RESTART, appendServices } from './services-add.js';

interface ScanOptions extends ConfigOption, JsonOption {
  readonly add?: boolean;
  readonly port?: readonly number[];
}

export function addServicesScan(services: Command): void {
  services
    .command('scan')
    .description('look for model servers on this machine')
    .option('--add', 'add those that are not configured yet')
    .option('--port <port...>', 'look at these ports alone', readPorts)
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('services scan --add'))
    .action(scan);
}

async function scan({ config, json, add, port }: ScanOptions): Promise<void> {
  const location = enterConfig(config);
  const found = await findServers(location, port);
  const added = add === true ? await addNew(location, found) : [];
  const described = await describeServers(location, found);
  const rows = described.map((one) =>
    row({ ...one, configured: one.configured || isAmong(added, one) }),
  );
  printRows(rows, COLUMNS, json === true);
  if (found.length === 0) say('No model server answers here. Is one running?');
  else if (added.length > 0) say(`Added ${idsOf(added)}. ${RESTART}`);
  else if (add === true) say('Nothing to add.');
  else if (found.some(canBeAdded)) say('Add them with: gateway-agent services scan --add');
}

function isAmong(added: readonly FileService[], { entry }: FoundServer): boolean {
  return entry !== null && added.includes(entry);
}

/** Scans, and adds what is not configured yet. Returns what was added. */
export async function addFound(location: ConfigLocation): Promise<readonly FileService[]> {
  const added = await addNew(location, await findServers(location));
  if (added.length > 0) say(`Added ${idsOf(added)}.`);
  return added;
}

async function addNew(
  location: ConfigLocation,
  found: readonly FoundServer[],
): Promise<readonly FileService[]> {
  const entries = found.flatMap((one) => (canBeAdded(one) ? (one.entry ?? []) : []));
  if (entries.length > 0) await appendServices(location, entries);
  for (const { entry, detected, configured } of found) {
    if (detected.needsKey && entry !== null && !configured) say(withKey(entry));
  }
  return entries;
}

/** A server that wants a key is added with it, or it would only refuse. */
function canBeAdded({ entry, detected, configured }: FoundServer): boolean {
  return entry !== null && !detected.needsKey && !configured;
}

function withKey({ type, backend, base_url: url }: FileService): string {
  const flags = `--type ${type} --backend ${backend} --base-url ${url} --api-key-file <file>`;
  return `${url} wants a key, so add it by hand: services add ${flags}`;
}

const readPort = countTo(MAX_PORT);

/** Commander reads one after the other. */
function readPorts(written: string, before: readonly number[] = []): readonly number[] {
  return [...before, readPort(written)];
}

type Row = ReturnType<typeof row>;

function row({ detected, entry, configured, models, slots, note }: DescribedServer) {
  return {
    id: entry === null ? null : serviceId(entry),
    server: detected.server,
    type: detected.type,
    backend: detected.backend,
    base_url: detected.baseUrl,
    models: models.map(modelRow),
    slots,
    slot_group: detected.slotGroup,
    needs_key: detected.needsKey,
    configured,
    note,
  };
}

function modelRow({ id, context_length: contextLength, loaded }: AdvertisedModel) {
  return { id, context_length: contextLength, loaded };
}

const COLUMNS = {
  server: ({ server }: Row) => server,
  type: ({ type }: Row) => type,
  backend: ({ backend }: Row) => backend,
  'base url': ({ base_url: url }: Row) => url,
  models: ({ models }: Row) => shorten(models.map(({ id }) => id)),
  context: ({ models }: Row) => contexts(models),
  loaded: ({ models }: Row) => loadedOf(models),
  slots: ({ slots }: Row) => slots,
  configured: ({ configured }: Row) => (configured ? 'yes' : 'no'),
  note: ({ note }: Row) => note,
};

/** A model server may list hundreds. */
const SHOWN_MODELS = 3;

function shorten(ids: readonly string[]): string {
  const rest = ids.length - SHOWN_MODELS;
  const shown = ids.slice(0, SHOWN_MODELS).join(', ');
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** What is served, where the server tells it: one length, or the least and the most. */
function contexts(models: Row['models']): string | null {
  const lengths = models.flatMap(({ context_length: length }) => length ?? []);
  if (lengths.length === 0) return null;
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  return least === most ? String(least) : `${least} to ${most}`;
}

function loadedOf(models: Row['models']): string | null {
  const told = models.filter(({ loaded }) => loaded !== null);
  if (told.length === 0) return null;
  const loaded = told.filter((model) => model.loaded === true).length;
  if (models.length === 1) return loaded === 1 ? 'yes' : 'no';
  return `${loaded} of ${models.length}`;
}

function idsOf(entries: readonly FileService[]): string {
  return entries.map(serviceId).join(', ');
}
