import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { hangAfterHeaders, hangBeforeHeaders, noDone } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { Behaviour, FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectRawAgent } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { chunkOf, HeldAnswer } from './held-answer.js';
import { openStream } from './open-stream.js';
import { chat, eventsOf, failureOf, post, textOf } from './requests.js';

type Settings = Parameters<typeof startGateway>[0];

async function setUp(
  settings: Settings,
  behaviour?: Behaviour,
): Promise<{ gateway: TestGateway; fake: FakeModelServer; held: HeldAnswer }> {
  const gateway = await startGateway(settings);
  const held = new HeldAnswer();
  const fake = await startFakeOpenAi({ behaviour: behaviour ?? held.behaviour });
  onTestFinished(() => fake.close());
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  return { gateway, fake, held };
}

async function setUpRaw(settings: Settings): Promise<{ gateway: TestGateway; agent: RawAgent }> {
  const gateway = await startGateway(settings);
  const token = await gateway.anna.enroll('raw');
  return { gateway, agent: await connectRawAgent(gateway.address, token) };
}

/** Accepts the next request and begins to answer it as a stream. */
async function answering(agent: RawAgent): Promise<number> {
  const { stream } = await agent.nextOpen();
  agent.send({ t: 'HEAD', stream, status: 200, content_type: 'text/event-stream' });
  return stream;
}

describe('response headers go out', () => {
  it('with the provider’s first byte', async () => {
    const { gateway, held } = await setUp({ earlyHeadersMs: 10_000 });
    let isOpen = false;
    const opening = openStream(gateway).finally(() => {
      isOpen = true;
    });
    await held.asked();
    expect(isOpen).toBe(false);
    held.chunk('hello');
    const stream = await opening;
    expect(stream.status).toBe(200);
    expect(stream.headers.get('x-provider')).toBe('den-pc');
    await stream.has('hello');
    held.finish();
    expect(textOf(await stream.all())).toBe('hello');
  });

  it('or after a stretch of silence', async () => {
    const { gateway, held } = await setUp({ earlyHeadersMs: 60, keepAliveMs: 10_000 });
    const stream = await openStream(gateway);
    expect(stream.status).toBe(200);
    await stream.has(': keep-alive\n\n');
    await held.asked();
    held.chunk('hello');
    held.finish();
    expect(await stream.all()).toMatch(/^: keep-alive\n\ndata: \{/);
  });
});

describe('once headers are out', () => {
  it('each stretch of silence is filled with a comment line, never with : ping', async () => {
    const { gateway, held } = await setUp({ keepAliveMs: 40 });
    const opening = openStream(gateway);
    await held.asked();
    held.chunk('one ');
    const stream = await opening;
    await until(() => stream.text.split(': keep-alive\n\n').length > 3);
    held.chunk('two');
    await stream.has('two');
    held.finish();
    const text = await stream.all();
    expect(text).not.toContain('ping');
    expect(textOf(text)).toBe('one two');
    const rest = text.replaceAll(': keep-alive\n\n', '');
    for (const part of rest.split('\n\n').slice(0, -1)) expect(part).toMatch(/^data: .+$/);
  });

  it('errors become the error event, and then data: [DONE]', async () => {
    const { gateway, held } = await setUp({ earlyHeadersMs: 40 });
    const stream = await openStream(gateway);
    await held.asked();
    held.cut();
    const { message, ...error } = await stream.failure();
    expect(error).toEqual({ type: 'upstream_error', code: 'provider_error', param: null });
    expect(message).toContain('den-pc');
    expect(stream.text.endsWith('}\n\ndata: [DONE]\n\n')).toBe(true);
    expect(eventsOf(stream.text)).toHaveLength(2);
  });

  it('a refusal of the local server is an error event, too', async () => {
    const { gateway, agent } = await setUpRaw({ earlyHeadersMs: 40 });
    const opening = openStream(gateway, { model: 'm' });
    const { stream } = await agent.nextOpen();
    const open = await opening;
    agent.send({ t: 'HEAD', stream, status: 400, content_type: 'application/json' });
    agent.data(stream, JSON.stringify({ error: { message: 'no such tool', code: 'x' } }));
    agent.send({ t: 'END', stream, ok: true });
    expect(await open.failure()).toMatchObject({
      type: 'invalid_request_error',
      code: 'provider_rejected',
      message: 'no such tool',
    });
  });
});

describe('the first byte', () => {
  it('has a limit, after which the status is 502 provider_timeout', async () => {
    const { gateway, fake } = await setUp({ firstByteMs: 100 }, hangBeforeHeaders());
    expect(await failureOf(await post(gateway, chat({ stream: true })))).toMatchObject({
      status: 502,
      code: 'provider_timeout',
      retry: 'false',
    });
    await until(() => fake.aborts.length === 1);
  });

  it('is more than the local server’s headers', async () => {
    const { gateway } = await setUp({ firstByteMs: 100 }, hangAfterHeaders());
    const failure = await failureOf(await post(gateway, chat({ stream: true })));
    expect(failure).toMatchObject({ status: 502, code: 'provider_timeout' });
  });

  it('may take longer while a model loads', async () => {
    const { gateway, agent } = await setUpRaw({ firstByteMs: 150 });
    const opening = openStream(gateway, { model: 'm' });
    const { stream } = await agent.nextOpen();
    const startedAt = performance.now();
    const loading = setInterval(() => agent.send({ t: 'PROGRESS', stream, phase: 'loading' }), 30);
    await until(() => performance.now() - startedAt > 400);
    clearInterval(loading);
    agent.send({ t: 'HEAD', stream, status: 200, content_type: 'text/event-stream' });
    agent.data(stream, chunkOf('loaded', 'stop'));
    agent.send({ t: 'END', stream, ok: true });
    expect(textOf(await (await opening).all())).toBe('loaded');
  });

  it('but at most to the deadline of the whole call', async () => {
    const { gateway, agent } = await setUpRaw({ firstByteMs: 100, syncDeadlineMs: 300 });
    const call = post(gateway, chat({ model: 'm', stream: true }));
    const { stream } = await agent.nextOpen();
    const loading = setInterval(() => agent.send({ t: 'PROGRESS', stream, phase: 'loading' }), 30);
    const failure = await failureOf(await call);
    clearInterval(loading);
    expect(failure).toMatchObject({ status: 502, code: 'provider_timeout' });
    expect(await agent.first('RESET')).toMatchObject({ stream, code: 'DEADLINE' });
  });
});

describe('between bytes', () => {
  it('a silence that is too long ends the stream with the error event', async () => {
    const settings = { idleMs: 100, keepAliveMs: 30 };
    const { gateway, fake } = await setUp(settings, hangAfterHeaders({ after: 2 }));
    const stream = await openStream(gateway);
    expect(await stream.failure()).toMatchObject({
      type: 'upstream_error',
      code: 'provider_timeout',
    });
    expect(stream.text).toContain('c1 ');
    await until(() => fake.aborts.length === 1);
  });

  it('a stream that flows may take longer than the deadline of a call', async () => {
    const { gateway, held } = await setUp({ syncDeadlineMs: 200, idleMs: 1_000 });
    const opening = openStream(gateway);
    await held.asked();
    const startedAt = performance.now();
    held.chunk('slow ');
    const stream = await opening;
    await until(() => performance.now() - startedAt > 400);
    held.chunk('and whole');
    held.finish();
    expect(textOf(await stream.all())).toBe('slow and whole');
  });
});

describe('the coordinator forwards whole events only', () => {
  let gateway: TestGateway;
  let token: string;

  beforeAll(async () => {
    gateway = await openGateway({ keepAliveMs: 20 });
    token = await gateway.anna.enroll('raw');
  });

  afterAll(() => gateway.stop());

  const connect = () => connectRawAgent(gateway.address, token);

  it('it holds bytes back to the blank line', async () => {
    const agent = await connect();
    const opening = openStream(gateway, { model: 'm' });
    const stream = await answering(agent);
    agent.data(stream, chunkOf('one '));
    const open = await opening;
    const [half, rest] = [chunkOf('two').slice(0, 30), chunkOf('two').slice(30)];
    agent.data(stream, half);
    // After two keep-alive comments the half event would have arrived if it were forwarded.
    await until(() => open.text.split(': keep-alive').length > 2);
    expect(eventsOf(open.text)).toHaveLength(1);
    agent.data(stream, rest);
    agent.data(stream, chunkOf('', 'stop'));
    agent.send({ t: 'END', stream, ok: true });
    expect(textOf(await open.all())).toBe('one two');
  });

  it.each<[string, (agent: RawAgent, stream: number) => void, string]>([
    [
      'the agent fails',
      (agent, stream) => agent.send({ t: 'RESET', stream, code: 'LOCAL_ERROR', message: 'gone' }),
      'provider_error',
    ],
    ['the link is lost', (agent) => agent.socket.terminate(), 'provider_disconnected'],
    [
      'the agent calls half an event its end',
      (agent, stream) => agent.send({ t: 'END', stream, ok: true }),
      'provider_error',
    ],
  ])('so an error event never lands in half a line: %s', async (_, breakOff, code) => {
    const agent = await connect();
    const opening = openStream(gateway, { model: 'm' });
    const stream = await answering(agent);
    agent.data(stream, chunkOf('whole ') + chunkOf('never seen').slice(0, 40));
    const open = await opening;
    await open.has('whole');
    breakOff(agent, stream);
    expect(await open.failure()).toMatchObject({ code });
    expect(open.text).not.toContain('never');
    expect(textOf(open.text)).toBe('whole ');
  });

  it.each([
    ['an event without an end', 'data: {"x":"'.padEnd(1_100_000, 'y')],
    ['a comment', ': hello\n\n'],
    ['an event of two lines', 'data: {"a":\ndata: 1}\n\n'],
    ['a carriage return', 'data: {"a":1}\r\n\n\n'],
    ['another field', 'event: error\ndata: {"a":1}\n\n'],
    ['a [DONE] of its own', 'data: [DONE]\n\n'],
  ])('%s of a hostile agent ends the stream with an error', async (_, bytes) => {
    const agent = await connect();
    const opening = openStream(gateway, { model: 'm' });
    const stream = await answering(agent);
    agent.data(stream, chunkOf('fine '));
    const open = await opening;
    await open.has('fine');
    for (let at = 0; at < bytes.length; at += 60_000) {
      agent.data(stream, bytes.slice(at, at + 60_000));
      if (at % 120_000 === 0) await until(() => agent.socket.bufferedAmount === 0);
    }
    expect(await open.failure()).toMatchObject({ type: 'upstream_error', code: 'provider_error' });
    expect(textOf(open.text)).toBe('fine ');
  });
});

it('a stream with a finish_reason is whole, though the local server says no [DONE]', async () => {
  const { gateway } = await setUp({}, noDone(['all ', 'here']));
  const text = await (await openStream(gateway)).all();
  expect(textOf(text)).toBe('all here');
  expect(text).not.toContain('error');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
});
