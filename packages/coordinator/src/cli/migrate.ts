import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { ApiError } from '@inference-gateway/shared/errors';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import {
  bytesText,
  printJson,
  printRecord,
  printRows,
  say,
} from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import { copyFiles } from '../assets/copy-files.js';
import type { CopiedFiles } from '../assets/copy-files.js';
import type { FilesPlace } from '../assets/files-url.js';
import { assetsFolder } from '../assets/folder-store.js';
import {
  asCommandError,
  filesMarkOf,
  markFiles,
  openFilesAt,
  requireOwn,
  requireUsable,
} from '../assets/open-files.js';
import { locateData, locateFiles } from '../config/config.js';
import { passwordFault, parseDatabaseUrl } from '../store/database-url.js';
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
  readonly files?: string;
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
    .addOption(
      new Option(
        '--files <url>',
        'copy all generated files to file:///FOLDER, s3://BUCKET, or "local", the data folder',
      ).conflicts('status'),
    )
    .addOption(dataOption())
    .addOption(databaseOption())
    .addOption(jsonOption())
    .addHelpText('after', example('migrate --status'))
    .action(migrate);
}

async function migrate(options: MigrateOptions): Promise<void> {
  const { to, files, ...rest } = options;
  if (files !== undefined) return migrateFiles(files, to, rest);
  if (to !== undefined) return migrateTo(to, rest);
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

type CopyOptions = Omit<MigrateOptions, 'to' | 'files'>;

async function migrateTo(to: string, options: CopyOptions): Promise<void> {
  const { tables, told } = await copyTables(to, options);
  printRows(tables, TABLE_COLUMNS, options.json === true);
  for (const line of told) say(line);
}

async function copyTables(to: string, options: CopyOptions): Promise<Copied> {
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
  return (to === 'sqlite' ? back(copying) : there(copying)).finally(() => progress.clear());
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

function requireUrl(to: string, { database }: CopyOptions): void {
  const message = urlFault(to, database);
  if (message !== null) throw new CommandError(EXIT.usage, message);
}

function urlFault(to: string, database: string | undefined): string | null {
  if (parseDatabaseUrl(to) === null) {
    return '--to is not usable: write postgres, sqlite, or a URL as postgres://USER@HOST/NAME.';
  }
  if (database !== undefined) return '--to and --database both name a database: leave one out.';
  return passwordFault(to, '--to');
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

// Copies of the files to another place.

/** The files first: an interrupted copy of them is continued when the command is repeated. */
async function migrateFiles(
  target: string,
  to: string | undefined,
  options: CopyOptions,
): Promise<void> {
  const report = await copyFilesTo(target, options);
  const tables = to === undefined ? null : await copyTables(to, options);
  if (options.json === true)
    printJson(tables === null ? report : { ...report, tables: tables.tables });
  else {
    const { missing, damaged, ...counts } = report;
    printRecord({ ...counts, missing: missing.length, damaged: damaged.length });
    if (tables !== null) printRows(tables.tables, TABLE_COLUMNS, false);
  }
  const setting =
    target === 'local' ? 'without GATEWAY_FILES_URL' : `with GATEWAY_FILES_URL=${target}`;
  say(`All files are in ${report.to}: from now on, start ${setting}.`);
  say(`Those in ${report.from} stay as they were, and are not used any more.`);
  for (const line of tables?.told ?? []) say(line);
  const lost = report.missing.length + report.damaged.length;
  if (lost === 0) return;
  const message = `${lost} files were not copied, because they are missing or damaged in`;
  throw new CommandError(EXIT.checkFailed, `${message} ${report.from}: "asset verify" names them.`);
}

interface FilesReport extends CopiedFiles {
  readonly from: string;
  readonly to: string;
}

async function copyFilesTo(target: string, options: CopyOptions): Promise<FilesReport> {
  const dataDir = locateData(options);
  const from = filesAt(filesMarkOf(dataDir), dataDir, options);
  const to = filesAt(target === 'local' ? null : target, dataDir, options);
  const place = enterStore(options);
  if (!hasStore(place)) throw noStore(dataDir);
  const { pending } = await migrationsOf(place);
  if (pending.length > 0) onPending(pending);
  const store = await openStore(dataDir, place);
  const progress = progressLine();
  try {
    const [source, files] = [await openFilesAt(from), await openFilesAt(to)];
    await requireUsable(files, to);
    if (to.filesUrl !== null)
      await requireOwn(files, to.filesUrl, { store, now: SYSTEM_CLOCK.now });
    const report = await copyFiles({
      store,
      source,
      target: files,
      onProgress: (count, bytes) => progress.show(`${count} files, ${bytesText(bytes)}`),
    });
    markFiles(dataDir, to.filesUrl);
    source.close();
    files.close();
    return { from: nameOf(from), to: nameOf(to), ...report };
  } catch (error) {
    throw error instanceof ApiError ? asCommandError(error, to) : error;
  } finally {
    progress.clear();
    await store.close();
  }
}

/** Reads credentials, which only root may be able to, and throws if some are needed and missing. */
function filesAt(url: string | null, dataDir: string, options: CopyOptions): FilesPlace {
  if (url !== null) return locateFiles({ ...options, files: url });
  return { dataDir, filesUrl: null, filesAccessKey: null, filesSecretKey: null };
}

function nameOf({ dataDir, filesUrl }: FilesPlace): string {
  return filesUrl ?? assetsFolder(dataDir);
}
