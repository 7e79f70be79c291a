/** The space of the database file, and returning what is free to the disk. */
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { Compaction, DatabaseFacts } from '../port.js';
import { schemaVersion } from './database.js';

export function databaseFacts(database: Database): DatabaseFacts {
  const { name } = database;
  const [bytes, logBytes] = [sizeOf(name), sizeOf(`${name}-wal`)];
  return { bytes, logBytes, schemaVersion: schemaVersion(database) };
}

/** Returns up to this many free pages; returns their number. */
export function releasePages(database: Database, limit: number): number {
  const pages = pageCount(database);
  database.pragma(`incremental_vacuum(${limit})`);
  return pages - pageCount(database);
}

/** Value of `pragma auto_vacuum`; older databases have 0. */
const INCREMENTAL = 2;
/**
 * `vacuum` writes a whole copy, and writes it to the log as well, before the file becomes smaller.
 */
const ROOM_FACTOR = 2;

/** Must run outside a transaction. */
export function compact(database: Database): Compaction {
  const before = bytesOf(database);
  const isIncremental = database.pragma('auto_vacuum', { simple: true }) === INCREMENTAL;
  const lacksRoom = !isIncremental && roomBeside(database.name) < before * ROOM_FACTOR;
  if (isIncremental) database.pragma('incremental_vacuum');
  else if (!lacksRoom) rewrite(database);
  database.pragma('wal_checkpoint(TRUNCATE)');
  return { freedBytes: Math.max(0, before - bytesOf(database)), lacksRoom };
}

/** Afterwards, free pages can be returned one by one. */
function rewrite(database: Database): void {
  database.pragma('temp_store = FILE');
  try {
    database.pragma('auto_vacuum = INCREMENTAL');
    database.exec('vacuum');
  } finally {
    database.pragma('temp_store = MEMORY');
  }
}

function pageCount(database: Database): number {
  return Number(database.pragma('page_count', { simple: true }));
}

/** Of the file and its write-ahead log. */
function bytesOf({ name }: Database): number {
  return sizeOf(name) + sizeOf(`${name}-wal`);
}

/** 0 if there is no such file: the log is removed when it has been written back. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function roomBeside(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file));
  return bavail * bsize;
}
