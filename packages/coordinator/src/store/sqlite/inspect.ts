/** What a look at the database file tells, whether or not a coordinator has it open. */
import type { Database } from 'better-sqlite3';
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
