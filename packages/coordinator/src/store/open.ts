/** The door of the store: the one file that knows which adapter there is. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder } from './lock.js';
import type { Store } from './port.js';
import { createSqliteStore } from './sqlite/client.js';
import { DATABASE_FILE, openDatabase } from './sqlite/database.js';
import { inspectDatabase } from './sqlite/inspect.js';
import type { Inspection } from './sqlite/inspect.js';
import { migrate } from './sqlite/migrations.js';

export type { Inspection };

interface StoreOptions {
  /** Told how many usage rows will never be written, and why. */
  readonly onUsageLost?: (rows: number, reason: string) => void;
}

/**
 * Locks the data folder, creates it where it is missing, brings its tables up to date and opens it.
 * Throws a `CommandError`: `conflict` where another process has it, `schemaNewer` where a newer
 * program wrote it.
 */
export async function openStore(dataDir: string, options: StoreOptions = {}): Promise<Store> {
  const lock = lockFolder(dataDir);
  try {
    const file = join(dataDir, DATABASE_FILE);
    bringUpToDate(file);
    const store = createSqliteStore(file, { onUsageLost: options.onUsageLost ?? (() => {}) });
    const close = (): Promise<void> => store.close().finally(() => lock.release());
    return { ...store, close };
  } catch (error) {
    lock.release();
    throw asCommandError(error, dataDir);
  }
}

/** True where a store has been opened in this folder before. */
export function hasStore(dataDir: string): boolean {
  return existsSync(join(dataDir, DATABASE_FILE));
}

/** Looks at the store without a lock. Throws where there is none, or none that can be read. */
export function inspectStore(dataDir: string): Inspection {
  return inspectDatabase(join(dataDir, DATABASE_FILE));
}

/** A damaged file, a full disk, a folder without rights: nothing that a stack would explain. */
function asCommandError(error: unknown, dataDir: string): unknown {
  const { code, message } = error as Error & { code?: string };
  if (code?.startsWith('SQLITE_') !== true) return error;
  return new CommandError(
    EXIT.failure,
    `cannot open the database in ${dataDir}: ${message} (${code}). "doctor" tells more.`,
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
