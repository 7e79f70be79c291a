import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answer, hangBeforeHeaders, reply } from '../support/fake-behaviours.js';
import type { Behaviour, FakeModelServer } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { connectRawAgent, DOCUMENT } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { RawCaller } from './raw-caller.js';
import { administer, CHAT, chat, failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  const served = await openServedGateway({ reconnectWaitMs: 50 });
  ({ gateway, fake } = served);
  return served.stop;
});

beforeEach(() => fake.behave(answer()));

it('the body of an error is always {error: {message, type, code, param}}', async () => {
  const answers = await Promise.all([
    gateway.fetch('/v1/nothing'),
    gateway.fetch('/nothing'),
    post(gateway, '{'),
    post(gateway, chat({ model: 'other' })),
    post(gateway, chat({ messages: 1 })),
    gateway.fetch('/v1/jobs/unknown'),
    gateway.fetch('/v1/batches', { method: 'POST', body: '{}' }),
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

const refusing = (status: number, message: string): Behaviour =>
  reply(status, { error: { message } });

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
    expect(failure.message).toBe(
      "Every online provider of the model 'tiny' is draining or paused. " +
        'No llm model is online for you now.',
    );
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
  const busy = new RawCaller(own).send(chat());
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

describe.each(STOCK_CLIENTS)('$version raises', ({ Sdk }) => {
  const ask = (fields: object = {}) =>
    connect(Sdk, gateway, { maxRetries: 2 })
      .chat.completions.create({ ...chat(), ...fields })
      .catch((error: unknown) => error);

  it('BadRequestError with the field at fault', async () => {
    const failure = await ask({ messages: [] });
    expect(failure).toBeInstanceOf(Sdk.BadRequestError);
    expect(failure).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'messages',
      requestID: expect.stringMatching(/^req_/) as string,
    });
  });

  it('BadRequestError for the local server’s 400', async () => {
    fake.behave(refusing(400, 'no'));
    const failure = await ask();
    expect(failure).toBeInstanceOf(Sdk.BadRequestError);
    expect(failure).toMatchObject({ code: 'provider_rejected' });
  });

  it('NotFoundError for an unknown model', async () => {
    const failure = await ask({ model: 'other' });
    expect(failure).toBeInstanceOf(Sdk.NotFoundError);
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
  });

  it('InternalServerError for the local server’s 500', async () => {
    fake.behave(refusing(500, 'no'));
    const failure = await ask();
    expect(failure).toBeInstanceOf(Sdk.InternalServerError);
    expect(failure).toMatchObject({ type: 'upstream_error', code: 'provider_error' });
  });
});
