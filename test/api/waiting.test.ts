import { describe, expect, it, onTestFinished } from 'vitest';
import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import { connectRawAgent, DOCUMENT, HELLO } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { HeldAnswer } from './held-answer.js';
import { openStream } from './open-stream.js';
import { RawCaller } from './raw-caller.js';
import { chat, failureOf, post, sent, textOf } from './requests.js';
import { visit } from './visitor.js';

type Settings = Parameters<typeof startGateway>[0];

async function setUp(settings: Settings, service: Partial<ServiceConfig> = {}) {
  const gateway = await startGateway(settings);
  const fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl, slots: 1, ...service }] });
  /** Takes a slot until the test finishes the returned answer. */
  const occupy = async () => {
    const held = new HeldAnswer();
    fake.once(held.behaviour);
    const opening = openStream(gateway);
    await held.asked();
    held.chunk('taken ');
    const stream = await opening;
    return { held, stream };
  };
  return { gateway, fake, occupy };
}

describe('when all slots are busy a call waits', () => {
  it('until one is free, and says for how long', async () => {
    const { gateway, fake, occupy } = await setUp({});
    const { held } = await occupy();
    const startedAt = performance.now();
    const call = await sent(gateway, () => post(gateway, chat()));
    await until(() => performance.now() - startedAt > 600);
    expect(fake.requests).toHaveLength(1);
    held.finish();
    const response = await call.answer;
    expect(response.status).toBe(200);
    expect(response.headers.get('x-attempts')).toBe('1');
    const queueMs = Number(response.headers.get('x-queue-ms'));
    expect(queueMs).toBeGreaterThan(100);
    expect(Number(response.headers.get('x-gateway-overhead-ms'))).toBeLessThan(queueMs);
    expect(fake.maxInFlight).toBe(1);
  });

  it('until its key may call no more', async () => {
    const { gateway, fake, occupy } = await setUp({});
    await occupy();
    const call = await sent(gateway, () => post(gateway, chat()));
    await gateway.admin('key.disable', { key: gateway.anna.keyId });
    expect(await failureOf(await call.answer)).toMatchObject({
      status: 401,
      code: 'disabled_api_key',
    });
    expect(fake.requests).toHaveLength(1);
  });

  it('until its session of the dashboard has ended', async () => {
    const { gateway, fake, occupy } = await setUp({});
    await occupy();
    const anna = await visit(gateway, 'anna@example.org');
    const call = await sent(anna, () => post(anna, chat()));
    await gateway.admin('user.logout', { session: 'anna@example.org' });
    expect(await failureOf(await call.answer)).toMatchObject({
      status: 401,
      code: 'not_logged_in',
    });
    expect(fake.requests).toHaveLength(1);
  });

  it('in line: who came first is served first', async () => {
    const { gateway, fake, occupy } = await setUp({});
    const { held } = await occupy();
    const calls = [];
    for (let n = 1; n <= 6; n++) {
      calls.push(await sent(gateway, () => post(gateway, chat({ seed: n }))));
    }
    held.finish();
    for (const { answer } of calls) expect((await answer).status).toBe(200);
    expect(fake.requests.map(({ body }) => body['seed'])).toEqual([undefined, 1, 2, 3, 4, 5, 6]);
    expect(fake.maxInFlight).toBe(1);
  });

  it('as many run at once as there are slots', async () => {
    const { gateway, fake } = await setUp({}, { slots: 3 });
    const calls = Array.from({ length: 20 }, () => post(gateway, chat()));
    for (const call of calls) expect((await call).status).toBe(200);
    expect(fake.requests).toHaveLength(20);
    expect(fake.maxInFlight).toBeLessThanOrEqual(3);
  });

  it('for so long, and then it is 503 capacity_exhausted with Retry-After', async () => {
    const { gateway, fake, occupy } = await setUp({ syncWaitMs: 120 });
    await occupy();
    const startedAt = performance.now();
    const response = await post(gateway, chat());
    expect(performance.now() - startedAt).toBeGreaterThan(100);
    const seconds = Number(response.headers.get('retry-after'));
    expect(seconds).toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(await failureOf(response)).toMatchObject({
      status: 503,
      type: 'server_error',
      code: 'capacity_exhausted',
      retry: null,
    });
    expect(fake.requests).toHaveLength(1);
  });

  it('a stream is told so by the error event, where its headers are out', async () => {
    const { gateway, occupy } = await setUp({ syncWaitMs: 200, earlyHeadersMs: 30 });
    await occupy();
    const stream = await openStream(gateway);
    expect(await stream.failure()).toMatchObject({
      type: 'server_error',
      code: 'capacity_exhausted',
    });
  });

  it('a stream that waited with its headers out is then answered', async () => {
    const { gateway, occupy } = await setUp({ earlyHeadersMs: 30 });
    const { held } = await occupy();
    const stream = await openStream(gateway);
    held.finish();
    expect(textOf(await stream.all())).toBe('Hello from the fake.');
  });

  it('one that is given up makes way for the next', async () => {
    const { gateway, fake, occupy } = await setUp({});
    const { held } = await occupy();
    const leaving = new RawCaller(gateway);
    await sent(gateway, () => leaving.send(chat({ seed: 1 })));
    const next = await sent(gateway, () => post(gateway, chat({ seed: 2 })));
    leaving.socket.destroy();
    held.finish();
    expect((await next.answer).status).toBe(200);
    expect(fake.requests.map(({ body }) => body['seed'])).toEqual([undefined, 2]);
  });
});

it('services in one slot group share its slots', async () => {
  const gateway = await startGateway();
  const fakes = [await startFakeOpenAi(), await startFakeOpenAi({ models: ['other'] })];
  onTestFinished(async () => void (await Promise.all(fakes.map((fake) => fake.close()))));
  const services = fakes.map(({ baseUrl }) => ({ baseUrl, slots: 1, slotGroup: 'gpu0' }));
  await gateway.startAgent({ services });
  const held = new HeldAnswer();
  fakes[0]?.once(held.behaviour);
  const opening = openStream(gateway);
  await held.asked();
  held.chunk('x');
  await opening;
  const call = await sent(gateway, () => post(gateway, chat({ model: 'other' })));
  expect(fakes[1]?.requests).toEqual([]);
  held.finish();
  expect((await call.answer).status).toBe(200);
});

describe('a member may have so many calls at once', () => {
  it('further ones wait in the member’s own line', async () => {
    const { gateway, fake } = await setUp({ maxConcurrent: 2 }, { slots: 9 });
    const held = [new HeldAnswer(), new HeldAnswer()];
    fake.once(...held.map(({ behaviour }) => behaviour));
    const streams = held.map(() => openStream(gateway));
    for (const one of held) {
      await one.asked();
      one.chunk('x');
    }
    const third = await sent(gateway, () => post(gateway, chat()));
    expect(fake.requests).toHaveLength(2);
    held[0]?.finish();
    expect((await third.answer).status).toBe(200);
    held[1]?.finish();
    for (const stream of streams) await (await stream).all();
    expect(fake.maxInFlight).toBe(2);
  });

  it('another member is not held up', async () => {
    const { gateway, occupy } = await setUp({ maxConcurrent: 1 }, { slots: 9 });
    const bens = await startFakeOpenAi();
    onTestFinished(() => bens.close());
    const services = [{ baseUrl: bens.baseUrl }];
    await gateway.startAgent({ name: 'bens-pc', owner: gateway.ben, services });
    await occupy();
    const headers = { authorization: `Bearer ${gateway.ben.key}` };
    expect((await post(gateway, chat(), { headers })).status).toBe(200);
  });

  it('who waits too long for that gets 503 capacity_exhausted', async () => {
    const { gateway, occupy } = await setUp({ maxConcurrent: 1, syncWaitMs: 80 }, { slots: 9 });
    await occupy();
    const failure = await failureOf(await post(gateway, chat()));
    expect(failure).toMatchObject({ status: 503, code: 'capacity_exhausted' });
  });
});

describe('a provider that dropped its link moments ago', () => {
  const hello = { services: HELLO.services };

  it('is waited for', async () => {
    const gateway = await startGateway({ reconnectWaitMs: 5_000 });
    const token = await gateway.anna.enroll('raw');
    const lost = await connectRawAgent(gateway.address, token, hello);
    lost.socket.terminate();
    await until(async () => (await gateway.client.models.list()).data.length === 0);
    const call = await sent(gateway, () => post(gateway, chat({ model: 'm' })));
    const back = await connectRawAgent(gateway.address, token, hello);
    const { stream } = await back.nextOpen();
    back.answer(stream, DOCUMENT);
    expect((await call.answer).status).toBe(200);
  });

  it('so long, and then it is 404 model_offline', async () => {
    const gateway = await startGateway({ reconnectWaitMs: 250 });
    const agent = await connectRawAgent(gateway.address, await gateway.anna.enroll('raw'), hello);
    agent.socket.terminate();
    await until(async () => (await gateway.client.models.list()).data.length === 0);
    const startedAt = performance.now();
    const failure = await failureOf(await post(gateway, chat({ model: 'm' })));
    expect(performance.now() - startedAt).toBeGreaterThan(100);
    expect(failure).toMatchObject({
      status: 404,
      type: 'no_provider',
      code: 'model_offline',
      param: 'model',
    });
    const again = performance.now();
    expect((await post(gateway, chat({ model: 'm' }))).status).toBe(404);
    expect(performance.now() - again).toBeLessThan(200);
  });

  it('is not waited for by calls of another model', async () => {
    const gateway = await startGateway({ reconnectWaitMs: 10_000 });
    const agent = await connectRawAgent(gateway.address, await gateway.anna.enroll('raw'), hello);
    agent.socket.terminate();
    const startedAt = performance.now();
    const failure = await failureOf(await post(gateway, chat({ model: 'other' })));
    expect(failure).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
