import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import type { Store } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';

/** Without a member: the sum of all is the same for each. */
const ANYBODY = '';

/** One subject for all backups, because the log is indexed by subject. */
const BACKUP = { kind: 'backup', id: 'backup' };

const ACTION = 'backup.create';

export const showSystem = adminRead(z.strictObject({}), async (context) => {
  const { store, server, system, asyncEnabled } = context;
  if (server === null || system === null) {
    throw new CommandError(EXIT.conflict, 'no coordinator runs here that could tell of itself.');
  }
  const database = await store.databaseFacts();
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
    /** Null: no backup is known. */
    last_backup_at: await lastBackupAt(store),
    limits: system.limits,
  };
});

const DAY_MS = 86_400_000;

const MAX_PATH = 4_096;

/** Backups are made by the command line, with or without a coordinator, and recorded here. */
export const recordBackup = adminChange(
  z.strictObject({
    /** The backup's file, or `stdout`. */
    target: z.string().min(1).max(MAX_PATH),
    /** Bytes of the database and the files in it. */
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

/** Unix ms; null if none is known: the folder may have been copied instead. */
export async function lastBackupAt(store: Store): Promise<number | null> {
  const question = { since: null, action: ACTION, actor: null, subjectId: BACKUP.id, limit: 1 };
  const [newest] = await store.listAudit(question);
  return newest?.at ?? null;
}
