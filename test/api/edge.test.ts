import { beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { connectRawAgent, DOCUMENT } from '../support/raw-agent.js';
import { chat, failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;

beforeAll(async () => {
  const served = await openServedGateway();
  ({ gateway } = served);
  return served.stop;
});

describe('a trailing slash and doubled slashes reach the same route', () => {
  it.each(['/v1/models/', '/v1//models', '//v1/models', '/v1///models//', '/v1//models?a=b'])(
    'GET %s',
    async (path) => {
      const response = await gateway.fetch(path);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ object: 'list' });
    },
  );

  it.each(['/v1/chat/completions/', '/v1//chat/completions', '/v1/chat//completions'])(
    'POST %s',
    async (path) => {
      expect((await post(gateway, chat(), { path })).status).toBe(200);
    },
  );

  it('a doubled slash lets nobody in without a key', async () => {
    expect((await fetch(`${gateway.address}//v1//models`)).status).toBe(401);
  });

  it.each(['/V1/models', '/API/inference/queue/summary', '/api/Inference/assets'])(
    'a path in other letters, as %s, is another path',
    async (path) => {
      expect(await failureOf(await gateway.fetch(path))).toMatchObject({
        status: 404,
        code: 'unknown_url',
      });
    },
  );

  it.each(STOCK_CLIENTS)('as $version makes them of a base URL that ends in one', async (stock) => {
    const client = connect(stock.Sdk, gateway, { baseURL: `${gateway.baseUrl}/` });
    expect((await client.models.list()).data).toHaveLength(1);
    expect((await client.chat.completions.create(chat())).object).toBe('chat.completion');
  });
});

describe('HEAD works wherever GET does, and on /', () => {
  it.each(['/', '/healthz', '/readyz', '/v1/models', '/v1/models/tiny'])('%s', async (path) => {
    const got = await gateway.fetch(path);
    const head = await gateway.fetch(path, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    const length = (await got.arrayBuffer()).byteLength;
    expect(head.headers.get('content-length')).toBe(String(length));
    expect(head.headers.get('content-type')).toBe(got.headers.get('content-type'));
  });

  it('and answers errors without a body', async () => {
    const head = await fetch(`${gateway.baseUrl}/models`, { method: 'HEAD' });
    expect(head.status).toBe(401);
    expect(await head.text()).toBe('');
  });
});

const preflight = (path: string, asked: string | null = null) =>
  fetch(`${gateway.address}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example.org',
      'access-control-request-method': 'POST',
      ...(asked !== null && { 'access-control-request-headers': asked }),
    },
  });

describe('OPTIONS', () => {
  it.each(['/v1/models', '/v1/chat/completions', '/v1/jobs/x', '/v1/nothing', '/v1//models/'])(
    '%s answers 204 without a key',
    async (path) => {
      const { status, headers } = await preflight(path);
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-max-age')).toBe('86400');
      expect(headers.get('access-control-allow-methods')).toMatch(/GET.*POST.*DELETE/);
    },
  );

  it('reflects the headers that are asked for, whatever they are', async () => {
    const asked = 'authorization,content-type,x-stainless-os,x-brand-new';
    const { headers } = await preflight('/v1/chat/completions', asked);
    expect(headers.get('access-control-allow-headers')).toBe(asked);
    expect(headers.get('vary')?.toLowerCase()).toContain('access-control-request-headers');
  });

  it('allows nothing where nothing is asked for', async () => {
    const { headers } = await preflight('/v1/models');
    expect(headers.get('access-control-allow-headers')).toBeNull();
  });

  it.each(['/', '/healthz', '/agent/v1/enroll'])('says nothing of CORS on %s', async (path) => {
    const { headers } = await preflight(path, 'authorization');
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('a browser may read', () => {
  const OURS = [
    'x-request-id',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'retry-after',
    'retry-after-ms',
    'x-should-retry',
    'x-provider',
    'x-attempts',
    'x-queue-ms',
    'x-gateway-overhead-ms',
  ];
  const origin = { origin: 'https://app.example.org' };

  it('our headers, by their names', async () => {
    const { headers } = await post(gateway, chat(), { headers: origin });
    const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? [];
    expect(exposed.map((name) => name.toLowerCase())).toEqual(expect.arrayContaining(OURS));
  });

  it.each<[string, number, () => Promise<Response>]>([
    ['an answer', 200, () => post(gateway, chat(), { headers: origin })],
    ['a stream', 200, () => post(gateway, chat({ stream: true }), { headers: origin })],
    ['a missing key', 401, () => fetch(`${gateway.baseUrl}/models`, { headers: origin })],
    ['an unknown path', 404, () => gateway.fetch('/v1/nothing', { headers: origin })],
    ['broken JSON', 400, () => post(gateway, '{', { headers: origin })],
    ['a wrong method', 405, () => gateway.fetch('/v1/models', { method: 'PUT' })],
  ])('%s', async (_, status, send) => {
    const response = await send();
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toContain('x-request-id');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    await response.body?.cancel();
  });
});

describe('every answer carries x-request-id', () => {
  const ID = /^req_[0-9A-Za-z]{20}$/;

  it.each<[string, () => Promise<Response>]>([
    ['/', () => gateway.fetch('/')],
    ['/healthz', () => gateway.fetch('/healthz')],
    ['the models', () => gateway.fetch('/v1/models')],
    ['a chat', () => post(gateway, chat())],
    ['a stream', () => post(gateway, chat({ stream: true }))],
    ['a preflight', () => fetch(`${gateway.baseUrl}/models`, { method: 'OPTIONS' })],
    ['a missing key', () => fetch(`${gateway.baseUrl}/models`)],
    ['an unknown path', () => gateway.fetch('/nothing')],
  ])('%s', async (_, send) => {
    const response = await send();
    expect(response.headers.get('x-request-id')).toMatch(ID);
    await response.body?.cancel();
  });

  it('which is ours, never the caller’s, and new each time', async () => {
    const headers = { 'x-request-id': 'mine' };
    const ids = [1, 2].map(async () =>
      (await post(gateway, chat(), { headers })).headers.get('x-request-id'),
    );
    const [first, second] = await Promise.all(ids);
    expect(first).toMatch(ID);
    expect(second).toMatch(ID);
    expect(first).not.toBe(second);
  });

  it('and which reaches the agent', async () => {
    const own = await startGateway();
    const agent = await connectRawAgent(own.address, await own.anna.enroll('raw'));
    const call = post(own, chat({ model: 'm' }));
    const open = await agent.nextOpen();
    agent.answer(open.stream, DOCUMENT);
    expect(open.request_id).toBe((await call).headers.get('x-request-id'));
  });
});

describe('a path that is not there', () => {
  it.each(['/v1', '/v1/', '/v1/chat', '/v1/moderations', '/v1/chat/completions/x', '/v2/models'])(
    '%s is 404 unknown_url',
    async (path) => {
      expect(await failureOf(await gateway.fetch(path))).toMatchObject({
        status: 404,
        type: 'not_found',
        code: 'unknown_url',
        param: null,
      });
    },
  );

  it.each([
    ['/chat/completions', '/v1/chat/completions'],
    ['/models', '/v1/models'],
    ['/v1/v1/chat/completions', '/v1/chat/completions'],
    ['/v1/chat/completion', '/v1/chat/completions'],
    ['/v1/image/generations', '/v1/images/generations'],
    ['/v1/audio/transcription', '/v1/audio/transcriptions'],
    ['/v1/chat/completions/x', '/v1/chat/completions'],
    ['/v1/batch', '/v1/batches'],
    ['/api/inference/asset', '/api/inference/assets'],
  ])('%s is told that %s is near', async (path, near) => {
    const { message } = await failureOf(await gateway.fetch(path, { method: 'POST' }));
    expect(message).toBe(`There is nothing at ${path}. Did you mean ${near}?`);
  });

  it.each([
    ['/v1/assistants', 'Use /v1/chat/completions.'],
    ['/v1/threads/t_1/runs', 'Use /v1/chat/completions.'],
    ['/threads', 'Use /v1/chat/completions.'],
    ['/v1/files/f_1/parts', 'Use /v1/files, '],
    ['/v1/fine_tuning/jobs', 'GET /v1/models'],
    ['/v1/moderations', 'GET /v1/models'],
    ['/v1/realtime/sessions', 'Use /v1/chat/completions.'],
    ['/v1/vector_stores', 'GET /v1/models'],
    ['/v1/images/variations', 'Use /v1/images/edits.'],
    ['/v1/videos', 'Use /v1/videos/generations.'],
    ['/api/chat', 'Use /v1/chat/completions.'],
  ])('%s is known from elsewhere, and not served', async (path, remedy) => {
    const failure = await failureOf(await gateway.fetch(path, { method: 'POST' }));
    expect(failure).toMatchObject({ status: 404, code: 'unknown_url' });
    expect(failure.message).toMatch(/^This gateway does not serve \/(v1|api)\/\w+/);
    expect(failure.message).toContain(remedy);
  });

  it.each(STOCK_CLIENTS)('is told to $version in words', async ({ Sdk }) => {
    const asked = connect(Sdk, gateway).moderations.create({ input: 'x' });
    const failure = await asked.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.NotFoundError);
    expect(String(failure)).toContain('This gateway does not serve /v1/moderations.');
  });

  it('says where the API is', async () => {
    const { message } = await failureOf(await gateway.fetch('/models'));
    expect(message).toContain('/models');
    expect(message).toContain('/v1');
  });
});

it('GET / names the API', async () => {
  expect(await (await fetch(gateway.address)).json()).toMatchObject({ api: '/v1' });
});
