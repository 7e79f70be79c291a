/**
 * Makes a data folder of a backup: beside its place, examined there, and then moved in whole. What
 * lay there is moved aside and never deleted.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AssetFiles, assetsFolder } from '../assets/asset-files.js';
import { DATABASE_FILE } from '../store/open.js';
import type { EntryKind } from './archive-entry.js';
import { examineBackup } from './examine-backup.js';
import type { BackupFault, BackupReport } from './examine-backup.js';
import { moveIn, takeFolder } from './place-folder.js';
import { readBackup } from './read-backup.js';
import { syncTree } from './sync-tree.js';

export interface RestoreRequest {
  readonly file: string;
  readonly dataDir: string;
  /** Whether data that lies there may be moved aside. */
  readonly replace: boolean;
  /** Whether to go on without assets that the backup lacks or that are damaged in it. */
  readonly partial: boolean;
  readonly signal: AbortSignal;
}

export interface RestoreOutcome {
  readonly report: BackupReport;
  /** False where faults kept it from being done. */
  readonly restored: boolean;
  /** Where the data that lay there is now. */
  readonly movedTo: string | null;
}

/**
 * Throws a `CommandError`: `conflict` where a coordinator has the folder, `usage` where it holds
 * data that may not be replaced.
 */
export async function restoreBackup(request: RestoreRequest): Promise<RestoreOutcome> {
  const { file, signal } = request;
  await expectFile(file);
  const folder = await takeFolder(request.dataDir, request.replace);
  try {
    const fresh = await besideOf(folder.path);
    try {
      const contents = await readBackup(file, placeIn(fresh), signal);
      const report = examineBackup(contents, fresh);
      if (!isRestorable(report, request.partial)) return { report, restored: false, movedTo: null };
      await removeDamaged(fresh, report.faults);
      await syncTree(fresh);
      signal.throwIfAborted();
      return { report, restored: true, movedTo: await moveIn(fresh, folder) };
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
  } finally {
    folder.release();
  }
}

/** Before anything is made for it. */
async function expectFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found === null) throw new CommandError(EXIT.notFound, `there is no file ${file}.`);
}

/** On the same disk as its place, so that it can be moved in. */
async function besideOf(path: string): Promise<string> {
  try {
    await mkdir(dirname(path), { recursive: true });
    return await mkdtemp(join(dirname(path), `${basename(path)}.restoring-`));
  } catch (error) {
    const message = `cannot make a folder beside ${path}: ${(error as Error).message}`;
    throw new CommandError(EXIT.failure, `${message}. Name another place with --data.`, {
      cause: error,
    });
  }
}

function placeIn(folder: string): (kind: EntryKind) => string | null {
  const files = new AssetFiles(assetsFolder(folder));
  return (kind) => {
    if (kind.kind === 'asset') return files.path(kind.id);
    return kind.kind === 'database' ? join(folder, DATABASE_FILE) : null;
  };
}

/** Without its database no backup is one; without some files it is still the best there is. */
function isRestorable({ faults }: BackupReport, partial: boolean): boolean {
  if (!partial) return faults.length === 0;
  return faults.every(({ file }) => file !== DATABASE_FILE);
}

async function removeDamaged(folder: string, faults: readonly BackupFault[]): Promise<void> {
  const damaged = faults.filter(({ fault }) => fault === 'damaged');
  for (const { file } of damaged) await rm(join(folder, file), { force: true });
}
