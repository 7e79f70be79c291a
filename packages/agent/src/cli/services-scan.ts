/** `gateway-agent services scan`: which model servers answer on this machine. Loopback only. */
import { printRows, say } from '@inference-gateway/shared/program/print';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { Command } from 'commander';
import type { ConfigLocation } from '../config/file.js';
import { serviceId } from '../config/schema.js';
import type { FileService } from '../config/schema.js';
import type { ServiceConfig } from '../backends/backend.js';
import { candidatePorts, scanLoopback, sideBySide } from '../backends/detection/detect.js';
import type { Detected } from '../backends/detection/detect.js';
import { createBackend } from '../backends/create-backend.js';
import { serverRoot } from '../backends/probe.js';
import { readSoundConfig } from '../config/file.js';
import { loadServices, toService } from '../config/services.js';
import { modelServerPorts } from '../hardware/sockets.js';
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

// The model servers of this machine beside what the configuration has of them.

interface FoundServer {
  readonly detected: Detected;
  /** As it would be in the configuration; null where no backend makes it usable. */
  readonly entry: FileService | null;
  readonly configured: boolean;
}

/** What it serves, as far as it was asked and answered. */
interface DescribedServer extends FoundServer {
  readonly models: readonly AdvertisedModel[];
  readonly slots: number | null;
  /** What its owner should know; null where all is well. */
  readonly note: string | null;
}

/** Each server is asked at most so long, and so many of them at once. */
const DESCRIBE_TIMEOUT_MS = 5_000;

const SERVERS_AT_ONCE = 8;

/** Those behind the ports, or behind all where a model server may be. */
async function findServers(
  location: ConfigLocation,
  ports?: readonly number[],
): Promise<readonly FoundServer[]> {
  const { services = [] } = await readSoundConfig(location);
  const known = new Set(services.map(placeOf));
  const urls = services.map(({ base_url: url }) => url);
  const servers = await scanLoopback(ports ?? candidatePorts(urls, await modelServerPorts()));
  return servers.map((detected) => {
    const { type, baseUrl } = detected;
    const configured = known.has(placeOf({ type, base_url: baseUrl }));
    return { detected, entry: entryOf(detected), configured };
  });
}

/** Asks each for its models, with its key where the configuration has one. Nothing is sent. */
async function describeServers(
  location: ConfigLocation,
  found: readonly FoundServer[],
): Promise<readonly DescribedServer[]> {
  const { services = [] } = await readSoundConfig(location);
  const loaded = await loadServices(services, location.file);
  const byPlace = new Map(services.map((entry, i) => [placeOf(entry), loaded.services[i]]));
  const described = await sideBySide(byServer(found), SERVERS_AT_ONCE, async (ofOne) => {
    const answers: DescribedServer[] = [];
    // The types of one server one after the other: it answers one question at a time.
    for (const one of ofOne) {
      const service = one.entry === null ? undefined : byPlace.get(placeOf(one.entry));
      answers.push(await describeOne(one, service ?? null));
    }
    return answers;
  });
  return described.flat();
}

function byServer(found: readonly FoundServer[]): readonly (readonly FoundServer[])[] {
  const urls = [...new Set(found.map(({ detected }) => detected.baseUrl))];
  return urls.map((url) => found.filter(({ detected }) => detected.baseUrl === url));
}

async function describeOne(
  found: FoundServer,
  configured: ServiceConfig | null,
): Promise<DescribedServer> {
  const { detected, entry } = found;
  const nothing = { ...found, models: [], slots: null, note: detected.note };
  const hasKey = configured !== null && configured.apiKey !== null;
  if (entry === null || (detected.needsKey && !hasKey)) return nothing;
  const signal = AbortSignal.timeout(DESCRIBE_TIMEOUT_MS);
  try {
    const backend = createBackend(configured ?? toService(entry, null), {
      ffmpeg: null,
      getOnly: true,
    });
    const { models, slots } = await backend.describe(signal);
    return { ...found, models, slots, note: models.length === 0 ? EMPTY : null };
  } catch (error) {
    return { ...nothing, note: (error as Error).message };
  }
}

const EMPTY = 'it has no model at present';

function entryOf({ type, backend, baseUrl, slotGroup, models }: Detected): FileService | null {
  if (backend === null) return null;
  return {
    type,
    backend,
    base_url: baseUrl,
    ...(slotGroup !== null && { slot_group: slotGroup }),
    ...(models !== null && { models: models.map((id) => ({ id })) }),
    prove: true,
  };
}

/** Neither the backend nor `/v1` counts: the owner may have chosen a plainer one. */
function placeOf({ type, base_url: url }: Pick<FileService, 'type' | 'base_url'>): string {
  return `${type} ${serverRoot(url).replace('//localhost:', '//127.0.0.1:')}`;
}
