/** A copy of the database, made beside whoever writes to it, and what such a copy holds. */
import type { Database } from 'better-sqlite3';
import { openForReading } from './database.js';
import { schemaVersion } from './migrations.js';

export interface DatabaseCopy {
  readonly schemaVersion: number;
  /** Every asset that has a row in it. */
  readonly assetIds: ReadonlySet<string>;
}

/** What a row says of an asset's file. */
export interface CopiedAsset {
  readonly id: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/**
 * Writes what is committed now into a file that is empty or missing. One read transaction: the
 * writer goes on meanwhile, and only its write-ahead log grows. SQLite's online backup would begin
 * anew with every write of another process, and under load would never end.
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

/** The assets that the file has rows of; none where it is older than they are. */
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

/** Those of `ids` that have a row. */
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
