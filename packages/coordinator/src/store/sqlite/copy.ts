/** A copy of the database, made while it is written to, and the content of such a copy. */
import type { Database } from 'better-sqlite3';
import { openForReading, schemaVersion } from './database.js';

export interface DatabaseCopy {
  readonly schemaVersion: number;
  /** All assets with a row in it. */
  readonly assetIds: ReadonlySet<string>;
}

/** The row of an asset's file. */
export interface CopiedAsset {
  readonly id: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/**
 * Writes the committed content into a file that is empty or missing, in one read transaction:
 * writes continue, and only the write-ahead log grows. SQLite's online backup would start again
 * with every write of another process, and under load would never end.
 */
export function copyDatabase(from: string, to: string): DatabaseCopy {
  const database = openForReading(from);
  try {
    database.prepare('vacuum into ?').run(to);
  } finally {
    database.close();
  }
  return describe(to);
}

function describe(file: string): DatabaseCopy {
  const database = openForReading(file);
  try {
    const version = schemaVersion(database);
    const ids = hasAssets(database)
      ? database.prepare<[], string>('select id from assets').pluck().iterate()
      : [];
    return { schemaVersion: version, assetIds: new Set(ids) };
  } finally {
    database.close();
  }
}

/** The assets in the file; empty if its schema is older than assets. */
export function* copiedAssets(file: string): Generator<CopiedAsset> {
  const database = openForReading(file);
  try {
    if (!hasAssets(database)) return;
    yield* database
      .prepare<[], CopiedAsset>('select id, bytes, sha256 from assets order by id')
      .iterate();
  } finally {
    database.close();
  }
}

/** The `ids` that have a row. */
export function storedAssets(file: string, ids: readonly string[]): string[] {
  const database = openForReading(file);
  try {
    if (!hasAssets(database)) return [];
    return database
      .prepare<[string], string>(
        'select id from assets where id in (select value from json_each(?))',
      )
      .pluck()
      .all(JSON.stringify(ids));
  } finally {
    database.close();
  }
}

function hasAssets(database: Database): boolean {
  const find = database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?");
  return find.get('assets') !== undefined;
}
