/**
 * One process per data folder: the one with an exclusive transaction on `lock.db` in it. The kernel
 * releases the lock with the process, however it ends, so that there are no stale locks.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { isOwnerOf } from '@inference-gateway/shared/program/owner';
import type { Database } from 'better-sqlite3';
import { accessSync, chmodSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteDatabase } from './driver.js';

export const LOCK_FILE = 'lock.db';
const PRIVATE = 0o700;
const OTHERS = 0o077;

/** A database that the garbage collector takes is closed with it, and its lock is free. */
const held = new Set<Database>();

export interface FolderLock {
  release(): void;
}

/**
 * Creates the folder, open to its owner only, and locks it. Throws a `CommandError` if that
 * fails: `conflict` if another process has it, `notAuthorised` if another user does.
 */
export function lockFolder(folder: string): FolderLock {
  makePrivate(folder);
  const database = openLockFile(folder);
  try {
    // The write below stays in memory, and is never committed.
    database.pragma('journal_mode = memory');
    database.exec('begin exclusive');
    // SQLite opens a file without write permission for reading, and then takes no lock at all.
    database.pragma('user_version = 1');
  } catch (cause) {
    database.close();
    throw lockError(folder, cause);
  }
  held.add(database);
  return {
    release: () => {
      held.delete(database);
      database.close();
    },
  };
}

/**
 * Throws `notAuthorised` if this user lacks these permissions. A missing folder is no error.
 */
export function requireAccess(folder: string, mode: number): void {
  try {
    accessSync(folder, mode);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EACCES') return;
    throw ofAnotherUser(folder, cause);
  }
}

function ofAnotherUser(folder: string, cause?: unknown): CommandError {
  const message = `the data folder ${folder} belongs to another user: run this as that one.`;
  return new CommandError(EXIT.notAuthorised, message, { cause });
}

function openLockFile(folder: string): Database {
  const file = join(folder, LOCK_FILE);
  if (!isOwnerOf(file)) throw notLockable(folder, 'it belongs to another user');
  try {
    return new SqliteDatabase(file, { timeout: 0 });
  } catch (cause) {
    throw lockError(folder, cause);
  }
}

function notLockable(folder: string, why: string, cause?: unknown): CommandError {
  const message =
    `${join(folder, LOCK_FILE)} cannot be locked: ${why}. Without it, two coordinators could ` +
    `run on ${folder}. Give the folder to one user with: chown -R USER ${folder}`;
  return new CommandError(EXIT.notAuthorised, message, { cause });
}

function lockError(folder: string, cause: unknown): unknown {
  const { code } = cause as { code?: string };
  if (code?.startsWith('SQLITE_READONLY') === true || code === 'SQLITE_CANTOPEN') {
    return notLockable(folder, 'this user may not write it', cause);
  }
  if (code !== 'SQLITE_BUSY') return cause;
  const message =
    `the data folder ${folder} is in use by another process. ` +
    'Stop that one, or name another folder with --data.';
  return new CommandError(EXIT.conflict, message, { cause });
}

/**
 * The folder contains hashes of secrets and e-mail addresses. The permissions of a folder with
 * other files in it are not changed.
 */
function makePrivate(folder: string): void {
  requireAccess(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  if (!isOwnerOf(folder)) throw ofAnotherUser(folder);
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE });
  } catch (cause) {
    const message = `cannot create the data folder ${folder}: ${(cause as Error).message}`;
    throw new CommandError(EXIT.failure, message, { cause });
  }
  if (process.platform === 'win32' || (statSync(folder).mode & OTHERS) === 0) return;
  const files = readdirSync(folder);
  if (files.length === 0 || files.includes(LOCK_FILE)) return chmodSync(folder, PRIVATE);
  throw new CommandError(
    EXIT.usage,
    `${folder} is open to other users and holds other files. ` +
      `Name a folder of its own with --data, or close it with: chmod 700 ${folder}`,
  );
}
