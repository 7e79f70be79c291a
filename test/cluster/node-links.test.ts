/** The link between two coordinators: who may use it, when it breaks, and when it is left. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dialNode, listenForNodes } from '@inference-gateway/coordinator/nodes/transport';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { BlackHole } from '../support/black-hole.js';
import { onlineAt, startNode, startPair, untilLinked } from '../support/cluster-pair.js';
import { startFront } from '../support/cluster.js';
import { chunks } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { onServer, usePostgres } from '../support/postgres.js';
import { until } from '../support/until.js';
import type { WebSocket } from 'ws';

const server = usePostgres();
const CALL = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] };

const JSON_TYPE = { 'content-type': 'application/json' };

async function newDatabase(): Promise<string> {
  const url = await server().createDatabase();
  onTestFinished(() => server().dropDatabase(url));
  return url;
}

async function newServer(): Promise<FakeModelServer> {
  const fake = await startFakeOpenAi({ models: ['m'] });
  onTestFinished(() => fake.close());
  return fake;
}

const serviceOf = ({ origin }: FakeModelServer) => ({ baseUrl: `${origin}/v1`, slots: 4 });

describe('a port for coordinators', () => {
  const key = { id: 'one', secret: new Uint8Array(32).fill(1), ageMs: 0 };

  async function listen(): Promise<{ url: string; port: number; links: () => number }> {
    let links = 0;
    const parts = { keys: () => [key], onLink: () => (links += 1), logger: createLogger('silent') };
    const own = { host: '127.0.0.1', port: 0 };
    const opened = await listenForNodes({ listen: own, ...parts });
    onTestFinished(() => opened.close());
    const { port } = opened;
    return { url: `wss://127.0.0.1:${port}`, port, links: () => links };
  }

  test('opens a link with a key of the database', async () => {
    const { url, links } = await listen();
    const opened = await dialNode(url, key, () => {});
    expect(opened?.socket.readyState).toBe(1);
    expect(links()).toBe(1);
    opened?.socket.terminate();
  });

  test('that accepts connections and says nothing is given up, and asked again', async () => {
    const silent = createServer();
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const faults: string[] = [];
    expect(await dialNode(`wss://127.0.0.1:${port}`, key, (one) => faults.push(one))).toBeNull();
    expect(faults).toEqual(['no answer within 3 s']);
  });

  test('refuses another secret, an unknown key, a stranger with TLS, and one without', async () => {
    const { url, port, links } = await listen();
    const faults: string[] = [];
    const dial = (other: typeof key) => dialNode(url, other, (fault) => faults.push(fault));
    expect(await dial({ ...key, secret: new Uint8Array(32).fill(2) })).toBeNull();
    expect(await dial({ ...key, id: 'two' })).toBeNull();
    expect(faults).toHaveLength(2);
    const stranger = new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
      socket.once('secureConnect', () => resolve('connected'));
      socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    });
    expect(await stranger).not.toBe('connected');
    await expect(fetch(`http://127.0.0.1:${port}/node/v1/link`)).rejects.toThrow('fetch failed');
    expect(links()).toBe(0);
  });
});

test('two that cannot reach each other serve what they hold, until they can again', async () => {
  const fake = await newServer();
  const holes: BlackHole[] = [];
  const pair = await startPair(await newDatabase(), {
    reconnectWaitMs: 100,
    urlOf: async (port) => {
      const hole = await new BlackHole().listen(port);
      holes.push(hole);
      return `wss://127.0.0.1:${hole.port}`;
    },
  });
  await pair.startAgent([serviceOf(fake)]);
  expect((await pair.client.chat.completions.create(CALL)).choices).toHaveLength(1);
  for (const hole of holes) hole.goDark('both ways');
  await untilLinked(pair.near, false);
  await until(async () => (await onlineAt(pair.near)).length === 0);
  await expect(pair.client.chat.completions.create(CALL)).rejects.toMatchObject({
    status: 404,
    code: 'model_offline',
  });
  const atFar = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(CALL) };
  expect((await pair.far.fetch('/v1/chat/completions', atFar)).status).toBe(200);
  const ready = (await (await pair.near.fetch('/readyz')).json()) as object;
  expect(ready).toMatchObject({ node: 'near', others: { running: 1, linked: 0 } });
  for (const hole of holes) hole.heal();
  await untilLinked(pair.near, true);
  expect((await pair.client.chat.completions.create(CALL)).choices).toHaveLength(1);
});

test('a caller who does not read holds at most a window on each hop', async () => {
  const piece = 'x'.repeat(8 * 1024);
  const pieces = 4_000;
  let sent = 0;
  const fake = await newServer();
  fake.behave(async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let i = 0; i < pieces && !response.destroyed; i++) {
      const delta = { choices: [{ index: 0, delta: { content: piece } }], model: 'm', id: 'c' };
      const isFree = response.write(`data: ${JSON.stringify(delta)}\n\n`);
      sent += piece.length;
      if (!isFree) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end('data: [DONE]\n\n');
  });
  const pair = await startPair(await newDatabase());
  await pair.startAgent([serviceOf(fake)]);
  const leaving = new AbortController();
  const response = await pair.near.fetch('/v1/chat/completions', {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ ...CALL, stream: true }),
    signal: leaving.signal,
  });
  expect(response.status).toBe(200);
  // Until nothing moves any more.
  await until(() => sent > 0);
  for (let before = -1; before !== sent;) {
    before = sent;
    await until(() => sent !== before, { timeoutMs: 500 }).catch(() => {});
  }
  expect(sent).toBeLessThan((pieces * piece.length) / 2);
  // Others pass.
  fake.behave(chunks({ count: 2 }));
  const stream = await pair.client.chat.completions.create({ ...CALL, stream: true });
  let read = 0;
  for await (const _ of stream) read += 1;
  expect(read).toBeGreaterThan(1);
  leaving.abort();
});

test('a drained coordinator hands its agents over, and no stream breaks', async () => {
  const fake = await newServer();
  fake.behave(chunks({ count: 200, delayMs: 10 }));
  const pair = await startPair(await newDatabase(), {
    agentsUrl: async (near, far) => {
      // The first link goes to the far one.
      const ports = [far, near].map(({ address }) => Number(new URL(address).port));
      const front = await startFront(ports);
      onTestFinished(() => front.close());
      return front.url;
    },
  });
  await pair.startAgent([serviceOf(fake)]);
  const stream = await pair.client.chat.completions.create({ ...CALL, stream: true });
  let text = '';
  const reading = (async () => {
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  })();
  await until(() => text.length > 0);
  await pair.near.admin('node.drain', { node: 'far' });
  await until(async () => (await pair.far.fetch('/readyz')).status === 503);
  await reading;
  expect(text.split(' ')).toHaveLength(201);
  const agentsOf = async (name: string): Promise<number | undefined> => {
    const nodes = await pair.near.admin('node.list', {});
    return nodes.find((node) => node.name === name)?.agents;
  };
  await until(async () => (await agentsOf('near')) === 1 && (await agentsOf('far')) === 0);
  fake.behave(chunks({ count: 2 }));
  for await (const _ of await pair.client.chat.completions.create({ ...CALL, stream: true }));
  expect(await onlineAt(pair.far)).toEqual(['den-pc']);
  await pair.near.admin('node.resume', { node: 'far' });
  await until(async () => (await pair.far.fetch('/readyz')).status === 200);
});

test('a drained coordinator stays drained when it starts again', async () => {
  const databaseUrl = await newDatabase();
  await startNode('near', databaseUrl);
  const far = await startNode('far', databaseUrl);
  await far.admin('node.drain', { node: 'far' });
  await until(async () => (await far.fetch('/readyz')).status === 503);
  await far.stop();
  const again = await startNode('far', databaseUrl);
  await until(async () => (await again.fetch('/readyz')).status === 503);
});

test('a coordinator that stops finishes what runs for others, and takes no more', async () => {
  const fake = await newServer();
  fake.behave(chunks({ count: 100, delayMs: 10 }));
  const pair = await startPair(await newDatabase(), { drainMs: 20_000, reconnectWaitMs: 100 });
  await pair.startAgent([serviceOf(fake)]);
  const stream = await pair.client.chat.completions.create({ ...CALL, stream: true });
  let text = '';
  const reading = (async () => {
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
  })();
  await until(() => text.length > 0);
  const stopped = pair.far.stop();
  await until(async () => (await pair.far.fetch('/readyz').catch(() => null)) === null);
  await expect(pair.client.chat.completions.create(CALL)).rejects.toThrow();
  await reading;
  expect(text.split(' ')).toHaveLength(101);
  await stopped;
  expect(fake.requests).toHaveLength(1);
});

test('agents move to a coordinator that has fewer', async () => {
  const fake = await newServer();
  const ports: number[] = [];
  const pair = await startPair(await newDatabase(), {
    agentsUrl: async (near, far) => {
      const portOf = ({ address }: typeof near): number => Number(new URL(address).port);
      // The first six go to the far one.
      ports.push(...Array<number>(6).fill(portOf(far)), portOf(near));
      const front = await startFront(ports);
      onTestFinished(() => front.close());
      return front.url;
    },
  });
  for (let i = 0; i < 6; i++) await pair.startAgent([serviceOf(fake)], `pc-${i}`);
  const agents = async (): Promise<readonly number[]> => {
    const nodes = await pair.near.admin('node.list', {});
    return nodes.map((node) => node.agents);
  };
  // Of six, half is three: a quarter more and one are five.
  await until(async () => (await agents()).join() === '5,1', { timeoutMs: 50_000 });
  expect(await onlineAt(pair.near)).toHaveLength(6);
});

test('the set-up link of one makes the first administrator at any other, once', async () => {
  const databaseUrl = await newDatabase();
  const [near, far] = [await startNode('near', databaseUrl), await startNode('far', databaseUrl)];
  const token = near.setupLink?.split('#')[1] ?? '';
  expect(far.setupLink).toBe(`${far.address}/setup#${token}`);
  const setUp = async ({ address }: typeof near, name: string): Promise<number> => {
    const admin = { token, name, email: `${name}@example.org`, password: 'correct horse battery' };
    const headers = { ...JSON_TYPE, origin: address };
    const sent = { method: 'POST', headers, body: JSON.stringify(admin) };
    return (await fetch(`${address}/api/setup`, sent)).status;
  };
  expect(await setUp(far, 'anna')).toBeLessThan(300);
  expect(await setUp(near, 'ben')).toBeGreaterThanOrEqual(400);
});

/** A made-up coordinator, which offers agents to the one of that name. */
async function linkTo(name: string, databaseUrl: string): Promise<WebSocket> {
  const [{ url, id, secret } = { url: '', id: '', secret: '' }] = await onServer(
    databaseUrl,
    (sql) =>
      sql.rows<{ url: string; id: string; secret: string }>(
        `select url, s.id, encode(secret, 'hex') as secret from nodes n, secrets s
         where n.id = '${name}' and purpose = 'node links'`,
      ),
  );
  const key = { id, secret: Buffer.from(secret, 'hex'), ageMs: 0 };
  const opened = await dialNode(url, key, () => {});
  if (opened === null) throw new Error(`${name} is not reached`);
  onTestFinished(() => opened.socket.terminate());
  const socket = opened.socket as WebSocket;
  socket.send(JSON.stringify({ t: 'HELLO', node: 'new', version: '9.0.0' }));
  return socket;
}

test('a message that cannot be read costs no link', async () => {
  const databaseUrl = await newDatabase();
  const { near } = await startPair(databaseUrl);
  const socket = await linkTo(near.name, databaseUrl);
  const codes: number[] = [];
  socket.on('close', (code) => codes.push(code));
  const unreadable = [
    { t: 'LINKED', provider_id: 5 },
    { t: 'STATE', states: 'none' },
    { t: 'OFFER', want: -1 },
    { t: 'HINT' },
    { t: 'PART', stream: 1, index: 33, content_type: 'image/png' },
    { t: 'a message of the next version' },
    [],
  ];
  for (const message of unreadable) socket.send(JSON.stringify(message));
  socket.send('no JSON');
  const heard = once(socket, 'pong');
  socket.ping();
  await heard;
  expect([socket.readyState, codes]).toEqual([socket.OPEN, []]);
});
