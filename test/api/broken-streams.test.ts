import { beforeAll, describe, expect, it } from 'vitest';
import { dieMidStream, errorEvent, errorLine, noFinish } from '../support/fake-behaviours.js';
import type { Behaviour, FakeModelServer } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { connectRawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { chunkOf, HeldAnswer } from './held-answer.js';
import { openStream } from './open-stream.js';
import { administer, chat, eventsOf, textOf } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  const served = await openServedGateway();
  ({ gateway, fake } = served);
  return served.stop;
});

/** Two chunks and then bytes that do not belong in a stream. */
const then = (bytes: string): Behaviour => {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(chunkOf('c0 ') + chunkOf('c1 ') + bytes);
  };
};

const BREAKS: readonly [string, Behaviour, string][] = [
  ['the local server dies', dieMidStream(), 'broke off'],
  ['it ends without finish_reason or [DONE]', noFinish(), 'without a finish_reason'],
  ['it sends an error: line', errorLine('the card melted', { after: 2 }), 'the card melted'],
  ['it sends an error event', errorEvent('the card melted', { after: 2 }), 'the card melted'],
  ['it sends a flat error', then('data: {"object":"error","message":"oh no"}\n\n'), 'oh no'],
  ['it sends an error of plain text', then('data: {"error":"oh no"}\n\n'), 'oh no'],
  ['it sends half an event', then('data: {"choices":[{"index'), 'not a JSON object'],
  ['it sends what is no JSON', then('data: oops\n\ndata: [DONE]\n\n'), 'not a JSON object'],
];

describe.each(BREAKS)('a broken stream: %s', (_, behaviour, message) => {
  it('has one error event, then data: [DONE] and nothing more', async () => {
    fake.once(behaviour);
    const stream = await openStream(gateway);
    expect(stream.status).toBe(200);
    const error = await stream.failure();
    expect(error).toMatchObject({ type: 'upstream_error', code: 'provider_error', param: null });
    expect(error.message).toContain(message);
    expect(textOf(stream.text)).toBe('c0 c1 ');
    expect(stream.text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
    expect(eventsOf(stream.text).filter((event) => event.startsWith('{"error"'))).toHaveLength(1);
  });

  it.each(STOCK_CLIENTS)('raises a typed error in $version', async ({ Sdk }) => {
    fake.once(behaviour);
    const texts: string[] = [];
    const failure = await read(connect(Sdk, gateway, { maxRetries: 2 }), texts);
    expect(failure).toBeInstanceOf(Sdk.APIError);
    expect(failure).toMatchObject({ type: 'upstream_error', code: 'provider_error' });
    expect((failure as Error).message).toContain(message);
    expect(texts.join('')).toBe('c0 c1 ');
  });

  it.each(STOCK_CLIENTS)('raises it from the .stream() helper of $version', async ({ Sdk }) => {
    fake.once(behaviour);
    const runner = connect(Sdk, gateway).chat.completions.stream(chat());
    await expect(runner.finalChatCompletion()).rejects.toMatchObject({ code: 'provider_error' });
  });
});

type Client = ReturnType<typeof connect>;

/** Reads a stream to its end; returns the error that it raised, or null. */
async function read(client: Client, texts: string[], model = 'tiny'): Promise<unknown> {
  try {
    const request = chat({ stream: true as const, model });
    for await (const chunk of await client.chat.completions.create(request)) {
      texts.push(chunk.choices[0]?.delta.content ?? '');
    }
    return null;
  } catch (error) {
    return error;
  }
}

it('a broken stream is not sent to the card again', async () => {
  const before = fake.requests.length;
  fake.once(dieMidStream());
  expect(await read(gateway.client.withOptions({ maxRetries: 2 }), [])).toMatchObject({
    code: 'provider_error',
  });
  expect(fake.requests.length - before).toBe(1);
});

describe.each(STOCK_CLIENTS)('$version raises a typed error', ({ Sdk }) => {
  it('where an admin closes the agent’s link', async () => {
    const held = new HeldAnswer();
    fake.once(held.behaviour);
    const texts: string[] = [];
    const reading = read(connect(Sdk, gateway), texts);
    await held.asked();
    held.chunk('half');
    await until(() => texts.includes('half'));
    await administer(gateway, 'provider.kick', { provider: 'den-pc' });
    const failure = await reading;
    expect(failure).toBeInstanceOf(Sdk.APIError);
    expect(failure).toMatchObject({ type: 'upstream_error', code: 'provider_disconnected' });
    await until(() => held.abortedAt !== null);
    // The agent reconnects by itself.
    await until(async () => (await gateway.client.models.list()).data.length === 1);
  });

  it('where the agent’s machine goes dark', async () => {
    const own = await startGateway();
    const agent = await connectRawAgent(own.address, await own.anna.enroll('raw'));
    const texts: string[] = [];
    const reading = read(connect(Sdk, own), texts, 'm');
    const { stream } = await agent.nextOpen();
    agent.send({ t: 'HEAD', stream, status: 200, content_type: 'text/event-stream' });
    agent.data(stream, chunkOf('half'));
    await until(() => texts.includes('half'));
    agent.socket.terminate();
    expect(await reading).toBeInstanceOf(Sdk.APIError);
  });

  it('where the coordinator stops before the answer ends', async () => {
    const own = await startGateway({ drainMs: 50 });
    await own.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
    const held = new HeldAnswer();
    fake.once(held.behaviour);
    const texts: string[] = [];
    const reading = read(connect(Sdk, own), texts);
    await held.asked();
    held.chunk('half');
    await until(() => texts.includes('half'));
    const stopped = own.stop();
    expect(await reading).toBeInstanceOf(Sdk.APIError);
    await stopped;
  });
});

it('a stopping coordinator ends streams with the error event and data: [DONE]', async () => {
  const own = await startGateway({ drainMs: 50 });
  await own.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  const held = new HeldAnswer();
  fake.once(held.behaviour);
  const opening = openStream(own);
  await held.asked();
  held.chunk('half');
  const stream = await opening;
  await stream.has('half');
  const stopped = own.stop();
  expect(await stream.failure()).toMatchObject({ type: 'upstream_error' });
  await stopped;
});

it('a stopping coordinator lets a stream finish that needs no longer than the drain', async () => {
  const own = await startGateway({ drainMs: 5_000 });
  await own.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  const held = new HeldAnswer();
  fake.once(held.behaviour);
  const opening = openStream(own);
  await held.asked();
  held.chunk('one ');
  const stream = await opening;
  await stream.has('one');
  const stopped = own.stop();
  held.chunk('two');
  held.finish();
  expect(textOf(await stream.all())).toBe('one two');
  await stopped;
});

it('a stopping agent lets its stream finish and leaves then', async () => {
  const own = await startGateway();
  const agent = await own.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  const held = new HeldAnswer();
  fake.once(held.behaviour);
  const opening = openStream(own);
  await held.asked();
  held.chunk('one ');
  const stream = await opening;
  await stream.has('one');
  const stopped = agent.stop();
  await until(async () => (await own.client.models.list()).data.length === 0);
  held.chunk('two');
  held.finish();
  expect(textOf(await stream.all())).toBe('one two');
  await stopped;
});
