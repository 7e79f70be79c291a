/**
 * Numbered SQL files, forward only, each in a transaction with the number that it sets. A lock lets
 * one program migrate at a time.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIGRATIONS_FOLDER } from '../../own-files.js';
import { migrationNames } from '../migration-files.js';
import type { MigrationStatus } from '../migration-files.js';
import { withoutPassword } from '../database-url.js';
import { isCollision, isLockTimeout, LOCK_CLASS } from './connection.js';
import type { Connection } from './connection.js';

const FOLDER = join(MIGRATIONS_FOLDER, 'postgres');
/** Of PostgreSQL's `server_version_num`: 15.0. */
const OLDEST_SERVER = 150_000;

/** How long a migration waits for a table: calls of coordinators that run wait behind it. */
const TABLE_WAIT_MS = 2_000;
/** Of a migration that meets their calls: the server ends one of the two, which tries again. */
const MAX_TRIES = 30;
const MAX_PAUSE_MS = 1_000;

/**
 * Migrates the tables. Throws a `CommandError`: `schemaNewer` if a newer program has migrated them,
 * `conflict` if the tables are another program's.
 */
export async function migratePostgres(connection: Connection, url: string): Promise<void> {
  const names = migrationNames(FOLDER);
  await requireServer(connection, url);
  for (let tries = 1; ;) {
    await connection.query({ text: 'begin' });
    try {
      const isDone = await migrateOnce(connection, url, names);
      await connection.query({ text: 'commit' });
      if (isDone) return;
      tries = 1;
    } catch (error) {
      await connection.query({ text: 'rollback' }).catch(() => {});
      if (!isCollision(error) && !isLockTimeout(error)) throw error;
      if (tries === MAX_TRIES) throw inUse(url, error);
      tries += 1;
      await sleep(Math.random() * MAX_PAUSE_MS);
    }
  }
}

/** True if no migration was left. */
async function migrateOnce(
  connection: Connection,
  url: string,
  names: readonly string[],
): Promise<boolean> {
  // Another program may be migrating, and a migration may take longer than an operation.
  await connection.query({ text: 'set local lock_timeout = 0; set local statement_timeout = 0' });
  const isUnlimited = true;
  const text = `select pg_advisory_xact_lock(${LOCK_CLASS.migrations}, 0)`;
  await connection.query({ text, isUnlimited });
  const version = (await readVersion(connection, url)) ?? (await addVersion(connection));
  if (version > names.length) throw newerSchema(url, version, names.length);
  const name = names[version];
  if (name === undefined) return true;
  await connection.query({ text: `set local lock_timeout = ${TABLE_WAIT_MS}` });
  await connection.query({ text: readFileSync(join(FOLDER, name), 'utf8'), isUnlimited });
  const values = [version + 1];
  await connection.query({ text: 'update schema_version set version = $1', values });
  return false;
}

/** Throws a `CommandError` `conflict` if the tables are another program's. */
export async function appliedMigrations(
  connection: Connection,
  url: string,
): Promise<MigrationStatus> {
  const names = migrationNames(FOLDER);
  const version = (await readVersion(connection, url)) ?? 0;
  const [newestSchemaVersion, pending] = [names.length, names.slice(version)];
  return { schemaVersion: version, newestSchemaVersion, pending, backups: [] };
}

async function requireServer(connection: Connection, url: string): Promise<void> {
  const text = `select current_setting('server_version_num')::int as number,
    current_setting('server_version') as name`;
  const { rows } = await connection.query<{ number: number; name: string }>({ text });
  if ((rows[0]?.number ?? 0) >= OLDEST_SERVER) return;
  const message = `${withoutPassword(url)} is PostgreSQL ${rows[0]?.name}: 15 is the oldest.`;
  throw new CommandError(EXIT.usage, message);
}

async function addVersion(connection: Connection): Promise<number> {
  await connection.query({ text: 'create table schema_version (version integer not null)' });
  await connection.query({ text: 'insert into schema_version (version) values (0)' });
  return 0;
}

/** Null for an empty database. */
async function readVersion(connection: Connection, url: string): Promise<number | null> {
  const text = `select to_regclass('schema_version') is not null as ours,
    to_regclass('members') is not null as others`;
  const { rows } = await connection.query<{ ours: 0 | 1; others: 0 | 1 }>({ text });
  if (rows[0]?.ours !== 1) {
    if (rows[0]?.others === 1) throw ofOthers(url);
    return null;
  }
  const read = 'select version from schema_version';
  const found = await connection.query<{ version: number }>({ text: read });
  return found.rows[0]?.version ?? 0;
}

function inUse(url: string, cause: unknown): CommandError {
  const message =
    `the tables of ${withoutPassword(url)} are in use: a migration has found no moment for them ` +
    `in ${MAX_TRIES} tries. Start this coordinator again at a quieter time, or stop the others.`;
  return new CommandError(EXIT.conflict, message, { cause });
}

function newerSchema(url: string, version: number, newest: number): CommandError {
  const message =
    `${withoutPassword(url)} has schema ${version}, this program knows up to ${newest}. ` +
    'Run the newer program, or restore a backup from before the change.';
  return new CommandError(EXIT.schemaNewer, message);
}

function ofOthers(url: string): CommandError {
  const message =
    `${withoutPassword(url)} holds tables of another program. Name a database of the gateway's ` +
    'own, which it fills itself.';
  return new CommandError(EXIT.conflict, message);
}
