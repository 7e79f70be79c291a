import type { Coordinator } from '@inference-gateway/coordinator/coordinator';
import { startCoordinator } from '@inference-gateway/coordinator/coordinator';
import { loadConfig } from '@inference-gateway/coordinator/config/config';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';

export interface Fresh {
  readonly coordinator: Coordinator;
  readonly dataDir: string;
  readonly file: string;
  /** The secret of the setup link. */
  readonly token: string;
}

/** A coordinator that has no members yet, on an empty folder by default. */
export async function startFresh(dataDir?: string): Promise<Fresh> {
  const folder = dataDir ?? (await temporaryFolder());
  const config = { ...loadConfig({}, {}), port: 0, dataDir: folder, logLevel: 'silent' } as const;
  const coordinator = await startCoordinator(config, { storeInThread: false });
  onTestFinished(() => coordinator.drain());
  const token = coordinator.setupLink?.split('#')[1] ?? '';
  return { coordinator, dataDir: folder, file: join(folder, 'setup-link'), token };
}
