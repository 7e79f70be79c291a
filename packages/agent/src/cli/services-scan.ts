/** `gateway-agent services scan`: lists the model servers on this machine. Loopback only. */
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
    .option('--port <port...>', 'look only at these ports', readPorts)
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

/** Scans, and adds services that are not configured yet. Returns the added ones. */
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

/** A server that wants a key cannot be added without it: it would refuse every request. */
function canBeAdded({ entry, detected, configured }: FoundServer): boolean {
  return entry !== null && !detected.needsKey && !configured;
}

function withKey({ type, backend, base_url: url }: FileService): string {
  const flags = `--type ${type} --backend ${backend} --base-url ${url} --api-key-file <file>`;
  return `${url} wants a key, so add it by hand: services add ${flags}`;
}

const readPort = countTo(MAX_PORT);

/** Commander calls this once per value. */
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

/** The context length, if the server reports it: one length, or the smallest and the largest. */
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

// The model servers of this machine, with their entries in the configuration.

interface FoundServer {
  readonly detected: Detected;
  /** Its entry for the configuration; null if no backend supports it. */
  readonly entry: FileService | null;
  readonly configured: boolean;
}

/** The models that it reported, if it was asked and answered. */
interface DescribedServer extends FoundServer {
  readonly models: readonly AdvertisedModel[];
  readonly slots: number | null;
  /** A note for the owner; null if there is nothing to report. */
  readonly note: string | null;
}

/** Time limit per server, and limit of concurrent requests. */
const DESCRIBE_TIMEOUT_MS = 5_000;

const SERVERS_AT_ONCE = 8;

/** The servers on the given ports, or on all ports that may belong to a model server. */
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

/** Asks each for its models, with its key if the configuration has one. Sends only GET requests. */
async function describeServers(
  location: ConfigLocation,
  found: readonly FoundServer[],
): Promise<readonly DescribedServer[]> {
  const { services = [] } = await readSoundConfig(location);
  const loaded = await loadServices(services, location.file);
  const byPlace = new Map(services.map((entry, i) => [placeOf(entry), loaded.services[i]]));
  const described = await sideBySide(byServer(found), SERVERS_AT_ONCE, async (ofOne) => {
    const answers: DescribedServer[] = [];
    // The types of one server in turn: it gets one request at a time.
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

/** Ignores the backend and `/v1`: the owner may have chosen a more general backend. */
function placeOf({ type, base_url: url }: Pick<FileService, 'type' | 'base_url'>): string {
  return `${type} ${serverRoot(url).replace('//localhost:', '//127.0.0.1:')}`;
}
