/**
 * Numbered SQL files, forward only. The number of the last one is the file's `user_version`, which
 * SQLite writes in the same transaction: a migration that is killed has no effect.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { Database } from 'better-sqlite3';
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join, basename, dirname } from 'node:path';
import { MIGRATIONS_FOLDER } from '../../own-files.js';
import { migrationNames } from '../migration-files.js';
import type { MigrationStatus } from '../migration-files.js';
import { openForReading, schemaVersion } from './database.js';

const FOLDER = join(MIGRATIONS_FOLDER, 'sqlite');

/** Migrates the tables. Throws a `CommandError` if they are newer than this program. */
export function migrate(database: Database, folder: string = FOLDER): void {
  const migrations = readMigrations(folder);
  const version = schemaVersion(database);
  if (version > migrations.length) {
    throw new CommandError(
      EXIT.schemaNewer,
      `${database.name} has schema ${version}, this program knows up to ${migrations.length}. ` +
        'Run the newer program, or restore the backup that it made before the change.',
    );
  }
  if (version > 0 && version < migrations.length) backUp(database, version);
  migrations.slice(version).forEach((sql, i) => apply(database, sql, version + i + 1));
}

/** The schema version of this program. */
export function newestSchemaVersion(): number {
  return migrationNames(FOLDER).length;
}

/** Their SQL, in order. */
function readMigrations(folder: string): string[] {
  return migrationNames(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
}

function apply(database: Database, sql: string, version: number): void {
  database
    .transaction(() => {
      database.exec(sql);
      database.pragma(`user_version = ${version}`);
    })
    .exclusive();
}

/**
 * Copies the database to `<file>.schema-<version>.backup`: one file per version, however often the
 * migration fails.
 */
function backUp(database: Database, version: number): void {
  const backup = `${database.name}.schema-${version}.backup`;
  const unfinished = `${backup}.unfinished`;
  rmSync(unfinished, { force: true });
  database.prepare('vacuum into ?').run(unfinished);
  // SQLite does not sync the result of VACUUM INTO, which a power cut could leave empty.
  const file = openSync(unfinished, 'r+');
  fsyncSync(file);
  closeSync(file);
  renameSync(unfinished, backup);
}

/** Inspects the database file without a lock. Throws if it cannot be read. */
export function migrationStatus(file: string): MigrationStatus {
  const database = openForReading(file);
  try {
    const version = schemaVersion(database);
    const names = migrationNames(FOLDER);
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
