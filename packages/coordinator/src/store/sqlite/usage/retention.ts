/** Deletes old rows, and returns freed space to the disk. */
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { Compaction } from '../../port.js';
import type { Operations } from '../engine/operations.js';

/**
 * Old rows are looked for among this many of the first rows: if the clock was once wrong, the first
 * rows are not the oldest.
 */
const SCANNED_ROWS = 10_000;

/** Rows are written in the order of their times, so no index on the time is needed. */
export function oldRowDeleter(
  database: Database,
  table: 'usage' | 'audit_log',
): (before: number, limit: number) => number {
  const deleteOld = database.prepare<object>(
    `delete from ${table} where rowid in (
       select rowid from (select rowid, at from ${table} order by rowid limit ${SCANNED_ROWS})
       where at < @before limit @limit)`,
  );
  return (before, limit) => deleteOld.run({ before, limit }).changes;
}

type RetentionOperations = Pick<Operations, 'countOld' | 'releasePages' | 'compact'>;

export function retentionOperations(database: Database): RetentionOperations {
  const count = (from: string) =>
    database.prepare<[number], number>(`select count(*) from ${from} < ?`).pluck();
  const jobs = count('jobs where finished_at');
  const usage = count('usage where at');
  const audit = count('audit_log where at');
  return {
    countOld: (before) => ({
      jobs: jobs.get(before.jobs) ?? 0,
      usage: usage.get(before.usage) ?? 0,
      audit: audit.get(before.audit) ?? 0,
    }),
    releasePages: (limit) => {
      const pages = pageCount(database);
      database.pragma(`incremental_vacuum(${limit})`);
      return pages - pageCount(database);
    },
    compact: () => compact(database),
  };
}

/** Value of `pragma auto_vacuum`; older databases have 0. */
const INCREMENTAL = 2;
/**
 * `vacuum` writes a whole copy, and writes it to the log as well, before the file becomes smaller.
 */
const ROOM_FACTOR = 2;

/** Must run outside a transaction. */
function compact(database: Database): Compaction {
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

/** Size of the file and its write-ahead log. */
function bytesOf({ name }: Database): number {
  const files = [name, `${name}-wal`];
  return files.reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

function roomBeside(file: string): number {
  const { bavail, bsize } = statfsSync(dirname(file));
  return bavail * bsize;
}
