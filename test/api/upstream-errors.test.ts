import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answer, hangBeforeHeaders, html500, reply } from '../support/fake-behaviours.js';
import type { Behaviour, FakeModelServer } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';
import { chat, failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  const served = await openServedGateway({ syncDeadlineMs: 250 });
  ({ gateway, fake } = served);
  return served.stop;
});

beforeEach(() => fake.behave(answer()));

const refusing = (status: number, message: string, fields: object = {}): Behaviour =>
  reply(status, { error: { message, ...fields } });

/** What a local server does with a request, and the error that the caller gets. */
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
    'its 500 that says that it takes no images is a refusal',
    refusing(500, 'image input is not supported - hint: you may need to provide the mmproj'),
    {
      status: 400,
      type: 'invalid_request_error',
      code: 'provider_rejected',
      message: 'image input is not supported - hint: you may need to provide the mmproj',
      retry: null,
    },
  ],
  [
    'its 413 stays one',
    refusing(413, 'Payload too large'),
    { status: 413, type: 'request_too_large', code: 'body_too_large', retry: null },
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

it('a stream that begins with a refusal is answered with its status', async () => {
  const error = { code: 500, message: 'image input is not supported', type: 'server_error' };
  fake.behave(reply(200, `data: ${JSON.stringify({ error })}\n\n`, 'text/event-stream'));
  for (const stream of [true, false]) {
    const told = await failureOf(await post(gateway, chat({ stream })));
    expect(told).toMatchObject({ status: 400, code: 'provider_rejected', message: error.message });
  }
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

it.each([503, 429])(
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

describe('a plain call', () => {
  it('arrives before the deadline or ends as 502 provider_timeout, and its work too', async () => {
    fake.behave(hangBeforeHeaders());
    const aborts = fake.aborts.length;
    const startedAt = performance.now();
    expect(await failureOf(await post(gateway, chat()))).toMatchObject({
      status: 502,
      code: 'provider_timeout',
      retry: 'false',
    });
    expect(performance.now() - startedAt).toBeGreaterThan(200);
    await until(() => fake.aborts.length > aborts);
  });

  it.each([
    ['x-stainless-timeout', '0.1'],
    ['X-Stainless-Timeout', '0.15'],
  ])('ends sooner where the client waits no longer: %s', async (name, seconds) => {
    const roomy = await startGateway();
    await roomy.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
    fake.once(hangBeforeHeaders());
    const response = await post(roomy, chat(), { headers: { [name]: seconds } });
    expect(await failureOf(response)).toMatchObject({ status: 502, code: 'provider_timeout' });
  });
});

it.each(STOCK_CLIENTS)(
  '$version does not send a failed prompt to the card again',
  async (stock) => {
    const client = connect(stock.Sdk, gateway, { maxRetries: 2 });
    const ask = () => client.chat.completions.create(chat()).catch((error: unknown) => error);
    const before = fake.requests.length;
    fake.behave(refusing(500, 'CUDA out of memory'));
    expect(await ask()).toMatchObject({ status: 502, code: 'provider_error' });
    fake.behave(refusing(401, 'no'));
    expect(await ask()).toMatchObject({ status: 502, code: 'provider_auth_failed' });
    fake.behave(hangBeforeHeaders());
    expect(await ask()).toMatchObject({ status: 502, code: 'provider_timeout' });
    expect(fake.requests.length - before).toBe(3);
  },
);
