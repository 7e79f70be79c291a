/** What a look at the database file tells, whether or not a coordinator has it open. */
import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { OldRows } from '../../port.js';
import { openForReading } from './database.js';
import { newestSchemaVersion, schemaVersion } from './migrations.js';

export interface Inspection {
  readonly schemaVersion: number;
  /** What this program would migrate it to. */
  readonly newestSchemaVersion: number;
  /** What SQLite's integrity check found; empty where the file is sound. */
  readonly damages: readonly string[];
  /** The youngest time written anywhere: a clock that is behind it has been set back. */
  readonly newestTimeMs: number | null;
}

/** What could go back to the disk, of the database's file and of what it knows of. */
export interface StoreSpace {
  /** Of pages that hold nothing, and of the write-ahead log. */
  readonly freeBytes: number;
  /** Rows that are older than they are kept. */
  readonly old: Readonly<Record<OldRows, number>>;
  /** About: of requests and results of jobs, and of the other rows as large as they mostly are. */
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
  /** Older rows are kept no longer. */
  readonly before: Readonly<Record<OldRows, number>>;
}

/** With what its indexes take. */
const USAGE_ROW_BYTES = 400;
const AUDIT_ROW_BYTES = 400;

/** Null if its tables are those of another version. */
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

/** Damages that are listed, of those found. */
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
  // A newer program's tables may be others.
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
