/** The place of a data folder that is to be restored: kept from others, and exchanged whole. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { syncFolder } from '@inference-gateway/shared/program/sync-folder';
import { readdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { LOCK_FILE, lockStore } from '../store/open.js';

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

/** Moves a folder into the place. Returns where what lay there is now; null where it was empty. */
export async function moveIn(fresh: string, folder: TakenFolder): Promise<string | null> {
  const { path, state } = folder;
  const aside = `${path}.before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
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
    'aside, to a folder beside it.';
  return new CommandError(EXIT.usage, message);
}

function notMoved(path: string, cause: unknown): CommandError {
  const message =
    `cannot move the restored data to ${path}: ${(cause as Error).message}. A mount point cannot ` +
    'be exchanged: restore into another folder with --data, and move it yourself.';
  return new CommandError(EXIT.failure, message, { cause });
}
