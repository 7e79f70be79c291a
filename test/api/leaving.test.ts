import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectRawAgent, DOCUMENT, HELLO } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { HeldAnswer } from './held-answer.js';
import { RawCaller } from './raw-caller.js';
import { chat, post, sent } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;
let held: HeldAnswer;

/** There is one slot, so the next call shows whether it is free again. */
beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl, slots: 1 }] });
});

beforeEach(() => {
  held = new HeldAnswer();
  fake.once(held.behaviour);
  fake.requests.length = 0;
  fake.aborts.length = 0;
});

afterAll(async () => {
  await gateway.stop();
  await fake.close();
});

/** The local server sees the abort within a second, and the slot is free again. */
async function expectCanceled(leftAt: number): Promise<void> {
  const abortedAt = await until(() => held.abortedAt, { what: 'the abort at the local server' });
  expect(abortedAt - leftAt).toBeLessThan(1_000);
  const next = await post(gateway, chat());
  expect(next.status).toBe(200);
  expect(Number(next.headers.get('x-queue-ms'))).toBeLessThan(1_000);
}

describe.each(STOCK_CLIENTS)('the caller leaves $version', ({ Sdk }) => {
  it('by breaking out of a stream', async () => {
    const stream = connect(Sdk, gateway).chat.completions.create(chat({ stream: true as const }));
    await held.asked();
    held.chunk('one ');
    let leftAt = 0;
    for await (const chunk of await stream) {
      expect(chunk.choices[0]?.delta.content).toBe('one ');
      leftAt = performance.now();
      break;
    }
    await expectCanceled(leftAt);
  });

  it.each([
    ['a stream before its first byte', true],
    ['a plain call', false],
  ])('by aborting %s', async (_, stream) => {
    const leaving = new AbortController();
    const call = connect(Sdk, gateway)
      .chat.completions.create(chat({ stream }), { signal: leaving.signal })
      .catch((error: unknown) => error);
    await held.asked();
    const leftAt = performance.now();
    leaving.abort();
    expect(await call).toBeInstanceOf(Sdk.APIUserAbortError);
    await expectCanceled(leftAt);
  });

  it('by giving up after its own time limit', async () => {
    const call = connect(Sdk, gateway)
      .chat.completions.create(chat(), { timeout: 150 })
      .catch((error: unknown) => error);
    await held.asked();
    expect(await call).toBeInstanceOf(Sdk.APIConnectionTimeoutError);
    await expectCanceled(performance.now());
  });
});

describe('the caller’s connection', () => {
  it.each([
    ['is closed in a stream', { stream: true }, (caller: RawCaller) => caller.socket.destroy()],
    [
      'is reset in a stream',
      { stream: true },
      (caller: RawCaller) => caller.socket.resetAndDestroy(),
    ],
    ['is reset before a plain answer', {}, (caller: RawCaller) => caller.socket.resetAndDestroy()],
  ])('%s', async (_, fields, leave) => {
    const caller = new RawCaller(gateway).send(chat(fields));
    await held.asked();
    if ('stream' in fields) {
      held.chunk('one ');
      await until(() => caller.received.includes('one '));
    }
    leave(caller);
    await expectCanceled(performance.now());
  });

  it('is closed while the headers are out and nothing has come yet', async () => {
    const own = await startGateway({ earlyHeadersMs: 30 });
    await own.startAgent({ services: [{ baseUrl: fake.baseUrl, slots: 1 }] });
    const leaving = new AbortController();
    const { signal } = leaving;
    const response = await post(own, chat({ stream: true }), { signal });
    expect(response.status).toBe(200);
    leaving.abort();
    await until(() => held.abortedAt);
  });
});

it('a caller who leaves the line never reaches the local server', async () => {
  const running = await sent(gateway, () => post(gateway, chat({ stream: true })));
  await held.asked();
  const waiting = new RawCaller(gateway);
  await sent(gateway, () => waiting.send(chat()));
  waiting.socket.destroy();
  held.chunk('whole');
  held.finish();
  expect(await (await running.answer).text()).toContain('whole');
  expect((await post(gateway, chat())).status).toBe(200);
  expect(fake.requests).toHaveLength(2);
});

it('work that has ended cannot be canceled: leaving after the answer costs nothing', async () => {
  const opening = post(gateway, chat({ stream: true }));
  await held.asked();
  held.chunk('whole');
  held.finish();
  expect(await (await opening).text()).toContain('[DONE]');
  expect((await post(gateway, chat())).status).toBe(200);
  expect(fake.aborts).toEqual([]);
});

it('the slot stays taken until the agent confirms that the work has stopped', async () => {
  const own = await startGateway();
  const services = HELLO.services.map((service) => ({ ...service, slots: 1 }));
  const token = await own.anna.enroll('raw');
  const agent = await connectRawAgent(own.address, token, { services });
  const leaving = new RawCaller(own).send(chat({ model: 'm' }));
  const first = await agent.nextOpen();
  const next = await sent(own, () => post(own, chat({ model: 'm' })));
  leaving.socket.destroy();
  expect(await agent.first('RESET')).toMatchObject({ stream: first.stream, code: 'CALLER_GONE' });
  expect(agent.messages.filter(({ t }) => t === 'OPEN')).toHaveLength(1);
  agent.send({ t: 'RESET', stream: first.stream, code: 'CANCELED' });
  const second = await agent.nextOpen();
  agent.answer(second.stream, DOCUMENT);
  expect((await next.answer).status).toBe(200);
});
