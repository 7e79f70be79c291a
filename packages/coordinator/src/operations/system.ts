import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import type { Store } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';

/** Of nobody: the sum of all is the same for each. */
const ANYBODY = '';

/** One subject for all of them: the log is looked through by subject, and not from end to end. */
const BACKUP = { kind: 'backup', id: 'backup' };

const ACTION = 'backup.create';

export const showSystem = adminRead(z.strictObject({}), async (context) => {
  const { store, server, system, asyncEnabled } = context;
  if (server === null || system === null) {
    throw new CommandError(EXIT.conflict, 'no coordinator runs here that could tell of itself.');
  }
  const database = system.database();
  const { totalBytes } = await store.assetSpace(ANYBODY);
  return {
    version: system.version,
    address: server.address,
    public_url: server.publicUrl,
    database_bytes: database.bytes,
    schema_version: database.schemaVersion,
    asset_bytes: totalBytes,
    asset_bytes_limit: system.assetLimits.totalBytes,
    asset_bytes_limit_a_member: system.assetLimits.memberBytes,
    retention_days: system.retentionMs / DAY_MS,
    async_enabled: asyncEnabled,
    queue_paused: await store.isQueuePaused(),
    /** Null: none is known. */
    last_backup_at: await lastBackupAt(store),
    limits: system.limits,
  };
});

const DAY_MS = 86_400_000;

const MAX_PATH = 4_096;

/** The command line makes backups, whether or not a coordinator runs, and tells of it here. */
export const recordBackup = adminChange(
  z.strictObject({
    /** Its file, or `stdout`. */
    target: z.string().min(1).max(MAX_PATH),
    /** Of the database and the files in it. */
    bytes: z.int().min(0),
  }),
  async ({ store, by }, { target, bytes }) => {
    if (!by.startsWith('cli')) {
      const message = 'only "gateway-coordinator backup" makes a backup: run it on the machine.';
      throw new CommandError(EXIT.notAuthorised, message);
    }
    const after = { target, bytes };
    const subject = { ...BACKUP, name: target };
    await store.recordAudit({ action: ACTION, subject, before: null, after });
    return { target, bytes };
  },
);

/** Unix ms; null if none is known: it may have been made by copying the folder. */
export async function lastBackupAt(store: Store): Promise<number | null> {
  const question = { since: null, action: ACTION, actor: null, subjectId: BACKUP.id, limit: 1 };
  const [newest] = await store.listAudit(question);
  return newest?.at ?? null;
}
