/** Tells the store of a backup, so that the console can say how old the last one is. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { say } from '@inference-gateway/shared/program/print';
import type { AdminArgs } from '../operations/operations.js';
import { migrationsOf, openStore } from '../store/open.js';
import { callRunning, enterData, readOffline, runHere } from './client.js';
import type { DataOption } from './options.js';

/** The archive is whole by now: whatever keeps it from being written down does not fail it. */
export async function recordBackup(
  options: DataOption,
  backup: AdminArgs<'backup.record'>,
): Promise<void> {
  try {
    await record(options, backup);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`The backup is whole, but it is not in the audit log: ${reason}`);
  }
}

/** Tried once: a backup from a timer does not wait for whoever holds the lock. */
async function record(options: DataOption, backup: AdminArgs<'backup.record'>): Promise<void> {
  const offline = readOffline(options);
  const dataDir = enterData(options);
  if ((await callRunning(dataDir, 'backup.record', backup)) !== null) return;
  // To open it would migrate it: a backup is made before an upgrade so that nothing changes.
  const { pending } = migrationsOf(dataDir);
  if (pending.length > 0) {
    throw new CommandError(EXIT.conflict, 'the database waits for its migration.');
  }
  const store = await openStore(dataDir);
  await runHere({ offline, dataDir, store }, 'backup.record', backup);
}
