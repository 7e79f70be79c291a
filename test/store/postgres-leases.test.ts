/** Three coordinators on one database, with eight clients each: their limits are those of one. */
import { openLimits } from '@inference-gateway/coordinator/limits/limits';
import type { Limits } from '@inference-gateway/coordinator/limits/limits';
import { Admission } from '@inference-gateway/coordinator/relay/admission';
import { createStore } from '@inference-gateway/coordinator/store/client/client';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { openPeer } from '@inference-gateway/coordinator/store/postgres/engine';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { setMaxListeners } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { usePostgres } from '../support/postgres.js';
import { until } from '../support/until.js';
import { usageRow } from './store-rows.js';

const server = usePostgres();
const NODES = 3;
const CLIENTS = 8;
const LIMIT = 120;

interface Node {
  readonly store: Store;
  readonly limits: Limits;
}

let url: string;
let nodes: readonly Node[];

beforeAll(async () => {
  url = await server().createDatabase();
});

afterAll(() => server().dropDatabase(url));

beforeEach(() => {
  nodes = Array.from({ length: NODES }, (_, index) => {
    const engine = openPeer({ url, nodeId: `node ${index}` });
    const store = createStore(engine, { now: SYSTEM_CLOCK.now });
    const config = { rateLimitRequests: LIMIT, rateLimitWindowMs: 60_000, databaseUrl: url };
    return { store, limits: openLimits(config, { store, clock: SYSTEM_CLOCK }) };
  });
});

afterEach(async () => {
  for (const { limits, store } of nodes) {
    await limits.close();
    await store.close();
  }
  await server().emptyDatabase(url);
});

/** Each client of each coordinator, until it is told that there is no more. */
async function race(run: (node: Node, turn: number) => Promise<boolean>): Promise<number> {
  const clients = nodes.flatMap((node) =>
    Array.from({ length: CLIENTS }, async () => {
      let turn = 0;
      while (await run(node, turn)) turn += 1;
      return turn;
    }),
  );
  const turns = await Promise.all(clients);
  return turns.reduce((sum, count) => sum + count, 0);
}

test('requests are let in up to the limit of one', async () => {
  const allowed = await race(async ({ limits }) => {
    return (await limits.rate.take('anna', performance.now())).allowed;
  });
  expect(allowed).toBeLessThanOrEqual(LIMIT);
  expect(allowed).toBeGreaterThanOrEqual(0.9 * LIMIT);
  const [first] = nodes;
  const standing = await first?.limits.rate.take('anna', performance.now());
  expect(standing).toMatchObject({ allowed: false, limit: LIMIT, remaining: 0, resetS: 60 });
});

test('calls run up to the limit of one, and all run in the end', async () => {
  const closing = new AbortController().signal;
  setMaxListeners(0, closing);
  let [running, most, served] = [0, 0, 0];
  const limit = 20;
  const gates = nodes.map(({ limits: { slots } }) => {
    return new Admission({ limit, waitMs: 60_000, closing, slots });
  });
  const calls = gates.flatMap((gate) =>
    Array.from({ length: CLIENTS * 10 }, async () => {
      const entering = gate.enter('anna', closing);
      if (entering !== null) await entering;
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      served += 1;
      gate.leave('anna');
    }),
  );
  await Promise.all(calls);
  expect(served).toBe(NODES * CLIENTS * 10);
  expect(most).toBeLessThanOrEqual(limit);
});

test('a budget is passed by one call', async () => {
  const quota = { day: { tokens: 10_000 }, month: {} };
  const account = { memberId: 'anna', keyId: 'key', title: 'The API key', quota };
  const asked = { requests: 1, tokens: 100, images: 0, audioMs: 0 };
  let calls = 0;
  const allowed = await race(async ({ limits, store }) => {
    const requestId = `call ${(calls += 1)}`;
    const refusal = await limits.quotas.claim(requestId, [account], asked);
    if (refusal !== null) return false;
    const row = { ...usageRow(calls), requestId, memberId: 'anna', keyId: 'key' };
    const used = { ...row, at: Date.now(), promptTokens: 50, completionTokens: 40 };
    limits.quotas.count(used);
    store.recordUsage([used]);
    return true;
  });
  const used = allowed * 90;
  expect(used).toBeLessThanOrEqual(10_000 + 100);
  // What calls have reserved and not used is refused to others for a moment.
  expect(used).toBeGreaterThanOrEqual(8_000);
});

test('passwords are guessed at three coordinators as often as at one', async () => {
  const guessers = [
    { kind: 'pair', key: 'pair' },
    { kind: 'address', key: 'address' },
  ] as const;
  const guesses = await race(async ({ limits }) => {
    if ((await limits.logIns.begin(guessers)) > 0) return false;
    await limits.logIns.end(guessers, 'wrong');
    return true;
  });
  expect(guesses).toBe(5);
});

test('without the database, what is leased is spent, and the rest is refused', async () => {
  const [node] = nodes;
  if (node === undefined) throw new Error('there are three');
  const take = async () => node.limits.rate.take('anna', performance.now());
  expect(await take()).toMatchObject({ allowed: true });
  await node.store.close();
  let spent = 0;
  const refused = await until(async () => {
    try {
      await take();
      spent += 1;
      return null;
    } catch (error) {
      return error;
    }
  });
  expect(refused).toMatchObject({ code: 'storage_unavailable', status: 503 });
  expect(spent).toBe(LIMIT / 20 - 1);
});
