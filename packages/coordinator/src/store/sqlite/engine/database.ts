/** A connection to the database file, with what makes its commits durable. */
import type { Database } from 'better-sqlite3';
import { SqliteDatabase } from './driver.js';

export const DATABASE_FILE = 'gateway.db';

/**
 * Readers and a checkpoint may hold the file for a moment; the only writer waits for them this
 * long.
 */
const BUSY_TIMEOUT_MS = 5_000;
/** Without it the write-ahead log keeps the size that one long reader once made it grow to. */
const JOURNAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Opens for writing and creates what is missing, except for the tables. */
export function openDatabase(path: string): Database {
  const database = new SqliteDatabase(path, { timeout: BUSY_TIMEOUT_MS });
  // Before its first page: an older file has it once "prune" has run, and asked for here it would
  // take the lock for writing.
  const isNew = database.pragma('page_count', { simple: true }) === 0;
  if (isNew) database.pragma('auto_vacuum = INCREMENTAL');
  database.pragma('journal_mode = WAL');
  // An answered write must survive a power cut: NORMAL would lose the last ones in WAL mode.
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  database.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT_BYTES}`);
  return database;
}

/** Opens for reading, beside a coordinator that writes. Throws if the file is missing. */
export function openForReading(path: string): Database {
  return new SqliteDatabase(path, {
    readonly: true,
    fileMustExist: true,
    timeout: BUSY_TIMEOUT_MS,
  });
}
