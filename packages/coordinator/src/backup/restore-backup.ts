/**
 * Restores a backup: extracts it into a fresh folder, examines it there, and moves it into place.
 * Existing data is moved aside and never deleted. All files belong to the owner of the data folder.
 */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { actAsOwnerOf } from '@inference-gateway/shared/program/owner';
import { rm, readdir, mkdir, mkdtemp, realpath, rename, stat } from 'node:fs/promises';
import { join, basename, dirname, resolve } from 'node:path';
import { syncFolder } from '@inference-gateway/shared/program/disk';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { openByteStore } from '../assets/folder-store.js';
import { DATABASE_FILE, LOCK_FILE, lockStore } from '../store/open.js';
import type { EntryKind } from './archive-entry.js';
import { examineBackup } from './examine-backup.js';
import type { BackupFault, BackupReport } from './examine-backup.js';
import { openArchive, readBackup } from './read-backup.js';
import type { ArchiveFile } from './read-backup.js';

export interface RestoreRequest {
  readonly file: string;
  readonly dataDir: string;
  /** Whether existing data may be moved aside. */
  readonly replace: boolean;
  /** Whether to restore although assets are missing or damaged in the backup. */
  readonly partial: boolean;
  readonly signal: AbortSignal;
}

export interface RestoreOutcome {
  readonly report: BackupReport;
  /** False if faults prevented the restore. */
  readonly restored: boolean;
  /** The path to which existing data was moved. */
  readonly movedTo: string | null;
}

/**
 * Throws a `CommandError`: `conflict` if a coordinator uses the folder, `usage` if it holds data
 * that may not be replaced.
 */
export async function restoreBackup(request: RestoreRequest): Promise<RestoreOutcome> {
  const archive = await openArchive(request.file);
  // Only root may be able to read the archive, but the restored files must belong to the owner.
  const becomeRoot = actAsOwnerOf(request.dataDir);
  try {
    return await restoreFrom(archive, request);
  } finally {
    becomeRoot();
    await archive.handle.close();
  }
}

async function restoreFrom(archive: ArchiveFile, request: RestoreRequest): Promise<RestoreOutcome> {
  const { signal } = request;
  const folder = await takeFolder(request.dataDir, request.replace);
  try {
    const fresh = await makeFresh(folder);
    try {
      const contents = await readBackup(archive, placeIn(fresh), signal);
      const report = examineBackup(contents, fresh);
      if (!isRestorable(report, request.partial)) return { report, restored: false, movedTo: null };
      await removeDamaged(fresh, report.faults);
      await syncTree(fresh);
      signal.throwIfAborted();
      return { report, restored: true, movedTo: await moveIn(fresh, folder) };
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  } finally {
    folder.release();
  }
}

function placeIn(folder: string): (kind: EntryKind) => string | null {
  const files = openByteStore(folder);
  return (kind) => {
    if (kind.kind === 'asset') return files.path(kind.id);
    return kind.kind === 'database' ? join(folder, DATABASE_FILE) : null;
  };
}

/** A backup without a valid database is useless. One without some files may still be restored. */
function isRestorable({ faults }: BackupReport, partial: boolean): boolean {
  if (!partial) return faults.length === 0;
  return faults.every(({ file }) => file !== DATABASE_FILE);
}

async function removeDamaged(folder: string, faults: readonly BackupFault[]): Promise<void> {
  const damaged = faults.filter(({ fault }) => fault === 'damaged');
  for (const { file } of damaged) await rm(join(folder, file), { force: true });
}

/** Syncs a folder and all its subfolders to disk, so that the file names survive a crash. */
async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncTree(join(folder, entry.name));
  }
  await syncFolder(folder);
}

// The data folder to restore: locked against other processes, and replaced as a whole.

const PRIVATE_FOLDER = 0o700;

interface TakenFolder {
  /** With links resolved: the restore replaces the folder, not a link to it. */
  readonly path: string;
  readonly state: 'absent' | 'empty' | 'full';
  release(): void;
}

/**
 * Locks the folder against coordinators and other commands. Throws a `CommandError`: `conflict` if
 * one of them uses the folder, `usage` if it holds data that may not be replaced.
 */
async function takeFolder(dataDir: string, replace: boolean): Promise<TakenFolder> {
  const path = await realpath(dataDir).catch(() => resolve(dataDir));
  const entries = await entriesOf(path);
  if (entries === null) return { path, state: 'absent', release: () => {} };
  const isFull = entries.some((name) => name !== LOCK_FILE);
  // Writes no lock file into a non-empty folder that no gateway made.
  const isStranger = isFull && !entries.includes(LOCK_FILE);
  if (isStranger && !replace) throw full(path);
  const lock = lockStore(path);
  if (!isFull || replace) {
    return { path, state: isFull ? 'full' : 'empty', release: () => lock.release() };
  }
  lock.release();
  throw full(path);
}

/**
 * Creates a folder on the same disk as the target, so that its contents can be moved. It is next to
 * the target, or inside it if the target is a mount point or this user cannot write next to it.
 */
async function makeFresh({ path, state }: TakenFolder): Promise<string> {
  const parent = dirname(path);
  if (state !== 'absent' && (await isMountPoint(path))) return makeInside(path);
  try {
    await mkdir(parent, { recursive: true });
    return await mkdtemp(join(parent, `${basename(path)}.restoring-`));
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (state !== 'absent' && NOT_WRITABLE.has(code)) return makeInside(path);
    throw new CommandError(
      EXIT.failure,
      `cannot make a folder beside ${path}: ${message}. Name another place with --data, or make ` +
        'it, as a folder of the user whom the coordinator runs as.',
      { cause: error },
    );
  }
}

const NOT_WRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);

function makeInside(path: string): Promise<string> {
  return mkdtemp(join(path, FRESH_PREFIX));
}

async function isMountPoint(path: string): Promise<boolean> {
  return (await stat(path)).dev !== (await stat(dirname(path))).dev;
}

/**
 * Moves the fresh data into place. Returns the new path of the old data; null if there was none.
 */
async function moveIn(fresh: string, folder: TakenFolder): Promise<string | null> {
  const { path, state } = folder;
  const time = new Date(SYSTEM_CLOCK.now()).toISOString().replaceAll(/[:.]/g, '-');
  if (dirname(fresh) === path) {
    const aside = join(path, `${ASIDE_PREFIX}${time}`);
    await exchangeContents({ fresh, path, aside });
    return state === 'full' ? aside : null;
  }
  const aside = `${path}.${ASIDE_PREFIX}${time}`;
  // Windows cannot move a folder that contains an open file.
  if (process.platform === 'win32') folder.release();
  try {
    if (state === 'absent') await rename(fresh, path);
    else await exchange({ fresh, path, aside });
  } catch (error) {
    throw notMoved(path, error);
  }
  await syncFolder(dirname(path));
  if (state === 'full') return aside;
  await rm(aside, { recursive: true, force: true });
  return null;
}

interface Exchange {
  readonly fresh: string;
  readonly path: string;
  readonly aside: string;
}

async function exchange({ fresh, path, aside }: Exchange): Promise<void> {
  await rename(path, aside);
  try {
    await rename(fresh, path);
  } catch (error) {
    await rename(aside, path);
    throw error;
  }
}

const FRESH_PREFIX = 'restoring-';

const ASIDE_PREFIX = 'before-restore-';

/**
 * Moves the files first and the database last, so that the folder never holds an incomplete
 * database, even after a crash. The lock file stays. After an error the moves are undone.
 */
async function exchangeContents({ fresh, path, aside }: Exchange): Promise<void> {
  const old = (await readdir(path)).filter((name) => !staysInPlace(name));
  const [oldFiles, oldDatabase] = [old.filter((name) => !isDatabase(name)), old.filter(isDatabase)];
  const made = await readdir(fresh);
  const out = (name: string): Move => [join(path, name), join(aside, name)];
  const back = (name: string): Move => [join(fresh, name), join(path, name)];
  if (old.length > 0) await mkdir(aside, { mode: PRIVATE_FOLDER });
  await moveAll([
    ...oldFiles.map(out),
    ...made.filter((name) => !isDatabase(name)).map(back),
    ...oldDatabase.map(out),
    ...made.filter(isDatabase).map(back),
  ]);
  await syncFolder(path);
}

/** Includes the files that SQLite keeps next to the database. */
function isDatabase(name: string): boolean {
  return name.startsWith(DATABASE_FILE);
}

function staysInPlace(name: string): boolean {
  return name === LOCK_FILE || name.startsWith(FRESH_PREFIX) || name.startsWith(ASIDE_PREFIX);
}

type Move = readonly [from: string, to: string];

async function moveAll(moves: readonly Move[]): Promise<void> {
  const done: Move[] = [];
  try {
    for (const move of moves) {
      await rename(...move);
      done.unshift(move);
    }
  } catch (error) {
    for (const [from, to] of done) await rename(to, from);
    throw error;
  }
}

/** Null if the folder does not exist. */
async function entriesOf(path: string): Promise<readonly string[] | null> {
  try {
    return await readdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const message = `${path} cannot be a data folder: ${(error as Error).message}`;
    throw new CommandError(EXIT.usage, message, { cause: error });
  }
}

function full(path: string): CommandError {
  const message =
    `${path} holds data. Name a new folder with --data, or add --yes: then the data is moved ` +
    'aside, to a folder that is named then.';
  return new CommandError(EXIT.usage, message);
}

function notMoved(path: string, cause: unknown): CommandError {
  const message =
    `cannot move the restored data to ${path}: ${(cause as Error).message}. A mount point cannot ` +
    'be exchanged: restore into another folder with --data, and move it yourself.';
  return new CommandError(EXIT.failure, message, { cause });
}
