import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Catalog } from '@inference-gateway/agent/backends/catalog/catalog';
import type { CatalogOptions } from '@inference-gateway/agent/backends/catalog/catalog';
import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { expect, onTestFinished, test } from 'vitest';
import { startFakeLlamaServer, startFakeOpenAi } from '../../../support/fake-openai-server.js';
import type { FakeOpenAiOptions } from '../../../support/fake-openai-server.js';
import type { FakeModelServer } from '../../../support/fake-model-server.js';
import { configuredServer } from '../../../support/configured-server.js';
import { hangBeforeHeaders } from '../../../support/fake-behaviours.js';
import { until } from '../../../support/until.js';
import { chat } from '../conformance-stage.js';

const QUICK: CatalogOptions = { pollMs: 40, describeTimeoutMs: 1_000 };

async function fakeServer(options: FakeOpenAiOptions = {}): Promise<FakeModelServer> {
  const fake = await startFakeOpenAi(options);
  onTestFinished(() => fake.close());
  return fake;
}

function catalogOf(services: readonly ServiceConfig[], options = QUICK) {
  const catalog = new Catalog(services, options);
  onTestFinished(() => catalog.close());
  let changes = 0;
  catalog.onChange(() => changes++);
  return { catalog, changes: () => changes };
}

const ids = (prefix: string) => Array.from({ length: 300 }, (_, i) => `${prefix}${i}`);

const idsOf = (catalog: Catalog) =>
  catalog.services().flatMap(({ models }) => models.map(({ id }) => id));

/** Accepts connections and never says a word. */
async function silentServer(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test('advertises the services that are up and have models, as the link wants them', async () => {
  const one = await fakeServer({ models: ['/home/ann/tiny.gguf'] });
  const empty = await fakeServer({ models: [] });
  const { catalog } = catalogOf([
    configuredServer(one.baseUrl, { id: 'a', slots: 4, slotGroup: 'gpu0' }),
    configuredServer(empty.baseUrl, { id: 'b' }),
    configuredServer('http://127.0.0.1:1/v1', { id: 'c' }),
  ]);
  await catalog.start();
  expect(catalog.services()).toEqual([
    {
      service_id: 'a',
      service_type: 'llm',
      slots: 4,
      slot_group: 'gpu0',
      models: [expect.objectContaining({ id: 'tiny.gguf', served_name: 'tiny.gguf' })],
    },
  ]);
  expect(catalog.find('a')).toMatchObject({
    type: 'llm',
    slots: 4,
    slotGroup: 'gpu0',
    models: [{ id: 'tiny.gguf', served_name: '/home/ann/tiny.gguf' }],
  });
  expect(catalog.entries().map(({ config }) => config.id)).toEqual(['a', 'b']);
  expect(catalog.find('c')).toBeUndefined();
  expect(catalog.status()).toMatchObject([
    { id: 'a', state: 'up', reason: null, models: ['tiny.gguf'], slots: 4 },
    { id: 'b', state: 'up', models: [] },
    { id: 'c', state: 'down', reason: expect.stringContaining('ECONNREFUSED') },
  ]);
});

test('slots are the configured, else the reported, else one', async () => {
  const llama = await startFakeLlamaServer();
  onTestFinished(() => llama.close());
  const plain = await fakeServer();
  const backend = 'llama-server';
  const { catalog } = catalogOf([
    configuredServer(llama.baseUrl, { id: 'reported', backend }),
    configuredServer(llama.baseUrl, { id: 'configured', backend, slots: 9_999 }),
    configuredServer(plain.baseUrl, { id: 'unknown' }),
  ]);
  await catalog.start();
  expect(catalog.services().map(({ slots }) => slots)).toEqual([2, 1_024, 1]);
});

test('a server that goes down leaves, and returns when it is back', async () => {
  const fake = await fakeServer();
  const { catalog, changes } = catalogOf([configuredServer(fake.baseUrl)]);
  await catalog.start();
  expect(idsOf(catalog)).toEqual(['tiny']);
  expect(changes()).toBe(1);
  await fake.close();
  await until(() => catalog.services().length === 0);
  expect(changes()).toBe(2);
  const back = await startFakeOpenAi({ port: fake.port, models: ['tiny', 'new'] });
  onTestFinished(() => back.close());
  await until(() => catalog.services().length === 1);
  expect(idsOf(catalog)).toEqual(['tiny', 'new']);
  expect(changes()).toBe(3);
});

test('a new model arrives by itself, and an unchanged list says nothing', async () => {
  const fake = await fakeServer();
  const { catalog, changes } = catalogOf([configuredServer(fake.baseUrl)]);
  await catalog.start();
  const asked = fake.gets.length;
  await until(() => fake.gets.length > asked + 3);
  expect(changes()).toBe(1);
  const since = catalog.status()[0]?.since;
  fake.routes['/v1/models'] = { data: [{ id: 'tiny' }, { id: 'new' }] };
  await until(() => idsOf(catalog).length === 2);
  expect(changes()).toBe(2);
  expect(catalog.status()[0]?.since).toBe(since);
});

test('one stumble is forgiven: the second question is asked at once', async () => {
  const fake = await fakeServer();
  const { catalog, changes } = catalogOf([configuredServer(fake.baseUrl)]);
  await catalog.start();
  let stumbled = 0;
  const list = fake.routes['/v1/models'];
  fake.routes['/v1/models'] = () => (stumbled++ === 0 ? { error: 'busy' } : list);
  await until(() => stumbled > 3);
  expect(changes()).toBe(1);
  expect(idsOf(catalog)).toEqual(['tiny']);
});

test('a refused request takes the models away at once, and they return soon', async () => {
  const fake = await fakeServer();
  const { catalog } = catalogOf([configuredServer(fake.baseUrl)], { pollMs: 60_000 });
  await catalog.start();
  const asked = fake.gets.length;
  catalog.lost('llm-1', 'connection refused');
  expect(catalog.services()).toEqual([]);
  expect(catalog.find('llm-1')).toBeUndefined();
  expect(catalog.status()[0]).toMatchObject({ state: 'down', reason: 'connection refused' });
  catalog.lost('llm-1', 'again');
  catalog.lost('no-such-service', 'x');
  await until(() => catalog.services().length === 1);
  expect(fake.gets.length).toBe(asked + 1);
});

test('an answer from before a loss does not undo it', async () => {
  const fake = await fakeServer();
  const { catalog } = catalogOf([configuredServer(fake.baseUrl)]);
  await catalog.start();
  const asked = fake.gets.length;
  let lost = false;
  const list = fake.routes['/v1/models'];
  fake.routes['/v1/models'] = () => {
    if (!lost) catalog.lost('llm-1', 'refused');
    lost = true;
    return list;
  };
  await until(() => lost && fake.gets.length > asked);
  expect(catalog.status()[0]).toMatchObject({ state: 'down', reason: 'refused' });
  await until(() => catalog.services().length === 1);
});

test('never asks a service twice at once', async () => {
  const fake = await fakeServer();
  let open = 0;
  let most = 0;
  fake.routes['/v1/models'] = async () => {
    most = Math.max(most, ++open);
    await pause(10);
    open--;
    return { data: [{ id: 'tiny' }] };
  };
  const { catalog } = catalogOf([configuredServer(fake.baseUrl)], { pollMs: 1 });
  await catalog.start();
  await until(() => open === 1);
  for (let i = 0; i < 5; i++) catalog.lost('llm-1', 'refused');
  const asked = fake.gets.length;
  await until(() => fake.gets.length > asked + 3);
  expect(most).toBe(1);
});

test('a server that answers nothing while it runs a request of ours stays until then', async () => {
  const fake = await fakeServer({ behaviour: hangBeforeHeaders() });
  const { catalog, changes } = catalogOf([configuredServer(fake.baseUrl)], {
    pollMs: 40,
    describeTimeoutMs: 100,
  });
  await catalog.start();
  await until(() => catalog.find('llm-1') !== undefined);
  const before = changes();
  const leaving = new AbortController();
  const { backend } = catalog.find('llm-1') ?? {};
  const running = backend?.call({ ...chat({}), signal: leaving.signal }).catch(() => 'left');
  await until(() => fake.inFlight === 1);
  fake.routes = { '/v1/models': () => new Promise(() => {}) };
  const asked = fake.gets.length;
  await until(() => fake.gets.length > asked + 2);
  expect(idsOf(catalog)).toEqual(['tiny']);
  expect(changes()).toBe(before);
  leaving.abort();
  expect(await running).toBe('left');
  await until(() => idsOf(catalog).length === 0);
  expect(catalog.status()[0]).toMatchObject({ state: 'down' });
});

test('a server that hangs leaves after one time limit', async () => {
  const fake = await fakeServer();
  const { catalog } = catalogOf([configuredServer(fake.baseUrl)], {
    pollMs: 40,
    describeTimeoutMs: 200,
  });
  await catalog.start();
  expect(idsOf(catalog)).toEqual(['tiny']);
  const baseUrl = await silentServer();
  const silent = catalogOf([configuredServer(baseUrl)], { pollMs: 40, describeTimeoutMs: 200 });
  const startedAt = performance.now();
  await silent.catalog.start();
  expect(performance.now() - startedAt).toBeLessThan(390);
  expect(silent.catalog.status()[0]).toMatchObject({
    state: 'down',
    reason: expect.stringContaining('did not answer in time'),
  });
});

test('does not wait long for silent servers at the start', async () => {
  const fake = await fakeServer();
  const { catalog } = catalogOf(
    [configuredServer(await silentServer(), { id: 'silent' }), configuredServer(fake.baseUrl)],
    { describeTimeoutMs: 10_000 },
  );
  const startedAt = performance.now();
  await catalog.start();
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  expect(idsOf(catalog)).toEqual(['tiny']);
  expect(catalog.status()[0]).toMatchObject({ state: 'starting' });
});

test('at most 512 models go out, in the configured order, and the rest is warned of', async () => {
  const one = await fakeServer({ models: ids('a') });
  const two = await fakeServer({ models: ids('b') });
  const services = [
    configuredServer(one.baseUrl, { id: 'one' }),
    configuredServer(two.baseUrl, { id: 'two' }),
  ];
  const warnings: unknown[] = [];
  const warn = (about: unknown) => warnings.push(about);
  const logger = { warn, info: () => undefined } as unknown as Logger;
  const { catalog } = catalogOf(services, { ...QUICK, logger });
  await catalog.start();
  expect(catalog.services().map(({ models }) => models.length)).toEqual([300, 212]);
  expect(warnings).toEqual([{ count: 88, first: 'b212', limit: 512 }]);
  expect(catalog.find('two')?.models).toHaveLength(300);
});

test('a snapshot fits in one message, however long the names', async () => {
  const models = Array.from({ length: 512 }, (_, i) => `${'ü'.repeat(240)}${i}`);
  const fake = await fakeServer({ models });
  const { catalog } = catalogOf([configuredServer(fake.baseUrl)]);
  await catalog.start();
  const size = Buffer.byteLength(JSON.stringify(catalog.services()));
  expect(size).toBeLessThan(192 * 1024);
  expect(size).toBeGreaterThan(170 * 1024);
});

test('a closed catalog asks nobody', async () => {
  const fake = await fakeServer();
  const { catalog } = catalogOf([configuredServer(fake.baseUrl)], { pollMs: 5 });
  await catalog.start();
  await until(() => fake.gets.length > 2);
  catalog.close();
  const asked = fake.gets.length;
  const other = catalogOf([configuredServer(fake.baseUrl)], { pollMs: 60_000 });
  await other.catalog.start();
  await until(() => fake.gets.length > asked);
  expect(fake.gets.length).toBeLessThanOrEqual(asked + 2);
});
