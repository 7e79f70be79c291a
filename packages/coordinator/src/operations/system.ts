import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { adminCommand } from './operation.js';
import { lastBackupAt } from './backups.js';

/** Of nobody: the sum of all is the same for each. */
const ANYBODY = '';

export const showSystem = adminCommand(z.strictObject({}), async (context) => {
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
