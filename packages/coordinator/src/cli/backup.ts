import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ApiError } from '@inference-gateway/shared/errors';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { interruption } from '@inference-gateway/shared/program/shutdown';
import { bytesText, printJson, printRecord, say } from '@inference-gateway/shared/program/print';
import type { Fields } from '@inference-gateway/shared/program/print';
import { Option } from 'commander';
import type { Command } from 'commander';
import { backUpInto } from '../backup/backup-folder.js';
import { createBackup, STDOUT } from '../backup/create-backup.js';
import type { BackupRequest } from '../backup/create-backup.js';
import type { ArchiveOutcome } from '../backup/write-archive.js';
import { asCommandError, openFiles } from '../assets/open-files.js';
import type { FilesPlace } from '../assets/files-url.js';
import { locateFiles, locateStore } from '../config/config.js';
import { hasStore, migrationsOf, openStore } from '../store/open.js';
import { callRunning, enterStore, noStore, readOffline, requireSqlite, runHere } from './client.js';
import { dataOption, example, jsonOption, parseCount } from './options.js';
import type { DataOption, JsonOption } from './options.js';
import { faultsIn, printFaults } from './restore.js';
import { programVersion } from '../own-files.js';
import type { AdminArgs } from '../operations/operations.js';

interface BackupOptions extends DataOption, JsonOption {
  readonly output?: string;
  readonly folder?: string;
  readonly keep?: number;
}

/** Two weeks of daily backups. */
export const DEFAULT_KEEP = 14;

export function addBackup(program: Command): void {
  program
    .command('backup')
    .description('write the database and all assets into one archive; the server may be running')
    .option('-o, --output <file>', 'the archive; .gz or .tgz is compressed, - is stdout')
    .addOption(
      new Option(
        '--folder <dir>',
        'write gateway-<UTC time>.tar there, verify it, then remove the oldest; exits 9 on a fault',
      ).conflicts('output'),
    )
    .addOption(
      new Option(
        '--keep <count>',
        `how many archives stay in the folder (default ${DEFAULT_KEEP})`,
      ).argParser(parseCount),
    )
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', example('backup -o /backup/gateway.tar --data /var/lib/gateway'))
    .action(backup);
}

async function backup(options: BackupOptions): Promise<void> {
  const { output, folder, keep } = options;
  if (folder !== undefined) return backupInto(resolve(folder), keep ?? DEFAULT_KEEP, options);
  if (keep !== undefined) throw new CommandError(EXIT.usage, '--keep is for --folder: add it.');
  if (output !== undefined) return backupTo(output, options);
  const message = 'name the archive with -o FILE, or a folder of archives with --folder DIR.';
  throw new CommandError(EXIT.usage, message);
}

async function backupInto(folder: string, keep: number, options: BackupOptions): Promise<void> {
  const { json } = options;
  const filesPlace = locateFiles(options);
  const dataDir = enterFor(join(folder, 'archive'), options);
  const files = await openFiles(filesPlace);
  const progress = progressLine();
  const { file, archive, report, removed } = await backUpInto({
    dataDir,
    files,
    folder,
    keep,
    version: programVersion(),
    signal: interruption(),
    onAsset: onAssetOf(progress),
  })
    .catch((error: unknown) => {
      throw asFault(error, filesPlace);
    })
    .finally(() => {
      files.close();
      progress.clear();
    });
  const isWhole = report.faults.length === 0;
  if (isWhole) await recordBackup(options, targetOf(file, archive));
  const fields = { ...record(file, archive), removed };
  if (json === true) printJson({ ...fields, faults: report.faults });
  else if (isWhole) printRecord(fields);
  else printFaults(report);
  if (isWhole) return;
  throw faultsIn(file, report, 'Nothing was removed: the older archives stay.');
}

async function backupTo(output: string, options: BackupOptions): Promise<void> {
  const { json } = options;
  if (output === STDOUT) prepareStdout(json === true);
  const filesPlace = locateFiles(options);
  const dataDir = enterFor(output, options);
  const files = await openFiles(filesPlace);
  const progress = progressLine();
  const outcome = await createBackup({
    dataDir,
    files,
    output,
    version: programVersion(),
    signal: interruption(),
    onAsset: onAssetOf(progress),
  })
    .catch((error: unknown) => {
      throw asFault(error, filesPlace);
    })
    .finally(() => {
      files.close();
      progress.clear();
    });
  await recordBackup(options, targetOf(output === STDOUT ? 'stdout' : resolve(output), outcome));
  if (output !== STDOUT) (json === true ? printJson : printRecord)(record(output, outcome));
  if (outcome.missing > 0) {
    say(`${outcome.missing} assets had no file to back up: "asset verify" names them.`);
  }
}

/** Of an object storage that could not be read to the end. */
function asFault(error: unknown, place: FilesPlace): unknown {
  return error instanceof ApiError ? asCommandError(error, place) : error;
}

/**
 * Returns the data folder. Root stays root for an archive in a folder that only root can write to,
 * but not in the data folder itself.
 */
function enterFor(output: string, options: BackupOptions): string {
  const place = locateStore(options);
  const { dataDir } = place;
  requireSqlite(place, 'a backup');
  if (output !== STDOUT && isInside(dataDir, output)) enterStore(options);
  if (!hasStore(place)) throw noStore(dataDir);
  return dataDir;
}

function targetOf(target: string, { manifest }: ArchiveOutcome): AdminArgs<'backup.record'> {
  return { target, bytes: manifest.database.bytes + manifest.assets.bytes };
}

/** Any write error on stdout makes the backup fail, also a closed pipe. */
function prepareStdout(json: boolean): void {
  if (json) throw new CommandError(EXIT.usage, '-o - writes the archive to stdout: omit --json.');
  if (process.stdout.isTTY) {
    const message = 'an archive is nothing to show on a terminal: name a file with -o.';
    throw new CommandError(EXIT.usage, message);
  }
  process.stdout.prependListener('error', (error) => {
    say(`error: cannot write the backup to stdout: ${error.message}.`);
    process.exit(EXIT.failure);
  });
}

function record(file: string, { manifest, skipped, missing }: ArchiveOutcome): Fields {
  return {
    file,
    created_at: manifest.created_at,
    schema_version: manifest.schema_version,
    database_bytes: manifest.database.bytes,
    assets: manifest.assets.count,
    asset_bytes: manifest.assets.bytes,
    skipped,
    missing,
  };
}

function isInside(folder: string, file: string): boolean {
  const way = relative(folder, resolve(file));
  return way !== '' && way.split(sep)[0] !== '..' && !isAbsolute(way);
}

/** Minimum time between two updates. */
const INTERVAL_MS = 200;

const CLEAR_LINE = '\r\u001B[K';

interface ProgressLine {
  show(line: string): void;
  clear(): void;
}

const onAssetOf =
  (progress: ProgressLine): BackupRequest['onAsset'] =>
  ({ count, bytes }) =>
    progress.show(`${count} assets, ${bytesText(bytes)}`);

/** A line on stderr that is overwritten by each update; nothing if stderr is not a terminal. */
export function progressLine(): ProgressLine {
  let shownAt = -INTERVAL_MS;
  return {
    show: (line) => {
      if (!process.stderr.isTTY || performance.now() - shownAt < INTERVAL_MS) return;
      shownAt = performance.now();
      process.stderr.write(`${CLEAR_LINE}${line}`);
    },
    clear: () => {
      if (process.stderr.isTTY && shownAt >= 0) process.stderr.write(CLEAR_LINE);
    },
  };
}

// Records the backup in the store, so that the console can show its age.

/** The archive is already complete: an error while recording it does not make the backup fail. */
async function recordBackup(
  options: DataOption,
  backup: AdminArgs<'backup.record'>,
): Promise<void> {
  try {
    await recordHere(options, backup);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`The backup is whole, but it is not in the audit log: ${reason}`);
  }
}

/**
 * Tried once: a backup that a timer starts does not wait for another process that holds the lock.
 */
async function recordHere(options: DataOption, backup: AdminArgs<'backup.record'>): Promise<void> {
  const offline = readOffline(options);
  const place = enterStore(options);
  const { dataDir } = place;
  if ((await callRunning(dataDir, 'backup.record', backup)) !== null) return;
  // Opening the store would migrate it, and a backup before an upgrade must change nothing.
  const { pending } = await migrationsOf(place);
  if (pending.length > 0) {
    throw new CommandError(EXIT.conflict, 'the database waits for its migration.');
  }
  const store = await openStore(dataDir);
  await runHere({ offline, store }, 'backup.record', backup);
}
