/** A connection to the database file, with the settings for durable commits. */
import type { Database } from 'better-sqlite3';
import { SqliteDatabase } from './driver.js';

export const DATABASE_FILE = 'gateway.db';

/**
 * Readers and a checkpoint may lock the file for a moment; the writer waits for them this long.
 */
const BUSY_TIMEOUT_MS = 5_000;
/** Without it the write-ahead log keeps the size that it once reached during a long read. */
const JOURNAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Opens for writing, and creates the file if it is missing, but no tables. */
export function openDatabase(path: string): Database {
  const database = new SqliteDatabase(path, { timeout: BUSY_TIMEOUT_MS });
  // Must be set before the first page. An older file gets it from "prune": to set it here would
  // take the write lock.
  const isNew = database.pragma('page_count', { simple: true }) === 0;
  if (isNew) database.pragma('auto_vacuum = INCREMENTAL');
  database.pragma('journal_mode = WAL');
  // An acknowledged write must survive a power cut: NORMAL may lose the last ones in WAL mode.
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  database.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT_BYTES}`);
  return database;
}

/** Opens for reading while a coordinator may write. Throws if the file is missing. */
export function openForReading(path: string): Database {
  return new SqliteDatabase(path, {
    readonly: true,
    fileMustExist: true,
    timeout: BUSY_TIMEOUT_MS,
  });
}

/** The number of the last migration: 0 before the first. */
export function schemaVersion(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }));
}
