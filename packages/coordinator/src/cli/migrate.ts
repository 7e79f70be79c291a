import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { printJson, printRecord, printRows, say } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import { hasPassword, parseDatabaseUrl } from '../store/database-url.js';
import {
  copyToPostgres,
  copyToSqlite,
  DATABASE_FILE,
  hasStore,
  migrationsOf,
  openStore,
} from '../store/open.js';
import type { CopiedTable, CopyProgress, MigrationStatus } from '../store/open.js';
import { progressLine } from './backup.js';
import { enterStore, noStore } from './client.js';
import { databaseOption, dataOption, example, jsonOption } from './options.js';
import type { DataOption, JsonOption } from './options.js';

interface MigrateOptions extends DataOption, JsonOption {
  readonly status?: boolean;
  readonly to?: string;
}

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description("update the database's tables to this version, as start does")
    .option('--status', 'only list pending migrations; exits 9 if there are any')
    .addOption(
      new Option(
        '--to <engine>',
        'copy all data to the other database: "postgres", its URL without a password, or "sqlite"',
      ).conflicts('status'),
    )
    .addOption(dataOption())
    .addOption(databaseOption())
    .addOption(jsonOption())
    .addHelpText('after', example('migrate --status'))
    .action(migrate);
}

async function migrate(options: MigrateOptions): Promise<void> {
  if (options.to !== undefined) return migrateTo(options.to, options);
  const place = enterStore(options);
  const { dataDir } = place;
  if (!hasStore(place)) throw noStore(dataDir);
  const isJson = options.json === true;
  if (options.status === true) return showStatus(await migrationsOf(place), isJson);
  const { pending } = await migrationsOf(place);
  await (await openStore(dataDir, place)).close();
  const { schemaVersion, backups } = await migrationsOf(place);
  (isJson ? printJson : printRecord)({ schema_version: schemaVersion, applied: pending, backups });
}

function showStatus(status: MigrationStatus, isJson: boolean): void {
  const { schemaVersion, newestSchemaVersion: newest, pending, backups } = status;
  (isJson ? printJson : printRecord)({ schema_version: schemaVersion, newest, pending, backups });
  if (schemaVersion > newest) {
    const message = `the database has schema ${schemaVersion}, this program knows up to ${newest}.`;
    throw new CommandError(EXIT.schemaNewer, `${message} Run the newer program.`);
  }
  if (pending.length === 0) return;
  const count = pending.length === 1 ? '1 migration is' : `${pending.length} migrations are`;
  throw new CommandError(
    EXIT.checkFailed,
    `${count} pending: "start" applies them, after a copy; so does "migrate".`,
  );
}

// Copies to the other engine.

async function migrateTo(to: string, options: MigrateOptions): Promise<void> {
  const isUrl = to !== 'postgres' && to !== 'sqlite';
  if (isUrl) requireUrl(to, options);
  const { dataDir, databaseUrl } = enterStore(isUrl ? { ...options, database: to } : options);
  if (databaseUrl === null) throw noDatabase(to);
  if (!hasStore({ dataDir, databaseUrl: to === 'sqlite' ? databaseUrl : null })) {
    throw noStore(dataDir);
  }
  const progress = progressLine();
  const onProgress = ({ step, table, rows }: CopyProgress): void =>
    progress.show(`${step} ${table}, ${rows} rows`);
  const copying = { dataDir, databaseUrl, onPending, onProgress };
  const { tables, told } = await (to === 'sqlite' ? back(copying) : there(copying)).finally(() =>
    progress.clear(),
  );
  printRows(tables, TABLE_COLUMNS, options.json === true);
  for (const line of told) say(line);
}

type Copying = Parameters<typeof copyToPostgres>[0];

interface Copied {
  readonly tables: readonly CopiedTable[];
  readonly told: readonly string[];
}

async function there(copying: Copying): Promise<Copied> {
  const tables = await copyToPostgres(copying);
  const told = [
    'All rows are on PostgreSQL: from now on, start with the same database URL.',
    `${DATABASE_FILE} in ${copying.dataDir} stays as it was, and is not used any more.`,
  ];
  return { tables, told };
}

async function back(copying: Copying): Promise<Copied> {
  const { tables, movedTo } = await copyToSqlite(copying);
  const told = [
    `All rows are in ${copying.dataDir}: from now on, start without a database URL.`,
    'The database on PostgreSQL stays as it was, and is not used any more.',
    ...(movedTo === null ? [] : [`The older ${DATABASE_FILE} is ${movedTo} now.`]),
  ];
  return { tables, told };
}

function onPending(migrations: readonly string[]): void {
  say(`The source is brought up to date first, as by a start: ${migrations.join(', ')}.`);
}

function requireUrl(to: string, { database }: MigrateOptions): void {
  const message = urlFault(to, database);
  if (message !== null) throw new CommandError(EXIT.usage, message);
}

function urlFault(to: string, database: string | undefined): string | null {
  if (parseDatabaseUrl(to) === null) {
    return '--to is not usable: write postgres, sqlite, or a URL as postgres://USER@HOST/NAME.';
  }
  if (database !== undefined) return '--to and --database both name a database: leave one out.';
  if (!hasPassword(to)) return null;
  return (
    '--to has a password, which every user of this machine can see: set GATEWAY_DATABASE_URL or ' +
    'GATEWAY_DATABASE_URL_FILE, and write --to postgres.'
  );
}

function noDatabase(to: string): CommandError {
  const which = to === 'sqlite' ? 'from' : 'to';
  const message =
    `the database on PostgreSQL to copy ${which} is not named: set GATEWAY_DATABASE_URL or ` +
    'GATEWAY_DATABASE_URL_FILE, or name it with --database.';
  return new CommandError(EXIT.usage, message);
}

const TABLE_COLUMNS = {
  table: ({ table }: CopiedTable) => table,
  rows: ({ rows }: CopiedTable) => rows,
};
