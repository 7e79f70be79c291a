/** The place of a data folder that is to be restored: kept from others, and exchanged whole. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { syncFolder } from '@inference-gateway/shared/program/disk';
import { mkdir, mkdtemp, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { DATABASE_FILE, LOCK_FILE, lockStore } from '../store/open.js';

const PRIVATE_FOLDER = 0o700;

export interface TakenFolder {
  /** Links resolved: what is exchanged is the folder and not a link to it. */
  readonly path: string;
  readonly state: 'absent' | 'empty' | 'full';
  release(): void;
}

/**
 * Keeps coordinators and other commands from the folder. Throws a `CommandError`: `conflict` where
 * one has it, `usage` where it holds something that may not be replaced.
 */
export async function takeFolder(dataDir: string, replace: boolean): Promise<TakenFolder> {
  const path = await realpath(dataDir).catch(() => resolve(dataDir));
  const entries = await entriesOf(path);
  if (entries === null) return { path, state: 'absent', release: () => {} };
  const isFull = entries.some((name) => name !== LOCK_FILE);
  // A full folder that no gateway has made gets no lock file from us.
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
 * A folder on the disk of the place, so that what is in it can be moved there: beside it, or in it
 * where this user may not write beside it, and where it is a disk of its own.
 */
export async function makeFresh({ path, state }: TakenFolder): Promise<string> {
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

/** Moves what is fresh into the place. Returns where what lay there is now; null for nothing. */
export async function moveIn(fresh: string, folder: TakenFolder): Promise<string | null> {
  const { path, state } = folder;
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-');
  if (dirname(fresh) === path) {
    const aside = join(path, `${ASIDE_PREFIX}${time}`);
    await exchangeContents({ fresh, path, aside });
    return state === 'full' ? aside : null;
  }
  const aside = `${path}.${ASIDE_PREFIX}${time}`;
  // Windows moves no folder in which a file is open.
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
 * The files first and the database last: whatever stops this half-way, the database that lies there
 * is a whole one. The lock stays where it is, and what fails is taken back.
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

/** With what SQLite keeps beside it. */
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

/** Null where there is no such folder. */
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
