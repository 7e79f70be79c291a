/**
 * The doctor's round: this machine, the data folder, the database, and the coordinator that runs on
 * it.
 */
import { CommandError } from '@inference-gateway/shared/program/command-error';
import type { ServerFacts } from '../../admin/admin-context.js';
import { loadConfig, locateData } from '../../config.js';
import type { ConfigFlags } from '../../config.js';
import { hasStore } from '../../store/open.js';
import { callRunning } from '../client.js';
import { checking } from './check.js';
import type { Check } from './check.js';
import { checkDatabase } from './database.js';
import { checkFolder, checkFreeSpace } from './folder.js';
import { checkNode } from './node.js';
import { checkPublicUrl, checkServer } from './server.js';

/** Every check, in the order in which one leads to the next. */
export async function examine(flags: ConfigFlags): Promise<Check[]> {
  const { check: configuration, publicUrl } = examineConfiguration(flags);
  const dataDir = locateData(flags);
  const folder = checkFolder(dataDir);
  const server = await findServer(dataDir);
  const database = hasStore(dataDir) ? [checkFreeSpace(dataDir), ...checkDatabase(dataDir)] : [];
  return [
    checkNode(process.versions.node),
    configuration,
    folder,
    ...database,
    await checkServer(server),
    // The running coordinator has its own configuration, which need not be that of this shell.
    checkPublicUrl(server === null ? publicUrl : server.publicUrl),
  ];
}

function examineConfiguration(flags: ConfigFlags): { check: Check; publicUrl: string | null } {
  const { ok, failed } = checking('configuration');
  try {
    const { publicUrl } = loadConfig(flags);
    return { check: ok('no problem'), publicUrl };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const advice = 'Correct it; "start" refuses it as it is.';
    return { check: failed(error.message, advice), publicUrl: null };
  }
}

async function findServer(dataDir: string): Promise<ServerFacts | null> {
  const running = await callRunning(dataDir, 'server.status', {});
  return running?.result ?? null;
}
