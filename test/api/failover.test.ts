import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { answer, dieMidStream, hangBeforeHeaders, reply } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { Behaviour, FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectRawAgent, DOCUMENT, HELLO } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { openStream } from './open-stream.js';
import { chat, failureOf, post, textOf } from './requests.js';

const PROVIDERS = ['a-pc', 'b-pc', 'c-pc', 'd-pc'];

let gateway: TestGateway;
const fakes: FakeModelServer[] = [];

beforeAll(async () => {
  gateway = await openGateway();
  for (const name of PROVIDERS) {
    const fake = await startFakeOpenAi();
    fakes.push(fake);
    await gateway.startAgent({ name, services: [{ baseUrl: fake.baseUrl, slots: 50 }] });
  }
});

beforeEach(() => {
  for (const fake of fakes) fake.requests.length = 0;
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all(fakes.map((fake) => fake.close()));
});

/** The first `times` calls fail like this, whichever server gets them; later ones are answered. */
function fail(times: number, behaviour: Behaviour): void {
  let calls = 0;
  const either: Behaviour = (request, response) => {
    calls += 1;
    return (calls <= times ? behaviour : answer({ text: 'at last' }))(request, response);
  };
  for (const fake of fakes) fake.behave(either);
}

const asked = () => fakes.map(({ requests }) => requests.length);
const askedInAll = () => asked().reduce((sum, count) => sum + count, 0);

/** Sends the head, then cuts the connection in the middle of the JSON. */
const halfDocument: Behaviour = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 });
  response.write('{"choices": [{"message": {"content": "hal', () => response.destroy());
};
const nothing: Behaviour = (_, response) => void response.destroy();
const headersOnly: Behaviour = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': hello\n\n', () => response.destroy());
};

describe('until the first byte has been forwarded, a failed provider is replaced', () => {
  it.each<[string, Behaviour, boolean]>([
    ['a local 500', reply(500, { error: { message: 'oom' } }), false],
    ['a local 500, streaming', reply(500, { error: { message: 'oom' } }), true],
    ['a provider’s own 401', reply(401, { error: { message: 'key' } }), false],
    ['a model that the local server has lost', reply(404, { error: { message: 'gone' } }), false],
    ['a cut connection', nothing, false],
    ['a cut connection, streaming', nothing, true],
    ['half a JSON document', halfDocument, false],
    ['headers without a chunk', headersOnly, true],
    ['an error page', reply(200, '<html>', 'text/html'), true],
  ])('after %s', async (_, behaviour, stream) => {
    fail(2, behaviour);
    const response = await post(gateway, chat({ stream }));
    expect(response.status).toBe(200);
    expect(response.headers.get('x-attempts')).toBe('3');
    expect(PROVIDERS).toContain(response.headers.get('x-provider'));
    const text = await response.text();
    expect(stream ? textOf(text) : text).toContain('at last');
    expect(text).not.toContain('error');
    expect(asked().toSorted((a, b) => a - b)).toEqual([0, 1, 1, 1]);
  });

  it('after silence, though the headers are out early', async () => {
    const own = await startGateway({ firstByteMs: 250, earlyHeadersMs: 50 });
    for (const [i, fake] of fakes.slice(0, 2).entries()) {
      await own.startAgent({ name: `pc-${i}`, services: [{ baseUrl: fake.baseUrl }] });
    }
    fail(1, hangBeforeHeaders());
    const stream = await openStream(own);
    expect(stream.headers.get('x-provider')).toBeNull();
    expect(textOf(await stream.all())).toBe('at last');
    expect(askedInAll()).toBe(2);
  });

  it('by up to two others, and the last one’s error is told', async () => {
    fail(99, reply(500, { error: { message: 'out of memory' } }));
    const failure = await failureOf(await post(gateway, chat()));
    expect(failure).toMatchObject({ status: 502, code: 'provider_error', retry: 'false' });
    expect(failure.message).toContain('out of memory');
    expect(asked().toSorted((a, b) => a - b)).toEqual([0, 1, 1, 1]);
  });
});

it('after the first byte, never', async () => {
  fail(1, dieMidStream());
  const stream = await openStream(gateway);
  expect(await stream.failure()).toMatchObject({ code: 'provider_error' });
  expect(textOf(stream.text)).toBe('c0 c1 ');
  expect(stream.headers.get('x-attempts')).toBe('1');
  expect(askedInAll()).toBe(1);
});

describe('what the caller did wrong is tried nowhere else', () => {
  it.each([
    ['provider_rejected', reply(400, { error: { message: 'bad tool' } })],
    ['provider_rejected', reply(422, { detail: 'bad tool' })],
    [
      'context_length_exceeded',
      reply(400, { error: { message: 'x', type: 'exceed_context_size_error' } }),
    ],
  ])('%s', async (code, behaviour) => {
    fail(99, behaviour);
    expect(await failureOf(await post(gateway, chat()))).toMatchObject({ status: 400, code });
    expect(askedInAll()).toBe(1);
  });
});

it('a local server that says “not now” makes way for another at once', async () => {
  fail(3, reply(503, { error: { message: 'Loading model' } }));
  const startedAt = performance.now();
  expect((await post(gateway, chat())).status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(450);
  expect(asked()).toEqual([1, 1, 1, 1]);
});

it('where no other is there, “not now” is waited for', async () => {
  const own = await startGateway();
  const fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  await own.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  fake.once(reply(503, { error: { message: 'Loading model' } }));
  const response = await post(own, chat());
  expect(response.status).toBe(200);
  expect(fake.requests).toHaveLength(2);
  expect(Number(response.headers.get('x-queue-ms'))).toBeGreaterThan(0);
});

it('a local server that is gone is replaced, and its models leave the list at once', async () => {
  const own = await startGateway();
  const [gone, there] = [await startFakeOpenAi(), await startFakeOpenAi({ models: ['tiny', 'b'] })];
  onTestFinished(() => there.close());
  // The gateway prefers the one with more slots.
  await own.startAgent({ name: 'gone', services: [{ baseUrl: gone.baseUrl, slots: 9 }] });
  await own.startAgent({ name: 'there', services: [{ baseUrl: there.baseUrl, slots: 1 }] });
  await gone.close();
  const response = await post(own, chat());
  expect(response.headers.get('x-provider')).toBe('there');
  expect(response.headers.get('x-attempts')).toBe('2');
  const again = await until(async () => {
    const next = await post(own, chat());
    return next.headers.get('x-attempts') === '1' ? next : null;
  });
  expect(again.headers.get('x-provider')).toBe('there');
});

it('a provider that fails fast does not look idle', async () => {
  const own = await startGateway();
  const [bad, good] = [await startFakeOpenAi(), await startFakeOpenAi()];
  onTestFinished(async () => void (await Promise.all([bad.close(), good.close()])));
  bad.behave(reply(500, { error: { message: 'broken card' } }));
  await own.startAgent({ name: 'bad', services: [{ baseUrl: bad.baseUrl, slots: 5 }] });
  await own.startAgent({ name: 'good', services: [{ baseUrl: good.baseUrl, slots: 5 }] });
  for (let i = 0; i < 10; i++) expect((await post(own, chat())).status).toBe(200);
  expect(bad.requests).toHaveLength(1);
});

type Act = (agent: RawAgent) => void | Promise<void>;

const rejecting = (reason: 'no_model' | 'draining' | 'busy'): Act => {
  return async (agent) => {
    const { stream } = await agent.nextOpen(false);
    agent.send({ t: 'REJECT', stream, reason });
  };
};

describe('an agent', () => {
  it.each<[string, Act]>([
    [
      'that loses its link',
      async (agent) => {
        await agent.nextOpen();
        agent.socket.terminate();
      },
    ],
    ['that does not accept in time', () => undefined],
    ['that has lost the model', rejecting('no_model')],
    ['that is draining', rejecting('draining')],
    ['whose slots are all taken', rejecting('busy')],
    [
      'that is taken back by its owner',
      async (agent) => {
        const { stream } = await agent.nextOpen();
        agent.send({ t: 'RESET', stream, code: 'YIELDED' });
      },
    ],
  ])('%s is replaced', async (_, act) => {
    const own = await startGateway({ acceptMs: 100 });
    // The gateway asks the one with more slots first.
    const services = HELLO.services.map((service) => ({ ...service, slots: 9 }));
    const bad = await connectRawAgent(own.address, await own.anna.enroll('bad'), { services });
    const good = await connectRawAgent(own.address, await own.anna.enroll('good'));
    const call = post(own, chat({ model: 'm' }));
    await act(bad);
    const open = await good.nextOpen();
    good.answer(open.stream, DOCUMENT);
    expect(open.attempt).toBe(2);
    const response = await call;
    expect(response.status).toBe(200);
    expect(response.headers.get('x-provider')).toBe('good');
  });

  it('gets the whole request again, byte for byte', async () => {
    const own = await startGateway();
    const services = HELLO.services.map((service) => ({ ...service, slots: 9 }));
    const bad = await connectRawAgent(own.address, await own.anna.enroll('bad'), { services });
    const good = await connectRawAgent(own.address, await own.anna.enroll('good'));
    const call = post(own, chat({ model: 'm', padding: 'x'.repeat(100_000) }));
    const first = await bad.nextOpen();
    await until(() => bad.bodies.get(first.stream)?.length === first.body?.bytes);
    bad.socket.terminate();
    const second = await good.nextOpen();
    await until(() => good.bodies.get(second.stream)?.length === second.body?.bytes);
    expect(good.bodies.get(second.stream)).toEqual(bad.bodies.get(first.stream));
    expect(second.request_id).toBe(first.request_id);
    good.answer(second.stream, DOCUMENT);
    expect((await call).status).toBe(200);
  });
});
