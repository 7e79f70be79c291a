/** Opens the store: the only file that knows which adapter is used. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { LOCK_FILE, lockFolder, requireAccess } from './sqlite/engine/lock.js';
import type { FolderLock } from './sqlite/engine/lock.js';
import type { Store } from './port.js';
import { runHere, runInThread } from './sqlite/engine/calls.js';
import { createSqliteStore } from './sqlite/engine/client.js';
import { copiedAssets, copyDatabase, storedAssets } from './sqlite/engine/copy.js';
import type { CopiedAsset, DatabaseCopy } from './sqlite/engine/copy.js';
import { DATABASE_FILE, openDatabase } from './sqlite/engine/database.js';
import type { Engine, EngineOptions } from './sqlite/engine/engine.js';
import { inspectDatabase, spaceOfDatabase } from './sqlite/engine/inspect.js';
import type { Inspection, SpaceQuestion, StoreSpace } from './sqlite/engine/inspect.js';
import { migrationStatus, migrate } from './sqlite/engine/migrations.js';
import type { MigrationStatus } from './sqlite/engine/migrations.js';

export type { CopiedAsset, DatabaseCopy, FolderLock, Inspection, MigrationStatus };
/** Names of the store's files in its folder. */
export { DATABASE_FILE, LOCK_FILE };

/** A data folder is used by one coordinator at a time. */
const THE_ONLY_NODE = 'local';

/** A command holds the lock for a few milliseconds, and on a busy machine for a second. */
const LOCK_TRIES = 20;
export const LOCK_RETRY_MS = 100;

interface StoreOptions {
  /** True for a process that serves, whose event loop must not wait for the disk. */
  readonly inThread?: boolean;
  /** Unix ms, for the audit log; default: the system's clock. */
  readonly now?: () => number;
  /** Called with the number of usage rows that are lost, and the reason. */
  readonly onUsageLost?: (rows: number, reason: string) => void;
}

/**
 * Locks the data folder, creates it if it is missing, migrates its tables and opens it. Throws a
 * `CommandError`: `conflict` if another process has it, `schemaNewer` if a newer program wrote it.
 */
export async function openStore(dataDir: string, options: StoreOptions = {}): Promise<Store> {
  const { inThread = false, now = SYSTEM_CLOCK.now, ...told } = options;
  const lock = lockFolder(dataDir);
  try {
    const file = join(dataDir, DATABASE_FILE);
    bringUpToDate(file);
    const engine = { databaseFile: file, nodeId: THE_ONLY_NODE };
    const runner = inThread ? runInThread(engine) : runHere(await openHere(engine));
    return createSqliteStore(runner, { now, onClosed: () => lock.release(), ...told });
  } catch (error) {
    lock.release();
    throw asCommandError(error, dataDir);
  }
}

/**
 * As `openStore`, for a coordinator: waits while a command has the lock. A coordinator that gave up
 * at once would stay down, since its service does not restart it after a `conflict`.
 */
export async function openStoreOnceFree(dataDir: string, options: StoreOptions): Promise<Store> {
  for (let tries = 1; ; tries++) {
    const store = await openUnlessLocked(dataDir, tries, options);
    if (store !== null) return store;
    await setTimeout(LOCK_RETRY_MS);
  }
}

/** Null if another process has the lock; throws `conflict` instead once there are no tries left. */
export async function openUnlessLocked(
  dataDir: string,
  tries: number,
  options: StoreOptions = {},
): Promise<Store | null> {
  try {
    return await openStore(dataDir, options);
  } catch (error) {
    const isLocked = error instanceof CommandError && error.exitCode === EXIT.conflict;
    if (!isLocked || tries >= LOCK_TRIES) throw error;
    return null;
  }
}

/** A process whose store has its own thread does not load what runs there. */
async function openHere(options: EngineOptions): Promise<Engine> {
  const { openEngine } = await import('./sqlite/engine/engine.js');
  return openEngine(options);
}

/** True if a store has been opened in this folder before. Throws if it cannot be read. */
export function hasStore(dataDir: string): boolean {
  requireAccess(dataDir, constants.X_OK);
  return existsSync(join(dataDir, DATABASE_FILE));
}

/** Inspects the store without a lock. Throws if there is none, or it cannot be read. */
export function inspectStore(dataDir: string): Inspection {
  return inspectDatabase(join(dataDir, DATABASE_FILE));
}

/**
 * Without a lock; null if a program of another version made it. Throws if it cannot be read.
 */
export function spaceOf(dataDir: string, question: SpaceQuestion): StoreSpace | null {
  return spaceOfDatabase(join(dataDir, DATABASE_FILE), question);
}

/** Locks a data folder without opening its store: `conflict` if another process has it. */
export function lockStore(dataDir: string): FolderLock {
  return lockFolder(dataDir);
}

/**
 * Copies the current content of the store into a file that is empty or missing. It takes no lock,
 * and writes to the store continue.
 */
export function copyStore(dataDir: string, file: string): DatabaseCopy {
  return attempt('copy', dataDir, () => copyDatabase(join(dataDir, DATABASE_FILE), file));
}

/** The rows of assets, read without a lock. */
export function assetsOf(dataDir: string): Iterable<CopiedAsset> {
  return copiedAssets(join(dataDir, DATABASE_FILE));
}

/** The `ids` that are assets of the store now, read without a lock. */
export function assetsAmong(dataDir: string, ids: readonly string[]): readonly string[] {
  return attempt('read', dataDir, () => storedAssets(join(dataDir, DATABASE_FILE), ids));
}

/** The applied migrations of the store, read without a lock. */
export function migrationsOf(dataDir: string): MigrationStatus {
  return attempt('read', dataDir, () => migrationStatus(join(dataDir, DATABASE_FILE)));
}

type Verb = 'open' | 'read' | 'copy';

function attempt<T>(verb: Verb, dataDir: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw asCommandError(error, dataDir, verb);
  }
}

/** A damaged file, a full disk, missing permissions: errors for which a stack does not help. */
function asCommandError(error: unknown, dataDir: string, verb: Verb = 'open'): unknown {
  const { code, message } = error as Error & { code?: string };
  if (code?.startsWith('SQLITE_') !== true) return error;
  return new CommandError(
    EXIT.failure,
    `cannot ${verb} the database in ${dataDir}: ${message} (${code}). "doctor" tells more.`,
    { cause: error },
  );
}

function bringUpToDate(file: string): void {
  const database = openDatabase(file);
  try {
    migrate(database);
  } finally {
    database.close();
  }
}
