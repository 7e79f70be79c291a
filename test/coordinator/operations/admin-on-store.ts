/** Administrative operations on a real store, without a process or a coordinator. */
import { runAdmin } from '@inference-gateway/coordinator/operations/operations';
import type { AdminName, AdminResult } from '@inference-gateway/coordinator/operations/operations';
import { createAdminAssets } from '@inference-gateway/coordinator/assets/admin-assets';
import { openByteStore } from '@inference-gateway/coordinator/assets/folder-store';
import { createOfflineJobs } from '@inference-gateway/coordinator/jobs/offline-jobs';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { CommandError } from '@inference-gateway/shared/program/command-error';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';

const DAY_MS = 86_400_000;

export interface AdminOnStore {
  readonly store: Store;
  readonly run: <Name extends AdminName>(command: Name, args: object) => Promise<AdminResult<Name>>;
  /** Runs an operation that must be refused; returns the exit code and the message. */
  readonly refusal: (command: AdminName, args: object) => Promise<string>;
}

export async function adminOnStore(): Promise<AdminOnStore> {
  const folder = await temporaryFolder();
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  const parts = {
    store,
    links: null,
    server: null,
    system: null,
    onMember: (): void => {},
    assets: createAdminAssets(() => openByteStore(folder), store),
    jobActions: createOfflineJobs(store, { jobs: 100, bytes: 1_000_000 }, SYSTEM_CLOCK),
    retention: { retentionMs: DAY_MS, usageRetentionMs: DAY_MS, auditRetentionMs: DAY_MS },
    asyncEnabled: true,
    now: Date.now,
  };
  const run = async <Name extends AdminName>(
    command: Name,
    args: object,
  ): Promise<AdminResult<Name>> =>
    (await runAdmin(parts, { command, args, by: 'cli:test' })) as AdminResult<Name>;
  const refusal = async (command: AdminName, args: object): Promise<string> => {
    try {
      await run(command, args);
    } catch (error) {
      if (error instanceof CommandError) return `${error.exitCode}: ${error.message}`;
      throw error;
    }
    throw new Error(`${command} was not refused`);
  };
  return { store, run, refusal };
}
