import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { CHAT, chat, failureOf, post, remaining } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  const served = await openServedGateway({ asyncEnabled: false });
  ({ gateway, fake } = served);
  return served.stop;
});

const PATHS = [
  CHAT,
  '/v1/completions',
  '/v1/audio/speech',
  '/v1/images/generations',
  '/v1/videos/generations',
  '/v1/music/generations',
];

const DISABLED = {
  status: 503,
  type: 'async_disabled',
  code: 'async_disabled',
  param: null,
  retry: 'false',
};

describe('when async processing is not enabled, every async endpoint returns 503', () => {
  it.each(PATHS)('POST %s', async (path) => {
    const body = { ...chat(), prompt: 'x', input: 'x', async: true };
    expect(await failureOf(await post(gateway, body, { path }))).toMatchObject(DISABLED);
  });

  it.each<[string, string]>([
    ['GET', '/v1/jobs'],
    ['GET', '/v1/jobs/01ABC'],
    ['POST', '/v1/jobs/01ABC/cancel'],
    ['POST', '/v1/jobs/01ABC/retry'],
    ['POST', '/v1/batches'],
    ['GET', '/v1/batches'],
    ['GET', '/v1/batches/01ABC'],
    ['POST', '/v1/batches/01ABC/cancel'],
  ])('%s %s', async (method, path) => {
    expect(await failureOf(await gateway.fetch(path, { method }))).toMatchObject(DISABLED);
  });

  it.each(STOCK_CLIENTS)('and $version does not try again', async ({ Sdk }) => {
    const before = await remaining(gateway);
    const client = connect(Sdk, gateway, { maxRetries: 2 });
    const failure = await client.chat.completions
      .create(chat({ async: true }))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.InternalServerError);
    expect(failure).toMatchObject({ status: 503, type: 'async_disabled' });
    expect(before - (await remaining(gateway))).toBe(1);
  });
});

it('synchronous calls, async: false among them, work as ever', async () => {
  for (const fields of [{}, { async: false }]) {
    expect((await post(gateway, chat(fields))).status).toBe(200);
  }
  expect(fake.requests).toHaveLength(2);
});

it.each([
  ['a missing field', { async: true }],
  ['a field of a wrong type', chat({ async: true, messages: 'hello' })],
  ['a webhook that is none', chat({ async: true, webhook: { url: 'ftp://example.org' } })],
  ['a model that nobody has', chat({ async: true, model: 'gone' })],
])('503 comes before %s is told', async (_, body) => {
  expect(await failureOf(await post(gateway, body))).toMatchObject(DISABLED);
});

it.each([
  ['async is no boolean', { async: 'true' }, 'async'],
  ['async is false', { async: false, messages: [] }, 'messages'],
])('where %s, a request is told what is wrong with it', async (_, fields, param) => {
  expect(await failureOf(await post(gateway, chat(fields)))).toMatchObject({ status: 400, param });
});
