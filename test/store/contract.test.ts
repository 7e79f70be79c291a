import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { openForReading } from '@inference-gateway/coordinator/store/sqlite/engine/database';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { describeStore } from './contract.js';
import type { WrittenUsage } from './store-harness.js';

interface Opened {
  readonly dataDir: string;
  store: Store;
}

const opened: Opened[] = [];

afterEach(async () => {
  for (const { dataDir, store } of opened.splice(0)) {
    await store.close();
    await rm(dataDir, { recursive: true });
  }
});

describeStore('SQLite', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-store-'));
  const current: Opened = { dataDir, store: await openStore(dataDir) };
  opened.push(current);
  return {
    store: current.store,
    async reopen() {
      await current.store.close();
      current.store = await openStore(dataDir);
      return current.store;
    },
    async usage() {
      await current.store.close();
      const database = openForReading(join(dataDir, 'gateway.db'));
      const rows = database
        .prepare<[], WrittenUsage>(
          `select request_id as requestId, outcome, prompt_tokens as promptTokens,
             completion_tokens as completionTokens, audio_ms as audioMs, images,
             total_ms as totalMs
           from usage`,
        )
        .all();
      database.close();
      return rows;
    },
  };
});
