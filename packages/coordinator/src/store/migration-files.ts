/** Numbered SQL files, a folder for each engine, and which of them a database has had. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** The files, in order: the first is migration 1. */
export function migrationNames(folder: string): string[] {
  const files = readdirSync(folder).toSorted();
  files.forEach((file, i) => {
    if (Number(FILE_NAME.exec(file)?.[1]) !== i + 1) {
      throw new Error(`${join(folder, file)} is not migration ${i + 1}: numbers have no gaps`);
    }
  });
  return files;
}

export interface MigrationStatus {
  readonly schemaVersion: number;
  /** The schema version of this program. */
  readonly newestSchemaVersion: number;
  /** Files of pending migrations, in order. */
  readonly pending: readonly string[];
  /** Copies that migrations have left beside the database, oldest schema first. */
  readonly backups: readonly string[];
}
