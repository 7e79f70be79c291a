/** Inspects the database file, whether or not a coordinator has it open. */
import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { OldRows } from '../port.js';
import { openForReading, schemaVersion } from './database.js';
import { newestSchemaVersion } from './migrations.js';

export interface Inspection {
  readonly schemaVersion: number;
  /** The schema version of this program. */
  readonly newestSchemaVersion: number;
  /** Findings of SQLite's integrity check; empty if the file is intact. */
  readonly damages: readonly string[];
  /** The newest time in any row: a clock before it has been set back. */
  readonly newestTimeMs: number | null;
}

/** The space that could be freed in the database and its log. */
export interface StoreSpace {
  /** Bytes of free pages and of the write-ahead log. */
  readonly freeBytes: number;
  /** Rows whose retention has ended. */
  readonly old: Readonly<Record<OldRows, number>>;
  /** An estimate: the sizes of requests and results of jobs, and typical sizes of other rows. */
  readonly oldBytes: number;
  readonly expiredAssets: Amount;
  readonly keptAssets: Amount;
}

interface Amount {
  readonly count: number;
  readonly bytes: number;
}

export interface SpaceQuestion {
  readonly now: number;
  /** Rows from before this time are deleted. */
  readonly before: Readonly<Record<OldRows, number>>;
}

/** Including its indexes. */
const USAGE_ROW_BYTES = 400;
const AUDIT_ROW_BYTES = 400;

/** Null if its schema is of another version. */
export function spaceOfDatabase(file: string, { now, before }: SpaceQuestion): StoreSpace | null {
  const database = openForReading(file);
  try {
    if (schemaVersion(database) !== newestSchemaVersion()) return null;
    const amount = (sql: string, at: number): Amount =>
      database.prepare<[number], Amount>(sql).get(at) ?? { count: 0, bytes: 0 };
    const count = (from: string, at: number): number =>
      amount(`select count(*) as count, 0 as bytes from ${from} < ?`, at).count;
    const jobs = amount(OLD_JOBS, before.jobs);
    const [usage, audit] = [
      count('usage where at', before.usage),
      count('audit_log where at', before.audit),
    ];
    const pages = Number(database.pragma('freelist_count', { simple: true }));
    const pageBytes = Number(database.pragma('page_size', { simple: true }));
    const logBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    return {
      freeBytes: pages * pageBytes + logBytes,
      old: { jobs: jobs.count, usage, audit },
      oldBytes: jobs.bytes + usage * USAGE_ROW_BYTES + audit * AUDIT_ROW_BYTES,
      expiredAssets: amount(`${ASSETS} expires_at <= ?`, now),
      keptAssets: amount(`${ASSETS} expires_at > ?`, now),
    };
  } finally {
    database.close();
  }
}

const OLD_JOBS = `select count(*) as count,
  coalesce(sum(octet_length(body)), 0) + coalesce(sum(octet_length(result)), 0) as bytes
  from jobs
  left join job_bodies on job_bodies.job_id = jobs.id
  left join job_results on job_results.job_id = jobs.id
  where finished_at < ?`;
const ASSETS = 'select count(*) as count, coalesce(sum(bytes), 0) as bytes from assets where';

/** The number of findings that are listed. */
const MAX_DAMAGES = 10;

export function inspectDatabase(file: string): Inspection {
  const database = openForReading(file);
  try {
    return {
      schemaVersion: schemaVersion(database),
      newestSchemaVersion: newestSchemaVersion(),
      damages: findDamages(database),
      newestTimeMs: newestTime(database),
    };
  } finally {
    database.close();
  }
}

function findDamages(database: Database): string[] {
  const rows = database.pragma(`integrity_check(${MAX_DAMAGES})`) as { integrity_check: string }[];
  return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok');
}

function newestTime(database: Database): number | null {
  // A newer program may have other tables.
  const version = schemaVersion(database);
  if (version === 0 || version > newestSchemaVersion()) return null;
  return (
    database
      .prepare<[], number | null>(
        `select max(at) from (
         select max(created_at) as at from members
         union all select max(max(created_at, coalesce(last_used_at, 0))) from api_keys
         union all select max(max(created_at, coalesce(last_seen_at, 0))) from providers)`,
      )
      .pluck()
      .get() ?? null
  );
}
