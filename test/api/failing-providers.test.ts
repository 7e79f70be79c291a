/** A provider that keeps failing gets no more calls, until a probe shows that it works again. */
import { expect, it, onTestFinished } from 'vitest';
import { answer, reply } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { Behaviour, FakeModelServer } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { HeldAnswer } from './held-answer.js';
import { openStream } from './open-stream.js';
import { chat, failureOf, post } from './requests.js';

const SLOTS = 4;
/** Failures in a row that open a circuit breaker. */
const ALLOWED = 5;

async function provider(
  gateway: TestGateway,
  name: string,
  behaviour: Behaviour,
): Promise<FakeModelServer> {
  const fake = await startFakeOpenAi({ behaviour });
  onTestFinished(() => fake.close());
  await gateway.startAgent({ name, services: [{ baseUrl: fake.baseUrl, slots: SLOTS }] });
  return fake;
}

const NO_IMAGES = 'image input is not supported - hint: you may need to provide the mmproj';
const broken = reply(500, { error: { message: 'CUDA out of memory' } });

it('beside a good one, all callers are answered and it gets no more than its tries', async () => {
  const gateway = await startGateway();
  const failing = await provider(gateway, 'failing-pc', broken);
  await provider(gateway, 'good-pc', answer());
  const statuses: number[] = [];
  const caller = async (): Promise<void> => {
    for (let i = 0; i < 50; i++) {
      const response = await post(gateway, chat());
      statuses.push(response.status);
      await response.text();
    }
  };
  await Promise.all(Array.from({ length: SLOTS }, caller));
  expect(statuses).toEqual(Array.from({ length: 200 }, () => 200));
  // Calls may be running in its other slots when it fails for the fifth time.
  expect(failing.requests.length).toBeLessThan(ALLOWED + SLOTS);
});

it('alone, its callers are told at once, and in how many seconds it is tried again', async () => {
  const gateway = await startGateway();
  const failing = await provider(gateway, 'failing-pc', broken);
  for (let i = 0; i < ALLOWED; i++) {
    const { message } = await failureOf(await post(gateway, chat()));
    expect(message).toContain('CUDA out of memory');
  }
  const response = await post(gateway, chat());
  const wait = Number(response.headers.get('retry-after'));
  expect(wait).toBeGreaterThanOrEqual(29);
  expect(wait).toBeLessThanOrEqual(30);
  const told = await failureOf(response);
  expect(told).toMatchObject({ status: 502, code: 'provider_error', retry: 'false' });
  expect(told.message).toMatch(
    /^Every provider that serves the model 'tiny' failed lately; one is tried again in (30|29) s/,
  );
  expect(failing.requests).toHaveLength(ALLOWED);
  const models = (await (await gateway.fetch('/v1/models')).json()) as { data: unknown[] };
  expect(models.data).toHaveLength(1);
});

it('one call at a time tries it again, and the first answer lets all others in', async () => {
  const gateway = await startGateway({ breakerOpenMs: 150 });
  const fake = await provider(gateway, 'pc', broken);
  for (let i = 0; i < ALLOWED; i++) await (await post(gateway, chat())).text();
  const held = new HeldAnswer();
  fake.behave(held.behaviour);
  const opening = until(async () => {
    const stream = await post(gateway, chat({ stream: true }));
    return stream.status === 200 ? stream : null;
  });
  await held.asked();
  const { message } = await failureOf(await post(gateway, chat()));
  expect(message).toContain('one is being tried again at this moment');
  held.chunk('I am ');
  const probe = await opening;
  fake.behave(answer());
  // The probe's answer has only begun.
  expect((await post(gateway, chat())).status).toBe(200);
  held.finish();
  expect(await probe.text()).toContain('[DONE]');
});

it('a probe that fails leaves it alone for as long again', async () => {
  const gateway = await startGateway({ breakerOpenMs: 400 });
  const fake = await provider(gateway, 'pc', broken);
  for (let i = 0; i < ALLOWED; i++) await (await post(gateway, chat())).text();
  await until(async () => {
    await (await post(gateway, chat())).text();
    return fake.requests.length === ALLOWED + 1;
  });
  const { message } = await failureOf(await post(gateway, chat()));
  expect(message).toContain('failed lately');
  expect(fake.requests).toHaveLength(ALLOWED + 1);
});

it.each([
  ['its caller’s errors', reply(400, { error: { message: 'bad tool' } }), 400],
  ['input that its model does not take', reply(500, { error: { message: NO_IMAGES } }), 400],
  ['a body that is too large for it', reply(413, { error: { message: 'too large' } }), 413],
  ['being busy', reply(429, { error: { message: 'slow down' } }), 503],
])('%s never count against it', async (_, behaviour, status) => {
  const gateway = await startGateway({ syncWaitMs: 0 });
  const fake = await provider(gateway, 'pc', behaviour);
  for (let i = 0; i < 25; i++) expect((await post(gateway, chat())).status).toBe(status);
  fake.behave(answer());
  await until(async () => (await post(gateway, chat())).status === 200, { timeoutMs: 2_000 });
});

it('a lost link is no failure of the model: with the next link all calls are served', async () => {
  const gateway = await startGateway({ reconnectWaitMs: 5_000, maxConcurrent: 20 });
  const fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl, slots: 20 }] });
  const held = Array.from({ length: ALLOWED + 3 }, () => new HeldAnswer());
  const streams = [];
  for (const one of held) {
    fake.once(one.behaviour);
    const opening = openStream(gateway);
    await one.asked();
    one.chunk('half ');
    streams.push(await opening);
  }
  await gateway.admin('provider.kick', { provider: 'den-pc' });
  for (const stream of streams) expect(await stream.failure()).toBeDefined();
  const after = await Promise.all(held.map(() => post(gateway, chat())));
  expect(after.map(({ status }) => status)).toEqual(held.map(() => 200));
});

it('callers who have no patience close it to nobody else', async () => {
  const gateway = await startGateway();
  const fake = await provider(gateway, 'slow-pc', new HeldAnswer().behaviour);
  const headers = { 'x-stainless-timeout': '1' };
  for (let sent = 0; sent < ALLOWED + 1; sent += SLOTS) {
    const calls = Array.from({ length: SLOTS }, () => post(gateway, chat(), { headers }));
    for (const call of await Promise.all(calls)) {
      expect(await failureOf(call)).toMatchObject({ status: 502, code: 'provider_timeout' });
    }
  }
  fake.behave(answer());
  expect((await post(gateway, chat())).status).toBe(200);
});

it('a server without the older endpoint is not left alone for it by those who chat', async () => {
  const gateway = await startGateway();
  const fake = await provider(gateway, 'pc', reply(404, { error: { message: 'no such path' } }));
  for (let i = 0; i < ALLOWED; i++) {
    const call = post(gateway, { model: 'tiny', prompt: 'x' }, { path: '/v1/completions' });
    expect(await failureOf(await call)).toMatchObject({ status: 502, code: 'provider_error' });
  }
  fake.behave(answer());
  expect((await post(gateway, chat())).status).toBe(200);
});

it("one member's requests that make it fail close it to that member alone", async () => {
  const gateway = await startGateway();
  let isPoisoned = true;
  const fake = await provider(gateway, 'den-pc', (request, response) =>
    (isPoisoned ? broken : answer())(request, response),
  );
  const share = { service: null, model: null, network: null, user: 'Ben' };
  const caps = { slots: null, hours: null, time_zone: null, max_tokens: null };
  await gateway.admin('provider.share', { provider: 'den-pc', ...share, ...caps });
  const bens = { headers: { authorization: `Bearer ${gateway.ben.key}` } };
  for (let i = 0; i < ALLOWED; i++) await (await post(gateway, chat(), bens)).text();
  const told = await failureOf(await post(gateway, chat(), bens));
  expect(told.message).toContain('failed lately');
  expect(fake.requests).toHaveLength(ALLOWED);
  isPoisoned = false;
  expect((await post(gateway, chat())).status).toBe(200);
});
