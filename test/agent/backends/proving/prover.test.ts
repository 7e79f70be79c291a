/** Proving as the catalog does it, against real small servers. */
import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { Catalog } from '@inference-gateway/agent/backends/catalog/catalog';
import type { CatalogOptions } from '@inference-gateway/agent/backends/catalog/catalog';
import { ProofFile } from '@inference-gateway/agent/state/proof-file';
import { expect, onTestFinished, test } from 'vitest';
import { configuredServer } from '../../../support/configured-server.js';
import { answer, computing, hangBeforeHeaders, reply } from '../../../support/fake-behaviours.js';
import { startFakeLlamaServer, startFakeOpenAi } from '../../../support/fake-openai-server.js';
import type { FakeOpenAiOptions } from '../../../support/fake-openai-server.js';
import type { Behaviour, FakeModelServer } from '../../../support/fake-model-server.js';
import { startGpt4All } from '../../../support/local-servers/gpt4all.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { until } from '../../../support/until.js';

const LIMIT_MS = 1_000;
const LIMITS = {
  llm: LIMIT_MS,
  stt: LIMIT_MS,
  tts: LIMIT_MS,
  image: LIMIT_MS,
  video: LIMIT_MS,
  music: LIMIT_MS,
  embedding: LIMIT_MS,
  rerank: LIMIT_MS,
};

test('a model is offered once it has passed; one that fails is shown to its owner', async () => {
  const fake = await fakeServer({
    models: ['good', 'broken', 'silent', 'empty'],
    behaviour: byModel({
      good: answer(),
      broken: reply(500, { error: { message: 'out of memory' } }),
      silent: hangBeforeHeaders(),
      empty: reply(200, { choices: [] }),
    }),
  });
  const { catalog, slots } = catalogOf([proven(fake)]);
  await catalog.start();
  expect(catalog.services()).toEqual([]);
  expect(catalog.status()[0]).toMatchObject({ state: 'up', models: [] });
  await until(() => heldBack(catalog).every(({ state }) => state === 'failed'));
  expect(offered(catalog)).toEqual(['good']);
  expect(catalog.find('llm-1')?.models.map(({ id }) => id)).toEqual(['good']);
  expect(catalog.status()[0]?.models).toEqual(['good']);
  expect(heldBack(catalog)).toEqual([
    { id: 'broken', state: 'failed', reason: expect.stringContaining('out of memory') },
    { id: 'silent', state: 'failed', reason: 'no whole answer within 1 s' },
    { id: 'empty', state: 'failed', reason: expect.any(String) },
  ]);
  expect(fake.maxInFlight).toBe(1);
  expect(slots).toEqual({ taken: 4, given: 4 });
});

test('one at a time a server, and loaded models first', async () => {
  const cold = { id: 'cold', status: { value: 'unloaded' } };
  const warm = { id: 'warm', status: { value: 'loaded' } };
  const fake = await fakeServer({ models: [cold, warm], behaviour: answer() });
  const same = proven(fake, { id: 'llm-2', models: null });
  const { catalog } = catalogOf([proven(fake), same]);
  await catalog.start();
  await until(() => offered(catalog).length === 4);
  const asked = fake.requests.map(({ body }) => body['model']);
  expect(asked.indexOf('warm')).toBeLessThan(asked.indexOf('cold'));
  expect(fake.maxInFlight).toBe(1);
});

test('servers side by side: a slow one holds up nobody, and four are asked at once', async () => {
  const slow = await fakeServer({ behaviour: hangBeforeHeaders() });
  const quick = await fakeServer({ behaviour: answer() });
  const { catalog } = catalogOf([proven(slow), proven(quick, { id: 'llm-2' })]);
  await catalog.start();
  await until(() => offered(catalog).length === 1);
  expect(slow.inFlight).toBe(1);
  const many = await Promise.all(Array.from({ length: 6 }, () => fakeServer()));
  for (const fake of many) fake.behave(hangBeforeHeaders());
  const crowd = catalogOf(many.map((fake, at) => proven(fake, { id: `llm-${at}` })));
  await crowd.catalog.start();
  const asked = () => many.filter((fake) => fake.requests.length > 0).length;
  await until(() => asked() === 4);
  const polls = many[5]?.gets.length ?? 0;
  await until(() => (many[5]?.gets.length ?? 0) > polls + 1);
  expect(many.filter(({ inFlight }) => inFlight > 0).length).toBeLessThanOrEqual(4);
});

test.each<[string, Behaviour]>([
  ['closes the connection', (_, response) => void response.destroy()],
  ['answers 503', reply(503, { error: { message: 'unavailable' } })],
  ['is loading', reply(500, { error: { message: 'Loading model', code: 500 } })],
])('a server that %s when it is first asked is asked again in a moment', async (_, early) => {
  const fake = await fakeServer({ behaviour: answer() });
  fake.once(early);
  const { catalog } = catalogOf([proven(fake)]);
  await catalog.start();
  await until(() => fake.requests.length === 1 && fake.inFlight === 0);
  expect(heldBack(catalog)).toEqual([{ id: 'tiny', state: 'proving', reason: null }]);
  await until(() => offered(catalog).length === 1);
  const [first, second] = fake.requests;
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(900);
  expect(fake.requests).toHaveLength(2);
});

test.each([
  ['failed', 200, { data: [{ embedding: [0.25, -0.5] }] }],
  ['failed', 400, { error: { message: "Pooling type 'none' is not OAI compatible." } }],
  ['offered', 501, { error: { message: 'This server does not support embeddings.' } }],
  ['offered', 200, { data: [{ embedding: [0, 0] }] }],
  ['offered', 404, { error: { message: 'File Not Found' } }],
])('llama-server is %s if it answers %i %j for an embedding', async (state, status, body) => {
  const fake = await startFakeLlamaServer({
    behaviour: (request, response) => {
      const isChat = request.path === '/v1/chat/completions';
      return (isChat ? answer() : reply(status, body))(request, response);
    },
  });
  onTestFinished(() => fake.close());
  const { catalog } = catalogOf([proven(fake, { backend: 'llama-server' })]);
  await catalog.start();
  await until(() => offered(catalog).length === 1 || heldBack(catalog)[0]?.state === 'failed');
  expect(offered(catalog)).toEqual(state === 'offered' ? ['tiny'] : []);
  const fault = expect.stringContaining('--embeddings');
  if (state === 'failed') expect(heldBack(catalog)[0]?.reason).toEqual(fault);
});

test('nothing is asked while no slot is free, and all of it afterwards', async () => {
  const fake = await fakeServer();
  let isFree = false;
  const reserve = () => (isFree ? { release: () => undefined } : null);
  const { catalog } = catalogOf([proven(fake)], { reserve });
  await catalog.start();
  const polls = fake.gets.length;
  await until(() => fake.gets.length > polls + 3);
  expect(fake.requests).toEqual([]);
  expect(heldBack(catalog)).toEqual([{ id: 'tiny', state: 'proving', reason: null }]);
  isFree = true;
  await until(() => offered(catalog).length === 1);
});

test('an owner who wants the card ends what is asked, which is asked again later', async () => {
  const fake = await fakeServer();
  fake.once(hangBeforeHeaders());
  const { catalog } = catalogOf([proven(fake)]);
  await catalog.start();
  await until(() => fake.requests.length === 1);
  expect(catalog.idleSince).toBeNull();
  catalog.letProve(false);
  await until(() => fake.aborts.length === 1);
  await until(() => offered(catalog).length === 1);
  expect(fake.requests).toHaveLength(2);
  expect(await until(() => catalog.idleSince)).toBeGreaterThan(0);
});

test('a server that goes meanwhile is down, and its model has not failed', async () => {
  const fake = await fakeServer();
  const { catalog } = catalogOf([proven(fake)], { pollMs: 5_000 });
  fake.routes['/v1/models'] = () => {
    setImmediate(() => void fake.close());
    return { data: [{ id: 'tiny' }] };
  };
  await catalog.start();
  await until(() => catalog.status()[0]?.state === 'down');
  expect(catalog.status()[0]).toMatchObject({ models: [], heldBack: [] });
  const back = await startFakeOpenAi({ port: fake.port });
  onTestFinished(() => back.close());
  await until(() => offered(catalog).length === 1);
});

test('what was proven is not asked again after a restart', async () => {
  const fake = await fakeServer();
  const file = new ProofFile(await temporaryFolder());
  const first = catalogOf([proven(fake)], { file });
  await first.catalog.start();
  await until(() => offered(first.catalog).length === 1);
  await until(async () => (await file.read()).length === 1);
  first.catalog.close();
  const second = catalogOf([proven(fake)], { file });
  await second.catalog.start();
  expect(offered(second.catalog)).toEqual(['tiny']);
  const polls = fake.gets.length;
  await until(() => fake.gets.length > polls + 2);
  expect(fake.requests).toHaveLength(1);
});

test("an owner's test is asked at once, and its outcome counts", async () => {
  const fake = await fakeServer({ behaviour: reply(500, { error: { message: 'no' } }) });
  const { catalog } = catalogOf([proven(fake)]);
  await catalog.start();
  await until(() => heldBack(catalog)[0]?.state === 'failed');
  fake.behave(answer());
  const wanted = { model: 'tiny', service: null, limitMs: null };
  expect(await catalog.test(wanted)).toMatchObject({ ok: true, service: 'llm-1', model: 'tiny' });
  expect(offered(catalog)).toEqual(['tiny']);
  fake.behave(reply(500, { error: { message: 'no' } }));
  expect(await catalog.test(wanted)).toMatchObject({ ok: false });
  expect(offered(catalog)).toEqual([]);
});

test('a test of a trusted model changes nothing, nor does one that is let go', async () => {
  const broken = reply(500, { error: { message: 'no' } });
  const trusted = await fakeServer({ behaviour: broken });
  const slow = await fakeServer({ behaviour: hangBeforeHeaders() });
  const services = [configuredServer(trusted.baseUrl), proven(slow, { id: 'llm-2' })];
  const { catalog } = catalogOf(services, { reserve: () => null });
  await catalog.start();
  const wanted = { model: 'tiny', service: 'llm-1', limitMs: null };
  expect(await catalog.test(wanted)).toMatchObject({ ok: false });
  expect(offered(catalog)).toEqual(['tiny']);
  const letGo = await catalog.test({ model: null, service: 'llm-2', limitMs: 50 });
  expect(letGo).toMatchObject({ ok: false, cut: 'stopped', model: 'tiny' });
  expect(heldBack(catalog, 1)).toEqual([{ id: 'tiny', state: 'proving', reason: null }]);
});

test('what computes on after its limit has failed at once, and keeps its slot', async () => {
  const behaviour = computing(600, 'never');
  const server = await startGpt4All({ behaviour });
  onTestFinished(() => server.close());
  const limitsMs = { ...LIMITS, llm: 50 };
  const { catalog, slots } = catalogOf([proven(server, { backend: 'gpt4all' })], { limitsMs });
  await catalog.start();
  await until(() => heldBack(catalog)[0]?.state === 'failed');
  expect(behaviour.computations).toEqual([{ streamed: false, endedAt: null }]);
  expect(slots).toEqual({ taken: 1, given: 0 });
  await until(() => slots.given === 1);
  expect(behaviour.computations).toMatchObject([{ endedAt: expect.any(Number) }]);
});

test.each([
  [{ model: 'tinny' }, 3, 'did you mean tiny?'],
  [{ model: 'tiny', service: 'llm-9' }, 3, 'did you mean llm-1'],
  [{ model: 'gone' }, 6, 'llm-2 at http://127.0.0.1:1/v1 does not serve'],
  [{ model: null, service: 'llm-2' }, 6, 'ECONNREFUSED'],
])('a test of %j exits %i', async (wanted, exitCode, says) => {
  const fake = await fakeServer();
  const gone = { id: 'gone', servedName: 'gone', contextLength: null };
  const models = [{ ...gone, inputModalities: null, supportedFeatures: null }];
  const down = configuredServer('http://127.0.0.1:1/v1', { id: 'llm-2', models });
  const { catalog } = catalogOf([configuredServer(fake.baseUrl), down]);
  await catalog.start();
  const asked = catalog.test({ service: null, limitMs: null, ...wanted });
  await expect(asked).rejects.toMatchObject({ exitCode, message: expect.stringContaining(says) });
});

async function fakeServer(options: FakeOpenAiOptions = {}): Promise<FakeModelServer> {
  const fake = await startFakeOpenAi(options);
  onTestFinished(() => fake.close());
  return fake;
}

function proven({ baseUrl }: FakeModelServer, changes: Partial<ServiceConfig> = {}): ServiceConfig {
  return configuredServer(baseUrl, { prove: true, ...changes });
}

interface Proving extends NonNullable<CatalogOptions['proving']> {
  readonly pollMs?: number;
}

function catalogOf(services: readonly ServiceConfig[], { pollMs = 40, ...proving }: Proving = {}) {
  const slots = { taken: 0, given: 0 };
  const reserve = () => {
    slots.taken++;
    return { release: () => void slots.given++ };
  };
  const catalog = new Catalog(services, {
    pollMs,
    proving: { reserve, limitsMs: LIMITS, ...proving },
  });
  onTestFinished(() => catalog.close());
  return { catalog, slots };
}

function offered(catalog: Catalog): string[] {
  return catalog.services().flatMap(({ models }) => models.map(({ id }) => id));
}

function heldBack(catalog: Catalog, service = 0) {
  return catalog.status()[service]?.heldBack ?? [];
}

function byModel(behaviours: Readonly<Record<string, Behaviour>>): Behaviour {
  return (request, response) => behaviours[String(request.body['model'])]?.(request, response);
}
