/**
 * The doctor's checks: this machine, the data folder, the database, and the running coordinator.
 */
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { CommandError } from '@inference-gateway/shared/program/command-error';
import { checkNode } from '@inference-gateway/shared/program/versions';
import { isLoopback } from '@inference-gateway/shared/loopback';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { AdminResult } from '../../operations/operations.js';
import type { FilesPlace } from '../../assets/files-url.js';
import type { OidcSettings } from '../../accounts/oidc.js';
import {
  loadConfig,
  locateFiles,
  locateNode,
  oidcSettings,
  readRetention,
} from '../../config/config.js';
import type { ConfigFlags } from '../../config/config.js';
import { hasStore } from '../../store/open.js';
import type { ServerFacts } from '../../operations/operation.js';
import type { StorePlace } from '../../store/open.js';
import { callRunning, enterStore } from '../client.js';
import { checkDatabase, checkPostgres } from './database.js';
import type { NodeSettings } from './database.js';
import { checkFiles } from './files.js';
import { checkProvider } from './open-id.js';
import { checkFolder, checkFreeSpace } from './folder.js';
import type { SpacePatient } from './folder.js';
import { checkPublicAddress } from './public-address.js';

/** All checks, in an order in which later ones depend on earlier ones. */
export async function examine(flags: ConfigFlags): Promise<Check[]> {
  const configured = examineConfiguration(flags);
  const retention = retentionOf(flags);
  const files = filesPlaceOf(flags);
  const place = enterStore(flags);
  const { dataDir } = place;
  const folder = checkFolder(dataDir);
  const server = await findServer(dataDir);
  // The configuration of the running coordinator may differ from that of this shell.
  const publicUrl = server === null ? configured.publicUrl : server.publicUrl;
  const running = await checkServer(server);
  const known = checkPublicUrl(publicUrl);
  const patient = {
    dataDir,
    isRunning: server !== null,
    retention: server?.retention ?? retention,
  };
  return [
    checkNode(process.versions.node),
    configured.check,
    folder,
    ...(await examineStore(place, patient, nodeOf(flags))),
    ...(files === null ? [] : await checkFiles(files, place.databaseUrl)),
    running,
    known,
    ...(await checkPublicAddress(publicUrl, { known, running })),
    ...(await checkProvider(configured.provider)),
  ];
}

async function examineStore(
  place: StorePlace,
  patient: SpacePatient,
  self: NodeSettings | null,
): Promise<Check[]> {
  const { dataDir, databaseUrl } = place;
  if (databaseUrl !== null) {
    const hasFolder = existsSync(dataDir);
    const space = hasFolder ? await checkFreeSpace(patient) : null;
    return [...(space === null ? [] : [space]), ...(await checkPostgres(databaseUrl, self))];
  }
  if (hasStore(place)) {
    const space = await checkFreeSpace(patient);
    return [space, ...checkDatabase(dataDir, space.status === 'FAIL')];
  }
  const names = ['free space', 'database', 'schema', 'integrity', 'clock'];
  return names.map((name) => checking(name).skip(`there is no database in ${dataDir}`));
}

interface Configured {
  readonly check: Check;
  readonly publicUrl: string | null;
  readonly provider: OidcSettings | null;
}

function examineConfiguration(flags: ConfigFlags): Configured {
  const { pass, fail } = checking('configuration');
  try {
    const config = loadConfig(flags);
    const { publicUrl } = config;
    return { check: pass('no problem'), publicUrl, provider: oidcSettings(config) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const advice = 'Correct it, and look again with: gateway-coordinator doctor';
    return { check: fail(error.message, advice), publicUrl: null, provider: null };
  }
}

/** Null if the configuration is wrong: another check reports that. */
function retentionOf(flags: ConfigFlags): SpacePatient['retention'] {
  try {
    return readRetention(flags);
  } catch {
    return null;
  }
}

/** Null if the configuration is wrong: another check reports that. */
function filesPlaceOf(flags: ConfigFlags): FilesPlace | null {
  try {
    return locateFiles(flags);
  } catch {
    return null;
  }
}

/** Null if the configuration is wrong: another check reports that. */
function nodeOf(flags: ConfigFlags): NodeSettings | null {
  try {
    return locateNode(flags);
  } catch {
    return null;
  }
}

async function findServer(dataDir: string): Promise<AdminResult<'server.status'>> {
  const running = await callRunning(dataDir, 'server.status', {});
  return running?.result ?? null;
}

// Checks the running coordinator, and its public address.

const READY_TIMEOUT_MS = 5_000;

const SEE_LOG = 'See its log; as a service it keeps it in: journalctl -u gateway-coordinator';

const BEHIND_TLS =
  'Put a proxy with TLS in front (docs/operations/tls.md), and name it: ' +
  'GATEWAY_PUBLIC_URL=https://<name> gateway-coordinator start';

/** A coordinator that does not run is no failure: many commands work without one. */
async function checkServer(server: ServerFacts | null): Promise<Check> {
  const { pass, warn, fail, skip } = checking('coordinator');
  if (server === null) return skip('not running');
  const url = `${server.address}/readyz`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
    const text = await answer.text();
    if (!answer.ok) return fail(`${url} answers ${answer.status}: ${messageOf(text)}`, SEE_LOG);
    const details = detailsOf(text);
    if (details.length === 0) return pass(`ready on ${server.address}`);
    return warn(`ready on ${server.address}. ${details.join(' ')}`, SEE_LOG);
  } catch (error) {
    return fail(`${url}: ${(error as Error).message}`, SEE_LOG);
  }
}

/** What an administrator should look at; empty for an answer of an older version. */
function detailsOf(answer: string): readonly string[] {
  const ready = z.object({ details: z.array(z.string()) });
  try {
    return ready.parse(JSON.parse(answer)).details;
  } catch {
    return [];
  }
}

/** The message of an error document; any other text is returned unchanged. */
function messageOf(answer: string): string {
  const failure = z.object({ error: z.object({ message: z.string() }) });
  try {
    return failure.parse(JSON.parse(answer)).error.message;
  } catch {
    return answer;
  }
}

function checkPublicUrl(publicUrl: string | null): Check {
  const { pass, warn, fail } = checking('public url');
  if (publicUrl === null) {
    return warn('not set', 'Set GATEWAY_PUBLIC_URL before others use it.');
  }
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'https:' || isLoopback(hostname)) return pass(publicUrl);
  return fail(`${publicUrl} is not encrypted: agents refuse it, and keys would leak`, BEHIND_TLS);
}
