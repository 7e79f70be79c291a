/** Opens the store: the only file that knows which engine is used. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { randomId } from '@inference-gateway/shared/ids';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { constants, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { LOCK_FILE, lockFolder, requireAccess } from './sqlite/lock.js';
import type { FolderLock } from './sqlite/lock.js';
import { createStore } from './client/client.js';
import type { StoreClientOptions } from './client/client.js';
import type { CopiedTable, CopyProgress, CopyRequest } from './copy/copy-store.js';
import { withoutPassword } from './database-url.js';
import type { PostgresInspection } from './postgres/inspect.js';
import type { Store } from './port.js';
import { createSqliteStore, runHere, runInThread } from './sqlite/calls.js';
import { copiedAssets, copyDatabase, storedAssets } from './sqlite/copy.js';
import type { CopiedAsset, DatabaseCopy } from './sqlite/copy.js';
import { DATABASE_FILE, openDatabase } from './sqlite/database.js';
import type { Engine, EngineOptions } from './sqlite/engine.js';
import { inspectDatabase, spaceOfDatabase } from './sqlite/inspect.js';
import type { Inspection, SpaceQuestion, StoreSpace } from './sqlite/inspect.js';
import { migrationStatus, migrate } from './sqlite/migrations.js';
import type { MigrationStatus } from './migration-files.js';

export type {
  CopiedAsset,
  CopiedTable,
  CopyProgress,
  DatabaseCopy,
  FolderLock,
  Inspection,
  MigrationStatus,
  PostgresInspection,
};
/** Names of the store's files in its folder. */
export { DATABASE_FILE, LOCK_FILE };

/** A database on SQLite is used by one coordinator at a time. */
const THE_ONLY_NODE = 'local';

/** A command holds the lock for a few milliseconds, and on a busy machine for a second. */
const LOCK_TRIES = 20;
export const LOCK_RETRY_MS = 100;

/** Where a coordinator keeps its data. */
export interface StorePlace {
  /** The folder of its files, and of the database unless there is a URL. */
  readonly dataDir: string;
  /** Of a database on PostgreSQL, with its password; null: SQLite, in the folder. */
  readonly databaseUrl: string | null;
}

interface StoreOptions {
  /** Default: null. */
  readonly databaseUrl?: StorePlace['databaseUrl'];
  /** The coordinator's name among those of a database on PostgreSQL. Absent: of a command. */
  readonly nodeName?: string;
  /** True for a process that serves, whose event loop must not wait for the disk. */
  readonly inThread?: boolean;
  /** Unix ms, for the audit log; default: the system's clock. */
  readonly now?: () => number;
  /** Called with the number of usage rows that are lost, and the reason. */
  readonly onUsageLost?: (rows: number, reason: string) => void;
  /** Called when another coordinator has taken the place of this one, with the reason. */
  readonly onEnded?: (reason: string) => void;
  /** Called once a minute at most, while the clock of the database's server differs. */
  readonly onClockWarning?: (warning: string) => void;
}

/**
 * Locks the data folder, creates it if it is missing, migrates the tables and opens them. Throws a
 * `CommandError`: `conflict` if another process has the folder or the database, `schemaNewer` if a
 * newer program wrote it, `usage` if the folder's data is in the other kind of database, or the
 * clock of the database's server differs by more than 10 s.
 */
export async function openStore(dataDir: string, options: StoreOptions = {}): Promise<Store> {
  return openLocked(lockFolder(dataDir), dataDir, options);
}

async function openLocked(
  lock: FolderLock,
  dataDir: string,
  options: StoreOptions,
): Promise<Store> {
  const { databaseUrl = null, inThread = false, now = SYSTEM_CLOCK.now, ...rest } = options;
  const { nodeName = `command-${randomId()}`, onUsageLost, ...events } = rest;
  const onClosed = (): void => lock.release();
  const client = { now, onClosed, ...(onUsageLost !== undefined && { onUsageLost }) };
  try {
    requireKind({ dataDir, databaseUrl });
    if (databaseUrl === null) return await openSqlite(dataDir, inThread, client);
    const { openPostgres } = await import('./postgres/engine.js');
    const engine = await openPostgres({ url: databaseUrl, nodeId: nodeName, now, ...events });
    if (markOf(dataDir) === null) markDatabase(dataDir, databaseUrl);
    return createStore(engine, client);
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
  const lock = lockUnlessLocked(dataDir, tries);
  return lock === null ? null : openLocked(lock, dataDir, options);
}

function lockUnlessLocked(dataDir: string, tries: number): FolderLock | null {
  try {
    return lockFolder(dataDir);
  } catch (error) {
    const isLocked = error instanceof CommandError && error.exitCode === EXIT.conflict;
    if (!isLocked || tries >= LOCK_TRIES) throw error;
    return null;
  }
}

async function openSqlite(
  dataDir: string,
  inThread: boolean,
  client: StoreClientOptions,
): Promise<Store> {
  const file = join(dataDir, DATABASE_FILE);
  bringUpToDate(file);
  const engine = { databaseFile: file, nodeId: THE_ONLY_NODE };
  const runner = inThread ? runInThread(engine) : runHere(await openHere(engine));
  return createSqliteStore(runner, client);
}

/** In the folder of a coordinator whose database is on PostgreSQL: its URL, without a password. */
const POSTGRES_MARK = 'database-url';

/** From now on the folder's data is there; a null changes nothing. */
export function markDatabase(dataDir: string, url: string | null): void {
  if (url === null || markOf(dataDir) === withoutPassword(url)) return;
  writeFileSync(join(dataDir, POSTGRES_MARK), `${withoutPassword(url)}\n`);
}

/** Whether the folder was last used with another database on PostgreSQL. */
export function isOtherDatabase({ dataDir, databaseUrl }: StorePlace): boolean {
  const mark = markOf(dataDir);
  return mark !== null && databaseUrl !== null && mark !== withoutPassword(databaseUrl);
}

/** Null for a folder whose database is in it. */
function markOf(dataDir: string): string | null {
  const file = join(dataDir, POSTGRES_MARK);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}

/**
 * Throws a `CommandError` if the data of the folder is in a database of the other kind: it would
 * seem to be lost. A copy to PostgreSQL leaves its source in the folder, beside the mark.
 */
function requireKind({ dataDir, databaseUrl }: StorePlace): void {
  const mark = markOf(dataDir);
  const hasFile = existsSync(join(dataDir, DATABASE_FILE));
  if (databaseUrl !== null) {
    if (!hasFile || mark === withoutPassword(databaseUrl)) return;
    const message =
      mark === null
        ? `${dataDir} holds ${DATABASE_FILE}, the database of a coordinator on SQLite. Copy it ` +
          'with "migrate --to postgres", name a folder without one with --data, or start without ' +
          'GATEWAY_DATABASE_URL.'
        : `${dataDir} was copied to ${mark}, and ${withoutPassword(databaseUrl)} is another ` +
          `database. If it is right, move ${DATABASE_FILE}, the state before the copy, elsewhere.`;
    throw new CommandError(EXIT.usage, message);
  }
  if (mark === null) return;
  const fresh = hasFile
    ? `return to ${DATABASE_FILE}, the state before the copy,`
    : 'begin anew on SQLite';
  const message =
    `the coordinator of ${dataDir} keeps its data in ${mark}: set GATEWAY_DATABASE_URL. ` +
    `"migrate --to sqlite" copies it back; to ${fresh} remove ${join(dataDir, POSTGRES_MARK)}.`;
  throw new CommandError(EXIT.usage, message);
}

interface CopyOptions {
  readonly dataDir: string;
  /** Of the database on PostgreSQL. */
  readonly databaseUrl: string;
  readonly onPending: CopyRequest['onPending'];
  readonly onProgress: CopyRequest['onProgress'];
}

/**
 * Copies the folder's database to PostgreSQL, where it is from then on; `gateway.db` stays as it
 * is. Throws a `CommandError`: `conflict` if another process has the folder or the database, or if
 * that has rows that are not the beginning of such a copy.
 */
export async function copyToPostgres(options: CopyOptions): Promise<readonly CopiedTable[]> {
  const { dataDir, databaseUrl: url } = options;
  return whileLocked(dataDir, async () => {
    requireKind({ dataDir, databaseUrl: null });
    const copied = await copyRows('postgres', join(dataDir, DATABASE_FILE), options);
    markDatabase(dataDir, url);
    return copied;
  });
}

interface CopiedBack {
  readonly tables: readonly CopiedTable[];
  /** Where the database file that was in the folder is now. */
  readonly movedTo: string | null;
}

/** Copies the folder's database from PostgreSQL into the folder. Throws like `copyToPostgres`. */
export async function copyToSqlite(options: CopyOptions): Promise<CopiedBack> {
  const { dataDir, databaseUrl } = options;
  return whileLocked(dataDir, async () => {
    if (markOf(dataDir) !== withoutPassword(databaseUrl)) throw notItsDatabase(options);
    const file = join(dataDir, DATABASE_FILE);
    const unfinished = `${file}.unfinished`;
    for (const end of ['', '-wal', '-shm']) rmSync(`${unfinished}${end}`, { force: true });
    const tables = await copyRows('sqlite', unfinished, options);
    const movedTo = moveAside(file);
    renameSync(unfinished, file);
    rmSync(join(dataDir, POSTGRES_MARK));
    return { tables, movedTo };
  });
}

async function copyRows(
  to: 'postgres' | 'sqlite',
  file: string,
  { databaseUrl: url, ...told }: CopyOptions,
): Promise<readonly CopiedTable[]> {
  const { copyBetween } = await import('./copy/copy-store.js');
  return copyBetween({ to, file, url, ...told });
}

async function whileLocked<T>(dataDir: string, copy: () => Promise<T>): Promise<T> {
  const lock = lockFolder(dataDir);
  try {
    return await copy();
  } catch (error) {
    throw asCommandError(error, dataDir, 'copy');
  } finally {
    lock.release();
  }
}

function notItsDatabase({ dataDir, databaseUrl }: CopyOptions): CommandError {
  const message =
    `the coordinator of ${dataDir} keeps its data in ${markOf(dataDir) ?? DATABASE_FILE}, ` +
    `not in ${withoutPassword(databaseUrl)}.`;
  return new CommandError(EXIT.usage, message);
}

/** Returns its new name; null if there is no such file. */
function moveAside(file: string): string | null {
  if (!existsSync(file)) return null;
  const time = new Date(SYSTEM_CLOCK.now()).toISOString().replaceAll(/[-:.]/g, '');
  const aside = `${file}.before-copy-${time}`;
  // A log that a killed process has left belongs to this file, and not to the next one.
  for (const end of ['', '-wal', '-shm']) {
    if (existsSync(`${file}${end}`)) renameSync(`${file}${end}`, `${aside}${end}`);
  }
  return aside;
}

/** A process whose store has its own thread does not load what runs there. */
async function openHere(options: EngineOptions): Promise<Engine> {
  const { openEngine } = await import('./sqlite/engine.js');
  return openEngine(options);
}

/** True if a store has been opened here before. Throws if the folder cannot be read. */
export function hasStore({ dataDir, databaseUrl }: StorePlace): boolean {
  requireAccess(dataDir, constants.X_OK);
  const files = databaseUrl === null ? [DATABASE_FILE, POSTGRES_MARK] : [POSTGRES_MARK];
  return files.some((file) => existsSync(join(dataDir, file)));
}

// Of a store on SQLite. Its file may also be there after a copy to PostgreSQL.

/** Throws a `CommandError` if the folder's data is on PostgreSQL. */
function fileOf(dataDir: string): string {
  requireKind({ dataDir, databaseUrl: null });
  return join(dataDir, DATABASE_FILE);
}

/** Inspects the store without a lock. Throws if there is none, or it cannot be read. */
export function inspectStore(dataDir: string): Inspection {
  return inspectDatabase(fileOf(dataDir));
}

/**
 * Without a lock; null if a program of another version made it. Throws if it cannot be read.
 */
export function spaceOf(dataDir: string, question: SpaceQuestion): StoreSpace | null {
  return spaceOfDatabase(fileOf(dataDir), question);
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
  return attempt('copy', dataDir, () => copyDatabase(fileOf(dataDir), file));
}

/** The rows of assets, read without a lock. */
export function assetsOf(dataDir: string): Iterable<CopiedAsset> {
  return copiedAssets(fileOf(dataDir));
}

/** The `ids` that are assets of the store now, read without a lock. */
export function assetsAmong(dataDir: string, ids: readonly string[]): readonly string[] {
  return attempt('read', dataDir, () => storedAssets(fileOf(dataDir), ids));
}

/** The applied migrations of the store, read without a lock. */
export async function migrationsOf({ dataDir, databaseUrl }: StorePlace): Promise<MigrationStatus> {
  if (databaseUrl !== null) return (await inspectPostgres(databaseUrl)).migrations;
  return attempt('read', dataDir, () => migrationStatus(fileOf(dataDir)));
}

/** Inspects a database on PostgreSQL without its lock. Throws a `CommandError`. */
export async function inspectPostgres(url: string): Promise<PostgresInspection> {
  const { inspectServer } = await import('./postgres/inspect.js');
  return inspectServer(url);
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
