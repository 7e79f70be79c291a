import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE_FILE } from '../store/open.js';
import { examineBackup } from './examine-backup.js';
import type { BackupReport } from './examine-backup.js';
import { openArchive } from './read-archive.js';
import { readBackup } from './read-backup.js';

/**
 * Reads a whole backup and says what is wrong with it. Only its database is written, into a folder
 * for temporary files that is gone afterwards. Throws a `CommandError` where it is none at all.
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
