/**
 * Carries out an administrative operation: in the running coordinator if there is one, else in this
 * process, which then takes the folder's lock.
 */
import { userInfo } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { ApiError } from '@inference-gateway/shared/errors';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { callLocal } from '@inference-gateway/shared/program/local-socket';
import { becomeOwnerOf } from '@inference-gateway/shared/program/owner';
import { runAdmin } from '../operations/operations.js';
import type { AdminArgs, AdminName, AdminResult } from '../operations/operations.js';
import { adminSocketPath } from '../operations/admin-socket.js';
import { createAdminAssets } from '../assets/admin-assets.js';
import { asCommandError, openFiles } from '../assets/open-files.js';
import type { FilesPlace } from '../assets/files-url.js';
import {
  locateFiles,
  locateStore,
  readAsyncEnabled,
  readQueueLimits,
  readRetention,
} from '../config/config.js';
import type { ConfigFlags } from '../config/config.js';
import { createOfflineJobs } from '../jobs/offline-jobs.js';
import { LOCK_RETRY_MS, hasStore, openUnlessLocked } from '../store/open.js';
import type { StorePlace } from '../store/open.js';
import type { QueueLimits, Store } from '../store/port.js';
import type { DataOption } from './options.js';

export async function admin<Name extends AdminName>(
  options: DataOption,
  command: Name,
  args: AdminArgs<Name>,
): Promise<AdminResult<Name>> {
  const offline = readOffline(options);
  const place = enterStore(options);
  const { dataDir } = place;
  for (let tries = 1; ; tries++) {
    const running = await callRunning(dataDir, command, args);
    if (running !== null) return running.result;
    // A mistyped folder must not become an empty store: only creating the first member makes a new
    // one.
    if (command !== 'user.create' && !hasStore(place)) throw noStore(dataDir);
    // If it is locked, another command is at work, or a coordinator starts and answers soon.
    const store = await openUnlessLocked(dataDir, tries, place);
    if (store !== null) return runHere({ offline, store }, command, args);
    await setTimeout(LOCK_RETRY_MS);
  }
}

/**
 * Locates the store for a command that works in it. A root process switches to the owner of the
 * data folder, so that new files belong to that user; read files that only root can read before.
 */
export function enterStore(options: ConfigFlags): StorePlace {
  const place = locateStore(options);
  becomeOwnerOf(place.dataDir);
  return place;
}

/**
 * Reads the settings for an operation that this process carries out. It reads at once, before the
 * process switches from root to the folder's owner; an error is thrown only when they are used.
 */
export function readOffline(options: ConfigFlags): () => OfflineSettings {
  const files = readNow(() => locateFiles(options));
  return readNow(() => ({
    queueLimits: readQueueLimits(options),
    asyncEnabled: readAsyncEnabled(options),
    retention: readRetention(options),
    files,
  }));
}

function readNow<T>(read: () => T): () => T {
  try {
    const found = read();
    return () => found;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

interface OfflineSettings {
  readonly queueLimits: QueueLimits;
  readonly asyncEnabled: boolean;
  readonly retention: ReturnType<typeof readRetention>;
  readonly files: () => FilesPlace;
}

/** Null if no coordinator runs on this folder. */
export async function callRunning<Name extends AdminName>(
  dataDir: string,
  command: Name,
  args: AdminArgs<Name>,
): Promise<{ readonly result: AdminResult<Name> } | null> {
  try {
    const reply = await callLocal(adminSocketPath(dataDir), { command, args, by: ACTOR });
    return reply as { result: AdminResult<Name> } | null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    const message = `the coordinator on ${dataDir} belongs to another user: run this as that one.`;
    throw new CommandError(EXIT.notAuthorised, message, { cause: error });
  }
}

interface OpenFolder {
  readonly offline: () => OfflineSettings;
  readonly store: Store;
}

/** Carries out an operation on a store that the caller has opened; closes the store. */
export async function runHere<Name extends AdminName>(
  { offline, store }: OpenFolder,
  command: Name,
  args: AdminArgs<Name>,
): Promise<AdminResult<Name>> {
  try {
    const { queueLimits, files, ...settings } = offline();
    const assets = createAdminAssets(() => openFiles(files()), store);
    const jobActions = createOfflineJobs(store, queueLimits, SYSTEM_CLOCK);
    const nobody = { links: null, server: null, system: null, onMember: (): void => {} };
    const context = { store, assets, jobActions, now: SYSTEM_CLOCK.now, ...settings, ...nobody };
    const result = runAdmin(context, { command, args, by: ACTOR }).catch((error: unknown) => {
      throw error instanceof ApiError ? asCommandError(error, files()) : error;
    });
    return (await result) as AdminResult<Name>;
  } finally {
    await store.close();
  }
}

/** Read before a root process switches to the folder's owner: the audit log names the real user. */
const ACTOR = actor();

/** The user of this machine who runs the command, as in the audit log. */
function actor(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // In a container, the user may have no name.
    return `cli:${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Throws for a store on PostgreSQL, which has tools of its own for `what`. */
export function requireSqlite({ databaseUrl }: StorePlace, what: string): void {
  if (databaseUrl === null) return;
  const message =
    `${what} is made of the data folder alone, and the database is on PostgreSQL: use pg_dump ` +
    'and pg_restore, and copy the folder "assets" (docs/operations/postgresql.md).';
  throw new CommandError(EXIT.usage, message);
}

/** The error for a folder without a store. */
export function noStore(dataDir: string): CommandError {
  return new CommandError(
    EXIT.notFound,
    `there is no coordinator's data in ${dataDir}. ` +
      'Name its folder with --data (and GATEWAY_DATABASE_URL, if it keeps its data on ' +
      'PostgreSQL), or make a new one with "start" or "user create".',
  );
}
