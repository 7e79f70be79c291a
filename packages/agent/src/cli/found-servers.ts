/** The model servers of this machine beside what the configuration has of them. */
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { ServiceConfig } from '../backends/backend.js';
import { candidatePorts, scanLoopback, sideBySide } from '../backends/detection/detect.js';
import { createBackend } from '../backends/create-backend.js';
import type { Detected } from '../backends/detection/detect.js';
import { serverRoot } from '../backends/probe.js';
import { readSoundConfig } from '../config-file.js';
import type { ConfigLocation } from '../config-location.js';
import type { FileService } from '../config-schema.js';
import { loadServices, toService } from '../config-services.js';
import { modelServerPorts } from '../hardware/sockets.js';

export interface FoundServer {
  readonly detected: Detected;
  /** As it would be in the configuration; null where no backend makes it usable. */
  readonly entry: FileService | null;
  readonly configured: boolean;
}

/** What it serves, as far as it was asked and answered. */
export interface DescribedServer extends FoundServer {
  readonly models: readonly AdvertisedModel[];
  readonly slots: number | null;
  /** What its owner should know; null where all is well. */
  readonly note: string | null;
}

/** Each server is asked at most so long, and so many of them at once. */
const DESCRIBE_TIMEOUT_MS = 5_000;
const SERVERS_AT_ONCE = 8;

/** Those behind the ports, or behind all where a model server may be. */
export async function findServers(
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
export async function describeServers(
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
