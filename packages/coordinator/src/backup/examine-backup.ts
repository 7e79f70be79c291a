/** Checks that the contents of an archive are complete and match each other. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE_FILE, assetsOf, inspectStore } from '../store/open.js';
import type { CopiedAsset } from '../store/open.js';
import { MANIFEST_FILE, assetEntry } from './archive-entry.js';
import type { BackupContents, FileFacts } from './read-backup.js';
import { readBackup, openArchive } from './read-backup.js';

export interface BackupFault {
  /** The path in the archive. */
  readonly file: string;
  readonly fault: 'missing' | 'damaged';
  readonly detail: string;
}

/** The JSON output of `restore --verify --json`. */
export interface BackupReport {
  /** The version of the program that made the backup. */
  readonly version: string;
  readonly schema_version: number;
  readonly created_at: number;
  readonly database_bytes: number;
  readonly assets: number;
  readonly asset_bytes: number;
  /** Assets deleted during the backup: the archive has their rows but not their files. */
  readonly deleted: number;
  readonly faults: readonly BackupFault[];
}

/**
 * Compares the archive's contents with each other. `folder` holds its extracted database. Throws a
 * `CommandError` if a newer program wrote the archive.
 */
export function examineBackup(contents: BackupContents, folder: string): BackupReport {
  const { manifest, database, assets } = contents;
  const tables = databaseFaults(contents, folder);
  // The asset rows of a damaged database cannot be trusted.
  const files = tables.length > 0 ? [] : assetFaults(contents, folder);
  return {
    version: manifest.version,
    schema_version: manifest.schema_version,
    created_at: manifest.created_at,
    database_bytes: database.bytes,
    assets: assets.size,
    asset_bytes: [...assets.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    deleted: manifest.deleted.length,
    faults: [...tables, ...files, ...countFaults(contents)],
  };
}

function databaseFaults({ manifest, database }: BackupContents, folder: string): BackupFault[] {
  const difference = differenceOf(database, manifest.database);
  if (difference !== null) return [damage(DATABASE_FILE, difference)];
  try {
    const { schemaVersion, newestSchemaVersion, damages } = inspectStore(folder);
    if (schemaVersion > newestSchemaVersion) throw newer(schemaVersion, newestSchemaVersion);
    return damages.map((detail) => damage(DATABASE_FILE, detail));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    return [damage(DATABASE_FILE, (error as Error).message)];
  }
}

function assetFaults({ manifest, assets }: BackupContents, folder: string): BackupFault[] {
  const deleted = new Set(manifest.deleted);
  const faults: BackupFault[] = [];
  for (const row of assetsOf(folder)) {
    const fault = assetFault(row, assets.get(row.id));
    if (fault !== null && !(fault.fault === 'missing' && deleted.has(row.id))) faults.push(fault);
  }
  return faults;
}

function assetFault(row: CopiedAsset, found: FileFacts | undefined): BackupFault | null {
  const file = assetEntry(row.id);
  if (found === undefined) {
    return { file, fault: 'missing', detail: `${row.bytes} bytes that the database has a row of` };
  }
  const difference = differenceOf(found, row);
  return difference === null ? null : damage(file, difference);
}

/** Also detects a missing file that has no row: it was removed from the archive. */
function countFaults({ manifest, assets }: BackupContents): BackupFault[] {
  const { count } = manifest.assets;
  if (assets.size === count) return [];
  return [damage(MANIFEST_FILE, `it counts ${count} assets, the archive holds ${assets.size}`)];
}

function differenceOf(found: FileFacts, expected: FileFacts): string | null {
  if (found.bytes !== expected.bytes) {
    return `${found.bytes} bytes instead of ${expected.bytes}`;
  }
  if (found.sha256 === expected.sha256) return null;
  return `SHA-256 ${found.sha256} instead of ${expected.sha256}`;
}

function damage(file: string, detail: string): BackupFault {
  return { file, fault: 'damaged', detail };
}

function newer(version: number, newest: number): CommandError {
  const message = `the backup has schema ${version}, this program knows up to ${newest}.`;
  return new CommandError(EXIT.schemaNewer, `${message} Use the newer program.`);
}

/**
 * Reads a whole backup and reports its faults. Extracts only the database, into a temporary folder
 * that is deleted afterwards. Throws a `CommandError` if the file is not a backup.
 */
export async function verifyBackup(file: string, signal: AbortSignal): Promise<BackupReport> {
  const archive = await openArchive(file);
  const folder = await mkdtemp(join(tmpdir(), 'gateway-verify-'));
  try {
    const database = join(folder, DATABASE_FILE);
    const place = ({ kind }: { kind: string }) => (kind === 'database' ? database : null);
    return examineBackup(await readBackup(archive, place, signal), folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await archive.handle.close();
  }
}
