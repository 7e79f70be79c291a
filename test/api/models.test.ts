import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestAgent, TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { administer, failureOf } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let first: FakeModelServer;
let second: FakeModelServer;
let speech: FakeModelServer;
let agent: TestAgent;

const ID = 'org/Model:7b';

beforeAll(async () => {
  gateway = await openGateway();
  const facts = { id: ID, max_model_len: 8192, capabilities: ['tools'] };
  first = await startFakeOpenAi({ models: [facts, 'plain'] });
  second = await startFakeOpenAi({
    models: [{ id: ID, max_model_len: 4096, capabilities: ['vision', 'reasoning'] }],
  });
  speech = await startFakeOpenAi({ models: ['plain'] });
  const stt = { id: 'stt-0', type: 'stt', baseUrl: speech.baseUrl } as const;
  agent = await gateway.startAgent({ services: [{ baseUrl: first.baseUrl }, stt] });
  await gateway.startAgent({ name: 'old-pc', services: [{ baseUrl: second.baseUrl }] });
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([first.close(), second.close(), speech.close()]);
});

interface Row {
  readonly id: string;
  readonly service_type: string;
}

async function list(): Promise<Row[]> {
  const response = await gateway.fetch('/v1/models');
  return ((await response.json()) as { data: Row[] }).data;
}

it('GET /models returns the model list, with the fields of Model', async () => {
  const response = await gateway.fetch('/v1/models');
  expect(response.status).toBe(200);
  const body = (await response.json()) as { object: string; data: Row[] };
  expect(Object.keys(body).toSorted()).toEqual(['data', 'object']);
  expect(body.object).toBe('list');
  expect(body.data.find(({ id }) => id === ID)).toEqual({
    id: ID,
    object: 'model',
    created: expect.any(Number) as number,
    owned_by: 'Anna',
    service_type: 'llm',
    input_modalities: ['text', 'image'],
    output_modalities: ['text'],
    supported_features: ['tools', 'reasoning'],
    context_length: 4096,
  });
});

it('created is in Unix seconds', async () => {
  const { created } = await gateway.client.models.retrieve(ID);
  expect(Number.isInteger(created)).toBe(true);
  expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(600);
});

it('there is one row an id and service type', async () => {
  const rows = (await list()).map(({ id, service_type: type }) => `${id} ${type}`);
  expect(rows.toSorted()).toEqual([`${ID} llm`, 'plain llm', 'plain stt']);
});

it('the context length is null where no server tells it', async () => {
  const plain = (await list()).find((row) => row.id === 'plain' && row.service_type === 'llm');
  expect(plain).toMatchObject({ context_length: null, output_modalities: ['text'] });
});

it('a speech-to-text model takes audio', async () => {
  const plain = (await list()).find((row) => row.service_type === 'stt');
  expect(plain).toMatchObject({ input_modalities: ['audio'], output_modalities: ['text'] });
});

it('the list carries the rate-limit headers', async () => {
  const { headers } = await gateway.fetch('/v1/models');
  expect(Number(headers.get('x-ratelimit-limit'))).toBeGreaterThan(0);
  expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
});

it('the list is answered from memory, never by asking agents', async () => {
  const asked = first.gets.length;
  for (let i = 0; i < 10; i++) await list();
  // The agent polls the server every 10 s, which may happen just now.
  expect(first.gets.length - asked).toBeLessThanOrEqual(1);
});

describe.each(STOCK_CLIENTS)('$version', ({ Sdk }) => {
  it('lists the models', async () => {
    const ids = [];
    for await (const model of connect(Sdk, gateway).models.list()) ids.push(model.id);
    expect(ids).toContain(ID);
  });

  it('retrieves a model whose id holds slashes and a colon', async () => {
    const model = await connect(Sdk, gateway).models.retrieve(ID);
    expect(model).toMatchObject({ id: ID, object: 'model', owned_by: 'Anna' });
  });

  it('raises NotFoundError for an unknown id', async () => {
    const failure = connect(Sdk, gateway).models.retrieve('no/such:model');
    await expect(failure).rejects.toBeInstanceOf(Sdk.NotFoundError);
    await expect(failure).rejects.toMatchObject({ status: 404, type: 'no_provider' });
  });
});

describe('GET /models/{id}', () => {
  it.each([
    ['with raw slashes', '/v1/models/org/Model:7b'],
    ['percent-encoded', '/v1/models/org%2FModel%3A7b'],
    ['with a trailing slash', '/v1/models/org/Model:7b/'],
  ])('takes an id %s', async (_, path) => {
    const response = await gateway.fetch(path);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: ID });
  });

  it('an unknown id is 404 no_provider, with what was probably meant', async () => {
    const failure = await failureOf(await gateway.fetch('/v1/models/org/Model:8b'));
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
    expect(failure.message).toContain(`'${ID}'`);
  });

  it('an id that cannot be decoded is an unknown id', async () => {
    const failure = await failureOf(await gateway.fetch('/v1/models/%E0%A4%A'));
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
  });
});

it('the list holds what is online now: a draining provider leaves it and returns', async () => {
  await administer(gateway, 'provider.drain', { provider: 'den-pc' });
  expect((await list()).map(({ id }) => id)).toEqual([ID]);
  await administer(gateway, 'provider.resume', { provider: 'den-pc' });
  expect(await list()).toHaveLength(3);
});

it('an agent that leaves takes its models out of the list, and the rest is told anew', async () => {
  await agent.stop();
  await until(async () => (await list()).length === 1);
  expect(await list()).toMatchObject([
    { id: ID, context_length: 4096, input_modalities: ['text', 'image'] },
  ]);
});
