import { createStore } from '@inference-gateway/coordinator/store/client/client';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { openPeer } from '@inference-gateway/coordinator/store/postgres/engine';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { onServer, usePostgres } from '../support/postgres.js';
import { describeStore } from './contract.js';
import type { WrittenUsage } from './store-harness.js';

const server = usePostgres();

interface Opened {
  store: Store;
  readonly peers: Store[];
}

const opened: Opened[] = [];

/** One database for all tests of this file. */
let url: string;

beforeAll(async () => {
  url = await server().createDatabase({ isMigrated: true });
});

afterAll(() => server().dropDatabase(url));

afterEach(async () => {
  for (const { store, peers } of opened.splice(0)) {
    for (const one of [store, ...peers]) await one.close();
  }
  await server().emptyDatabase(url);
});

function open(nodeId: string): Store {
  return createStore(openPeer({ url, nodeId }), { now: Date.now });
}

describeStore('PostgreSQL', async () => {
  const current: Opened = { store: open('local'), peers: [] };
  opened.push(current);
  return {
    store: current.store,
    async reopen() {
      await current.store.close();
      current.store = open('local');
      return current.store;
    },
    peer(nodeId) {
      const peer = open(nodeId);
      current.peers.push(peer);
      return peer;
    },
    async usage() {
      await current.store.close();
      return onServer(url, (sql) =>
        sql.rows<WrittenUsage>(
          `select request_id as "requestId", outcome, prompt_tokens::int as "promptTokens",
             completion_tokens::int as "completionTokens", audio_ms::int as "audioMs",
             images::int, total_ms::int as "totalMs"
           from usage order by rowid`,
        ),
      );
    },
  };
});
