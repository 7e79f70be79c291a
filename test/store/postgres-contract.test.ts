import { createStore } from '@inference-gateway/coordinator/store/client/client';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { openPeer } from '@inference-gateway/coordinator/store/postgres/engine';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { onServer, usePostgres } from '../support/postgres.js';
import { describeStore } from './contract.js';
import type { WrittenUsage } from './store-harness.js';

const server = usePostgres();

/** One database for all tests of this file. */
let url: string;
/** Of the last test, unless that closed it: its connections know the statements. */
let open: Store | null = null;
const peers: Store[] = [];

beforeAll(async () => {
  url = await server().createDatabase();
});

afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.close();
  await server().emptyDatabase(url);
});

afterAll(async () => {
  await open?.close();
  await server().dropDatabase(url);
});

function connect(nodeId: string): Store {
  return createStore(openPeer({ url, nodeId }), { now: Date.now });
}

describeStore('PostgreSQL', async () => {
  const store = (open ??= connect('local'));
  return {
    store,
    async reopen() {
      await store.close();
      open = connect('local');
      return open;
    },
    peer(nodeId) {
      const peer = connect(nodeId);
      peers.push(peer);
      return peer;
    },
    async usage() {
      await store.close();
      open = null;
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
