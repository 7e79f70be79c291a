/** A key that may request work at some endpoints only. */
import { CALL_PATHS } from '@inference-gateway/shared/endpoints';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answer } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { chatItem, submitBatch } from './job-calls.js';
import { CHAT, chat, failureOf, post } from './requests.js';
import type { Caller } from './requests.js';

const MESSAGES = '/v1/messages';
const EMBEDDINGS = '/v1/embeddings';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  const served = await openServedGateway();
  ({ gateway, fake } = served);
  return served.stop;
});

beforeEach(() => fake.behave(answer()));

let made = 0;

/** Another key of Anna's. */
async function keyFor(...endpoints: string[]): Promise<Caller & { readonly id: string }> {
  const told = { user: 'anna', name: `key-${++made}`, scope: 'any', expires_in_s: null } as const;
  const { id, key } = await gateway.admin('key.create', { ...told, endpoints });
  return {
    id,
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${key}`);
      return gateway.fetch(path, { ...init, headers });
    },
  };
}

it.each([...CALL_PATHS, `${MESSAGES}/count_tokens`].filter((path) => path !== CHAT))(
  'is refused at %s, before a byte of the body is read',
  async (path) => {
    const key = await keyFor(CHAT);
    const response = await post(key, 'no JSON', { path });
    const refused = await failureOf(response);
    const type = path.startsWith(MESSAGES) ? 'permission_error' : 'forbidden';
    expect(refused).toMatchObject({ status: 403, type, code: 'not_allowed' });
    expect(refused.message).toContain(`may not call ${path}, only ${CHAT}.`);
    expect(response.headers.get('x-ratelimit-limit')).not.toBeNull();
  },
);

it.each(['/v1/embeddings/', '//v1//embeddings', '/v2/rerank', '/v1/rerank?x=1'])(
  'and by no other name of an endpoint: %s',
  async (path) => {
    const asked = await post(await keyFor(CHAT), {}, { path });
    expect(await failureOf(asked)).toMatchObject({ status: 403, code: 'not_allowed' });
  },
);

it('works where it may, in every way', async () => {
  const key = await keyFor(CHAT);
  expect((await post(key, chat())).status).toBe(200);
  expect((await post(key, chat({ async: true }))).status).toBe(202);
  expect((await submitBatch(key, [chatItem()])).status).toBe(202);
  for (const path of ['/v1/models', '/v1/jobs', '/v1/batches', '/api/inference/assets']) {
    expect((await key.fetch(path)).status).toBe(200);
  }
});

it('at what is below an endpoint, too: counting belongs to messages', async () => {
  const asked = { model: 'tiny', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] };
  const key = await keyFor(MESSAGES);
  expect((await post(key, asked, { path: MESSAGES })).status).toBe(200);
  expect((await post(key, asked, { path: `${MESSAGES}/count_tokens` })).status).toBe(200);
  expect((await post(key, chat())).status).toBe(403);
});

describe('in a batch', () => {
  it('an item for another endpoint refuses all of it', async () => {
    const key = await keyFor(CHAT);
    const items = [chatItem(), { endpoint: EMBEDDINGS, body: { model: 'tiny', input: 'a' } }];
    const refused = await failureOf(await submitBatch(key, items));
    expect(refused).toMatchObject({ status: 400, code: 'invalid_item' });
    expect(refused.message).toContain(`In requests[1].body: The API key`);
    const { data } = (await (await key.fetch('/v1/jobs')).json()) as { data: object[] };
    expect(data).toEqual([]);
  });

  it('that is a file, its endpoint decides', async () => {
    const named = { input_file_id: 'file-unknown', completion_window: '24h' };
    const ask = async (endpoint: string) =>
      failureOf(await post(await keyFor(CHAT), { ...named, endpoint }, { path: '/v1/batches' }));
    expect(await ask(EMBEDDINGS)).toMatchObject({ status: 403, code: 'not_allowed' });
    expect(await ask(CHAT)).toMatchObject({ status: 404 });
  });

  it('an item in the form of another API is one for another endpoint', async () => {
    const messages = [{ role: 'user', content: 'hello' }];
    const body = { model: 'tiny', max_tokens: 5, messages };
    const items = [{ endpoint: MESSAGES, body }];
    expect((await submitBatch(await keyFor(CHAT), items)).status).toBe(400);
    expect((await submitBatch(await keyFor(MESSAGES), items)).status).toBe(202);
  });
});

it('a change applies from the next call on, and null frees the key', async () => {
  const key = await keyFor(CHAT);
  await gateway.admin('key.limit', { key: key.id, endpoints: [EMBEDDINGS] });
  expect((await post(key, chat())).status).toBe(403);
  await gateway.admin('key.limit', { key: key.id, endpoints: null });
  expect((await post(key, chat())).status).toBe(200);
});

it('an endpoint that does not exist is refused, with those that do', async () => {
  const limiting = gateway.admin('key.limit', { key: 'anna/test', endpoints: ['/v1/chat'] });
  await expect(limiting).rejects.toThrow(/name some of \/v1\/chat\/completions, /);
});
