/**
 * A folder of backups, of which the newest stay. An archive gets its name only once it is verified:
 * what a kill or a fault leaves is never counted among those that stay.
 */
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { syncFolder } from '@inference-gateway/shared/program/disk';
import { createBackup } from './create-backup.js';
import type { BackupRequest } from './create-backup.js';
import { verifyBackup } from './examine-backup.js';
import type { BackupReport } from './examine-backup.js';
import type { ArchiveOutcome } from './write-archive.js';

/** Always the same, so that each backup replaces what an earlier one left. */
const UNVERIFIED = 'gateway-unverified.tar';

/** The order of the names is that of their times. */
const ARCHIVE = /^gateway-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar$/;

export interface FolderRequest extends Omit<BackupRequest, 'output'> {
  readonly folder: string;
  /** How many archives stay, with the new one; at least 1. */
  readonly keep: number;
}

export interface FolderOutcome {
  /** The path of the new archive; of one with faults, the name that the next one replaces. */
  readonly file: string;
  readonly archive: ArchiveOutcome;
  /** With faults, nothing has been removed. */
  readonly report: BackupReport;
  readonly removed: readonly string[];
}

/** Throws a `CommandError`: `notFound` without such a folder, `conflict` beside another backup. */
export async function backUpInto(request: FolderRequest): Promise<FolderOutcome> {
  const { folder, keep, signal } = request;
  await requireFolder(folder);
  const at = new Date(SYSTEM_CLOCK.now());
  const unverified = join(folder, UNVERIFIED);
  const archive = await createBackup({ ...request, output: unverified });
  const { ino } = await stat(unverified);
  const report = await verifyUnlessStopped(unverified, signal);
  if (report.faults.length > 0) return { file: unverified, archive, report, removed: [] };
  const file = join(folder, nameAt(at));
  await giveName({ unverified, file, ino });
  await syncFolder(folder);
  return { file, archive, report, removed: await removeOld(file, folder, keep) };
}

async function requireFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() === true) return;
  const message = `there is no folder ${folder}: create it, or mount its disk.`;
  throw new CommandError(EXIT.notFound, message);
}

/** `gateway-2026-01-31T03-30-00Z.tar`. */
function nameAt(time: Date): string {
  return `gateway-${time.toISOString().slice(0, 19).replaceAll(':', '-')}Z.tar`;
}

async function verifyUnlessStopped(file: string, signal: AbortSignal): Promise<BackupReport> {
  try {
    return await verifyBackup(file, signal);
  } catch (error) {
    if (signal.aborted) await rm(file, { force: true });
    throw error;
  }
}

interface Naming {
  readonly unverified: string;
  readonly file: string;
  /** Of the archive that was verified. */
  readonly ino: number;
}

async function giveName({ unverified, file, ino }: Naming): Promise<void> {
  const found = await stat(unverified).catch(() => null);
  if (found?.ino === ino) return rename(unverified, file);
  const message = `another backup to this folder replaced ${unverified}. Let one run at once.`;
  throw new CommandError(EXIT.conflict, message);
}

/** The new archive stays even if the clock was set back since the others were made. */
async function removeOld(newest: string, folder: string, keep: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const older = entries
    .filter((entry) => entry.isFile() && ARCHIVE.test(entry.name))
    .map(({ name }) => join(folder, name))
    .filter((file) => file !== newest)
    .toSorted();
  const surplus = older.slice(0, Math.max(0, older.length + 1 - keep));
  for (const file of surplus) await remove(file);
  return surplus;
}

async function remove(file: string): Promise<void> {
  try {
    await rm(file);
  } catch (cause) {
    const reason = (cause as Error).message;
    const message = `the new backup is whole, but cannot remove ${file}: ${reason}`;
    throw new CommandError(EXIT.failure, message, { cause });
  }
}
