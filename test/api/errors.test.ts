import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answer, hangBeforeHeaders, html500, reply } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { Behaviour, FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectRawAgent, DOCUMENT } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { RawCaller } from './raw-caller.js';
import { administer, CHAT, chat, failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway({ syncDeadlineMs: 400, reconnectWaitMs: 50 });
  fake = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
});

beforeEach(() => fake.behave(answer()));

afterAll(async () => {
  await gateway.stop();
  await fake.close();
});

const refusing = (status: number, message: string, fields: object = {}): Behaviour =>
  reply(status, { error: { message, ...fields } });

/** What a local server may do to a request, and what the caller is told. */
const UPSTREAM: readonly [string, Behaviour, object][] = [
  [
    'its 400 keeps its message',
    refusing(400, 'tools need a chat template', { type: 'whatever', code: 400 }),
    {
      status: 400,
      type: 'invalid_request_error',
      code: 'provider_rejected',
      message: 'tools need a chat template',
      retry: null,
    },
  ],
  [
    'its 422 is a refusal, too',
    reply(422, { detail: [{ loc: ['body', 'top_k'], msg: 'not an integer' }] }),
    { status: 400, code: 'provider_rejected', message: 'body.top_k: not an integer' },
  ],
  [
    'a prompt that is too long',
    refusing(400, 'the request exceeds the available context size', {
      type: 'exceed_context_size_error',
    }),
    { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded', retry: null },
  ],
  [
    'its own 401 never becomes ours',
    refusing(401, 'Invalid API Key'),
    { status: 502, type: 'upstream_error', code: 'provider_auth_failed', retry: 'false' },
  ],
  [
    'its 403 neither',
    refusing(403, 'forbidden'),
    { status: 502, type: 'upstream_error', code: 'provider_auth_failed', retry: 'false' },
  ],
  [
    'its 404 is its own affair',
    refusing(404, 'model not loaded'),
    { status: 502, type: 'upstream_error', code: 'provider_error', retry: 'false' },
  ],
  [
    'its 500',
    refusing(500, 'CUDA out of memory'),
    { status: 502, type: 'upstream_error', code: 'provider_error', retry: 'false' },
  ],
  [
    'the error page of a web server',
    html500(),
    { status: 502, type: 'upstream_error', code: 'provider_error', retry: 'false' },
  ],
  [
    'a page instead of an answer',
    reply(200, '<html>hello</html>', 'text/html'),
    { status: 502, type: 'upstream_error', code: 'provider_error', retry: 'false' },
  ],
  [
    'an answer without choices',
    reply(200, { id: 'x', choices: [] }),
    { status: 502, type: 'upstream_error', code: 'provider_error', retry: 'false' },
  ],
  [
    'an error that claims success',
    reply(200, { error: 'the model crashed' }),
    { status: 502, type: 'upstream_error', code: 'provider_error', retry: 'false' },
  ],
  [
    'a connection that is cut',
    (_, response) => void response.destroy(),
    { status: 502, type: 'upstream_error', code: 'provider_error', retry: 'false' },
  ],
  [
    'silence until the deadline',
    hangBeforeHeaders(),
    { status: 502, type: 'upstream_error', code: 'provider_timeout', retry: 'false' },
  ],
];

describe.each([false, true])('what the local server does wrong (stream: %s)', (stream) => {
  it.each(UPSTREAM)('%s', async (_, behaviour, expected) => {
    fake.behave(behaviour);
    expect(await failureOf(await post(gateway, chat({ stream })))).toMatchObject(expected);
  });
});

it('a provider’s trouble names the provider and says what happened', async () => {
  fake.behave(refusing(500, 'CUDA out of memory'));
  const { message } = await failureOf(await post(gateway, chat()));
  expect(message).toContain('den-pc');
  expect(message).toContain('CUDA out of memory');
});

it('a provider’s own 401 says nothing of its key', async () => {
  fake.behave(refusing(401, 'Invalid API Key sk-local-123'));
  const { message } = await failureOf(await post(gateway, chat()));
  expect(message).not.toContain('sk-local-123');
});

it.each([503, 429, 408, 425])(
  'the local server’s %i for longer than a call waits is 503 capacity_exhausted',
  async (status) => {
    const own = await startGateway({ syncWaitMs: 50 });
    await own.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
    fake.behave(refusing(status, 'Loading model'));
    const response = await post(own, chat());
    expect(response.headers.get('retry-after')).toBe('5');
    expect(response.headers.get('retry-after-ms')).toBe('5000');
    const failure = await failureOf(response);
    expect(failure).toMatchObject({
      status: 503,
      type: 'server_error',
      code: 'capacity_exhausted',
      retry: null,
    });
    expect(failure.message).toContain('Loading model');
  },
);

it('the body of an error is always {error: {message, type, code, param}}', async () => {
  const answers = await Promise.all([
    gateway.fetch('/v1/nothing'),
    gateway.fetch('/nothing'),
    post(gateway, '{'),
    post(gateway, chat({ model: 'other' })),
    post(gateway, chat({ messages: 1 })),
    post(gateway, chat({ async: true })),
    fetch(gateway.baseUrl),
  ]);
  for (const response of answers) {
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const body = (await response.json()) as { error: Record<string, unknown> };
    expect(Object.keys(body)).toEqual(['error']);
    expect(Object.keys(body.error)).toEqual(['message', 'type', 'code', 'param']);
    expect(body.error['message']).toMatch(/\.$/);
    expect(body.error['code']).toEqual(expect.any(String));
  }
});

describe('405 method_not_allowed, with Allow', () => {
  it.each([
    ['GET', CHAT, 'POST'],
    ['DELETE', '/v1/models', 'HEAD, GET'],
    ['POST', '/v1/models/tiny', 'HEAD, GET'],
    ['POST', '/v1/audio/voices', 'HEAD, GET'],
    ['PUT', '/v1/images/generations', 'POST'],
    ['POST', '/healthz', 'HEAD, GET'],
  ])('%s %s', async (method, path, allow) => {
    const response = await gateway.fetch(path, { method });
    expect(response.headers.get('allow')).toBe(allow);
    expect(await failureOf(response)).toMatchObject({
      status: 405,
      type: 'invalid_request_error',
      code: 'method_not_allowed',
    });
  });
});

describe('404 no_provider', () => {
  it('names near matches', async () => {
    const failure = await failureOf(await post(gateway, chat({ model: 'tinny' })));
    expect(failure).toMatchObject({
      status: 404,
      type: 'no_provider',
      code: 'model_not_found',
      param: 'model',
      retry: null,
    });
    expect(failure.message).toContain("'tinny'");
    expect(failure.message).toContain("Did you mean 'tiny'?");
  });

  it('else what is online', async () => {
    const { message } = await failureOf(await post(gateway, chat({ model: 'gpt-5-turbo' })));
    expect(message).toContain("Online now: 'tiny'.");
  });

  it('is model_offline where somebody served it who is drained now', async () => {
    await administer(gateway, 'provider.drain', { provider: 'den-pc' });
    const failure = await failureOf(await post(gateway, chat()));
    await administer(gateway, 'provider.resume', { provider: 'den-pc' });
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_offline' });
  });
});

describe('502 provider_disconnected', () => {
  it('may be tried again: the socket was lost, and no other provider is there', async () => {
    const own = await startGateway();
    const agent = await connectRawAgent(own.address, await own.anna.enroll('raw'));
    const call = post(own, chat({ model: 'm' }));
    await agent.nextOpen();
    agent.socket.terminate();
    expect(await failureOf(await call)).toMatchObject({
      status: 502,
      type: 'upstream_error',
      code: 'provider_disconnected',
      retry: null,
    });
  });

  it.each(STOCK_CLIENTS)('so $version tries again and succeeds', async ({ Sdk }) => {
    const own = await startGateway();
    const token = await own.anna.enroll('raw');
    const lost = await connectRawAgent(own.address, token);
    const client = connect(Sdk, own, { maxRetries: 2 });
    const call = client.chat.completions.create(chat({ model: 'm' }));
    await lost.nextOpen();
    lost.socket.terminate();
    const back = await connectRawAgent(own.address, token);
    const { stream } = await back.nextOpen();
    back.answer(stream, DOCUMENT);
    expect((await call).choices[0]?.message.content).toBe('ok');
  });
});

it('503 shutting_down is what a request gets that comes during the drain', async () => {
  const own = await startGateway({ drainMs: 2_000 });
  await own.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  fake.once(hangBeforeHeaders());
  const busy = new RawCaller(own);
  const body = JSON.stringify(chat());
  busy.post(own.anna.key, { 'content-length': body.length }).socket.write(body);
  const late = new RawCaller(own);
  late.socket.write(`GET /readyz HTTP/1.1\r\n`);
  await until(() => fake.inFlight === 1);
  const stopped = own.stop();
  late.socket.write('host: gateway\r\n\r\n');
  expect(await late.status()).toBe(503);
  expect(late.received).toContain('"code":"shutting_down"');
  expect(late.received.toLowerCase()).toContain('retry-after: 5');
  busy.socket.destroy();
  await stopped;
});

describe.each(STOCK_CLIENTS)('$version', ({ Sdk }) => {
  const ask = (fields: object = {}) =>
    connect(Sdk, gateway, { maxRetries: 2 })
      .chat.completions.create({ ...chat(), ...fields })
      .catch((error: unknown) => error);

  it.each<[string, object, Behaviour, keyof typeof Sdk, object]>([
    ['BadRequestError', { messages: [] }, answer(), 'BadRequestError', { param: 'messages' }],
    ['NotFoundError', { model: 'x' }, answer(), 'NotFoundError', { type: 'no_provider' }],
    [
      'BadRequestError for the local server’s 400',
      {},
      refusing(400, 'no'),
      'BadRequestError',
      { code: 'provider_rejected' },
    ],
    [
      'InternalServerError for the local server’s 500',
      {},
      refusing(500, 'no'),
      'InternalServerError',
      { code: 'provider_error', type: 'upstream_error' },
    ],
  ])('raises %s', async (_, fields, behaviour, name, expected) => {
    fake.behave(behaviour);
    const failure = await ask(fields);
    expect(failure).toBeInstanceOf(Sdk[name]);
    expect(failure).toMatchObject({
      ...expected,
      requestID: expect.stringMatching(/^req_/) as string,
    });
  });

  it('does not send a failed prompt to the card again', async () => {
    const before = fake.requests.length;
    fake.behave(refusing(500, 'CUDA out of memory'));
    expect(await ask()).toMatchObject({ status: 502 });
    fake.behave(refusing(401, 'no'));
    expect(await ask()).toMatchObject({ status: 502 });
    fake.behave(hangBeforeHeaders());
    expect(await ask()).toMatchObject({ status: 502, code: 'provider_timeout' });
    expect(fake.requests.length - before).toBe(3);
  });
});
