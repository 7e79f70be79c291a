import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { openForReading } from './database.js';
import { migrationNames, schemaVersion } from './migrations.js';

export interface MigrationStatus {
  readonly schemaVersion: number;
  /** What this program would migrate it to. */
  readonly newestSchemaVersion: number;
  /** Files of the migrations that are still to be applied, in order. */
  readonly pending: readonly string[];
  /** Copies that migrations have left beside the database, oldest schema first. */
  readonly backups: readonly string[];
}

/** Looks at the database file without a lock. Throws where it cannot be read. */
export function migrationStatus(file: string): MigrationStatus {
  const database = openForReading(file);
  try {
    const version = schemaVersion(database);
    const names = migrationNames();
    return {
      schemaVersion: version,
      newestSchemaVersion: names.length,
      pending: names.slice(version),
      backups: backupsOf(file),
    };
  } finally {
    database.close();
  }
}

function backupsOf(file: string): string[] {
  const start = `${basename(file)}.schema-`;
  const versionOf = (name: string): number => Number.parseInt(name.slice(start.length), 10);
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(start) && name.endsWith('.backup'))
    .toSorted((a, b) => versionOf(a) - versionOf(b));
}
