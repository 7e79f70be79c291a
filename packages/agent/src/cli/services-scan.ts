/** `gateway-agent services scan`: which model servers answer on this machine. Loopback only. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { printRows, say } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { serverRoot } from '../backends/server-root.js';
import { scanLoopback } from '../backends/detect.js';
import type { Detected } from '../backends/detect.js';
import { locateConfig } from '../config.js';
import { readSoundConfig } from '../config-file.js';
import type { ConfigLocation } from '../config-location.js';
import { serviceId } from '../config-schema.js';
import type { FileService } from '../config-schema.js';
import { configOption, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';
import { RESTART, appendServices } from './services-add.js';

interface ScanOptions extends ConfigOption, JsonOption {
  readonly add?: boolean;
  readonly port?: readonly string[];
}

export function addServicesScan(services: Command): void {
  services
    .command('scan')
    .description('look for model servers on the usual ports of this machine')
    .option('--add', 'add those that are not configured yet')
    .option('--port <port...>', 'look at these ports instead')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('services scan --add'))
    .action(scan);
}

interface Found {
  readonly detected: Detected;
  /** As it would be in the configuration; null where no backend makes it usable. */
  readonly entry: FileService | null;
  readonly configured: boolean;
}

async function scan({ config, json, add, port }: ScanOptions): Promise<void> {
  const location = locateConfig(config);
  const found = await findServers(location, port?.map(portNumber));
  const added = add === true ? await addNew(location, found) : [];
  const rows = found.map((one) =>
    row({ ...one, configured: one.configured || isAmong(added, one) }),
  );
  printRows(rows, COLUMNS, json === true);
  if (found.length === 0) say('No model server answers here. Is one running?');
  else if (added.length > 0) say(`Added ${idsOf(added)}. ${RESTART}`);
  else if (add === true) say('Nothing to add.');
  else if (found.some(canBeAdded)) say('Add them with: gateway-agent services scan --add');
}

function isAmong(added: readonly FileService[], { entry }: Found): boolean {
  return entry !== null && added.includes(entry);
}

/** Scans, and adds what is not configured yet. Returns what was added. */
export async function addFound(location: ConfigLocation): Promise<readonly FileService[]> {
  const added = await addNew(location, await findServers(location));
  if (added.length > 0) say(`Added ${idsOf(added)}.`);
  return added;
}

async function findServers(
  location: ConfigLocation,
  ports?: readonly number[],
): Promise<readonly Found[]> {
  const { services = [] } = await readSoundConfig(location);
  const known = new Set(services.map(placeOf));
  const servers = await scanLoopback(ports);
  return servers.map((detected) => {
    const { type, backend, baseUrl } = detected;
    const entry = backend === null ? null : { type, backend, base_url: baseUrl };
    return { detected, entry, configured: known.has(placeOf({ type, base_url: baseUrl })) };
  });
}

/** Neither the backend nor `/v1` counts: the owner may have chosen a plainer one. */
function placeOf({ type, base_url: url }: Pick<FileService, 'type' | 'base_url'>): string {
  return `${type} ${serverRoot(url)}`;
}

async function addNew(
  location: ConfigLocation,
  found: readonly Found[],
): Promise<readonly FileService[]> {
  const entries = found.flatMap((one) => (canBeAdded(one) ? (one.entry ?? []) : []));
  if (entries.length > 0) await appendServices(location, entries);
  for (const { entry, detected, configured } of found) {
    if (detected.needsKey && entry !== null && !configured) say(withKey(entry));
  }
  return entries;
}

/** A server that wants a key is added with it, or it would only refuse. */
function canBeAdded({ entry, detected, configured }: Found): boolean {
  return entry !== null && !detected.needsKey && !configured;
}

function withKey({ type, backend, base_url: url }: FileService): string {
  const flags = `--type ${type} --backend ${backend} --base-url ${url} --api-key-file <file>`;
  return `${url} wants a key, so add it by hand: services add ${flags}`;
}

function portNumber(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= MAX_PORT) return port;
  throw new CommandError(EXIT.usage, `--port is "${text}": it must be from 1 to ${MAX_PORT}.`);
}

const MAX_PORT = 65_535;

type Row = ReturnType<typeof row>;

function row({ detected, entry, configured }: Found) {
  return {
    id: entry === null ? null : serviceId(entry),
    server: detected.server,
    type: detected.type,
    backend: detected.backend,
    base_url: detected.baseUrl,
    needs_key: detected.needsKey,
    configured,
    note: detected.note,
  };
}

const COLUMNS = {
  server: ({ server }: Row) => server,
  type: ({ type }: Row) => type,
  backend: ({ backend }: Row) => backend,
  'base url': ({ base_url: url }: Row) => url,
  configured: ({ configured }: Row) => (configured ? 'yes' : 'no'),
  note: ({ note }: Row) => note,
};

function idsOf(entries: readonly FileService[]): string {
  return entries.map(serviceId).join(', ');
}
