/** The name of a coordinator on PostgreSQL. */
import { LOCK_CLASS } from '@inference-gateway/coordinator/store/postgres/connection';
import { holdNode } from '@inference-gateway/coordinator/store/postgres/node-lock';
import type { NodeLock } from '@inference-gateway/coordinator/store/postgres/node-lock';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { onServer, usePostgres } from '../support/postgres.js';
import { until } from '../support/until.js';

const server = usePostgres();

const HOLDERS = `pid in (select pid from pg_locks where classid = ${LOCK_CLASS.nodes})`;

async function hold(url: string, nodeId = 'one'): Promise<NodeLock> {
  const lock = await holdNode(url, nodeId);
  onTestFinished(() => lock.release());
  return lock;
}

async function newDatabase(): Promise<string> {
  const url = await server().createDatabase({ isEmpty: true });
  onTestFinished(() => server().dropDatabase(url));
  return url;
}

/** Ends connections to the client only: the server is not told, as if a router had died. */
async function openLine(target: string): Promise<{ url: string; drop(): void }> {
  const near = new Set<Socket>();
  const far = new Set<Socket>();
  const line = createServer((client) => {
    const upstream = connect(Number(new URL(target).port), '127.0.0.1');
    near.add(client.on('error', () => {}));
    far.add(upstream.on('error', () => {}));
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes) => client.write(bytes));
    // A client that leaves on its own accord says so.
    client.on('end', () => upstream.end());
  });
  await new Promise<void>((done) => line.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    for (const socket of [...near, ...far]) socket.destroy();
    line.close();
  });
  const { port } = line.address() as AddressInfo;
  return {
    url: Object.assign(new URL(target), { port: String(port) }).href,
    drop: () => near.forEach((socket) => socket.resetAndDestroy()),
  };
}

/** Resolves once a connection that has ended is replaced. */
const held = (lock: NodeLock): Promise<boolean | null> => lock.isHeld().catch(() => null);

test('is kept while the server has not noticed that a former connection is gone', async () => {
  const url = await newDatabase();
  const line = await openLine(url);
  const lock = await hold(line.url);
  line.drop();
  const answers: unknown[] = [];
  for (let i = 0; i < 5; i++) answers.push(await until(() => held(lock)));
  expect(new Set(answers)).toEqual(new Set([true]));
  await endConnections(url, HOLDERS);
  expect(await until(() => held(lock))).toBe(true);
});

test('is lost once another coordinator has taken it', async () => {
  const url = await newDatabase();
  const lock = await hold(url);
  const next = hold(url);
  const taken = next.then(
    () => true,
    () => true,
  );
  let isTaken = false;
  void taken.then(() => (isTaken = true));
  // The first one would take it again if it were asked. The next one has another lock.
  await endConnections(url, HOLDERS);
  await until(() => isTaken);
  await next;
  await until(async () => (await held(lock)) === false);
  expect(await lock.isHeld()).toBe(false);
});

test('the upkeep of one whose program stands still goes to another', async () => {
  const url = await newDatabase();
  const [stuck, other] = [await hold(url, 'stuck'), await hold(url, 'other')];
  expect([await stuck.holdsUpkeep(), await other.holdsUpkeep()]).toEqual([true, false]);
  await until(() => other.holdsUpkeep(), { timeoutMs: 20_000 });
  expect(await until(() => stuck.isHeld().catch(() => null))).toBe(true);
  expect(await stuck.holdsUpkeep()).toBe(false);
});

test('the upkeep stays with the node that asks for it', async () => {
  const url = await newDatabase();
  const [asking, other] = [await hold(url, 'asking'), await hold(url, 'other')];
  const end = performance.now() + 11_000;
  while (performance.now() < end) {
    expect([await asking.holdsUpkeep(), await other.holdsUpkeep()]).toEqual([true, false]);
    await sleep(500);
  }
});

async function endConnections(url: string, condition: string): Promise<void> {
  await onServer(url, (sql) =>
    sql.rows(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and ${condition}`,
    ),
  );
}
