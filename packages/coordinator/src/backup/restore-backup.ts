/**
 * Makes a data folder of a backup: in a fresh folder, examined there, and then moved in. What lay
 * there is moved aside and never deleted. All of it belongs to the owner of the data folder.
 */
import { actAsOwnerOf } from '@inference-gateway/shared/program/owner';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AssetFiles, assetsFolder } from '../assets/asset-files.js';
import { DATABASE_FILE } from '../store/open.js';
import type { EntryKind } from './archive-entry.js';
import { examineBackup } from './examine-backup.js';
import type { BackupFault, BackupReport } from './examine-backup.js';
import { makeFresh, moveIn, takeFolder } from './place-folder.js';
import { openArchive } from './read-archive.js';
import type { ArchiveFile } from './read-archive.js';
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
  const archive = await openArchive(request.file);
  // The archive may be one that only root reads; the folder's files are to be its owner's.
  const becomeRoot = actAsOwnerOf(request.dataDir);
  try {
    return await restoreFrom(archive, request);
  } finally {
    becomeRoot();
    await archive.handle.close();
  }
}

async function restoreFrom(archive: ArchiveFile, request: RestoreRequest): Promise<RestoreOutcome> {
  const { signal } = request;
  const folder = await takeFolder(request.dataDir, request.replace);
  try {
    const fresh = await makeFresh(folder);
    try {
      const contents = await readBackup(archive, placeIn(fresh), signal);
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
