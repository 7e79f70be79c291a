import { DATABASE_FILE, openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { createSqliteStore, runInThread } from '@inference-gateway/coordinator/store/sqlite/calls';
import { openForReading } from '@inference-gateway/coordinator/store/sqlite/database';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { describeStore } from './contract.js';
import type { WrittenUsage } from './store-harness.js';

interface Opened {
  readonly dataDir: string;
  store: Store;
  readonly peers: Store[];
}

const opened: Opened[] = [];

/** A folder with empty tables, which each test copies: to make them is half of an opening. */
let empty: string;

beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), 'gateway-store-'));
  await (await openStore(empty)).close();
});

afterAll(() => rm(empty, { recursive: true }));

afterEach(async () => {
  for (const { dataDir, store, peers } of opened.splice(0)) {
    for (const one of [store, ...peers]) await one.close();
    await rm(dataDir, { recursive: true });
  }
});

describeStore('SQLite', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-store-'));
  await copyFile(join(empty, DATABASE_FILE), join(dataDir, DATABASE_FILE));
  const current: Opened = { dataDir, store: await openStore(dataDir), peers: [] };
  opened.push(current);
  return {
    store: current.store,
    async reopen() {
      await current.store.close();
      current.store = await openStore(dataDir);
      return current.store;
    },
    peer(nodeId) {
      const file = join(dataDir, DATABASE_FILE);
      // In a thread, so that both work at the same time.
      const peer = createSqliteStore(runInThread({ databaseFile: file, nodeId }), {
        now: Date.now,
      });
      current.peers.push(peer);
      return peer;
    },
    async usage() {
      await current.store.close();
      const database = openForReading(join(dataDir, DATABASE_FILE));
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
