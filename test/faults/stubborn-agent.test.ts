import { beforeEach, describe, expect, it } from 'vitest';
import { openStream } from '../api/open-stream.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectRawAgent, DOCUMENT } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';

let gateway: TestGateway;

beforeEach(async () => {
  gateway = await startGateway({ acceptMs: 500, syncWaitMs: 1_500, reconnectWaitMs: 100 });
});

const connectAgent = async (name: string): Promise<RawAgent> =>
  connectRawAgent(gateway.address, await gateway.anna.enroll(name));

const ask = (signal?: AbortSignal) =>
  gateway.client.chat.completions.create(
    { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
    signal === undefined ? {} : { signal },
  );

const opensOf = (agent: RawAgent) => agent.messages.filter(({ t }) => t === 'OPEN').length;

describe('an agent that never accepts', () => {
  it('is told to stop, and another provider answers', async () => {
    const [one, other] = [await connectAgent('one'), await connectAgent('other')];
    const call = ask();
    await until(() => one.hasOpen || other.hasOpen);
    const [deaf, good] = one.hasOpen ? [one, other] : [other, one];
    const open = await good.nextOpen();
    good.answer(open.stream, DOCUMENT);
    expect((await call).choices).toHaveLength(1);
    expect(await deaf.first('RESET')).toMatchObject({ code: 'DEADLINE' });
  });

  it('alone makes a 502 provider_timeout that says not to retry', async () => {
    const deaf = await connectAgent('deaf');
    const call = ask();
    await deaf.nextOpen(false);
    await expect(call).rejects.toMatchObject({ status: 502, code: 'provider_timeout' });
  });
});

describe('an agent that always rejects', () => {
  it.each(['draining', 'paused', 'no_model', 'type_mismatch'] as const)(
    'as %s is asked once, and the caller told that nobody is there',
    async (reason) => {
      const agent = await connectAgent('pc');
      const call = ask();
      const { stream } = await agent.nextOpen(false);
      agent.send({ t: 'REJECT', stream, reason });
      await expect(call).rejects.toMatchObject({ status: 404, code: 'model_offline' });
      expect(opensOf(agent)).toBe(1);
    },
  );

  it('as busy is asked again now and then, until the wait is over', async () => {
    const agent = await connectAgent('pc');
    const call = ask().catch((error: unknown) => error);
    let ended = false;
    void call.then(() => (ended = true));
    let rejected = 0;
    await until(() => {
      const opens = agent.messages.filter((one) => one.t === 'OPEN');
      for (const { stream } of opens.slice(rejected)) {
        agent.send({ t: 'REJECT', stream, reason: 'busy' });
        rejected += 1;
      }
      return ended;
    });
    expect(await call).toMatchObject({ status: 503, code: 'capacity_exhausted' });
    expect(rejected).toBeGreaterThan(1);
    expect(rejected).toBeLessThan(8);
  });
});

describe('an agent that ignores a cancel', () => {
  it('keeps its slot taken: no other work is piled onto the same card', async () => {
    const agent = await connectAgent('pc');
    const leaving = new AbortController();
    const calls = [1, 2, 3, 4].map(() => ask(leaving.signal).catch(() => null));
    for (let i = 0; i < 4; i++) await agent.nextOpen();
    leaving.abort();
    await Promise.all(calls);
    await until(() => agent.messages.filter(({ t }) => t === 'RESET').length === 4);
    await expect(ask()).rejects.toMatchObject({ status: 503, code: 'capacity_exhausted' });
    expect(opensOf(agent)).toBe(4);
  });

  it('gets work again as soon as it confirms', async () => {
    const agent = await connectAgent('pc');
    const leaving = new AbortController();
    const calls = [1, 2, 3, 4].map(() => ask(leaving.signal).catch(() => null));
    const opens = [];
    for (let i = 0; i < 4; i++) opens.push(await agent.nextOpen());
    leaving.abort();
    await Promise.all(calls);
    const waiting = ask();
    const [first] = opens;
    agent.send({ t: 'RESET', stream: first?.stream ?? 0, code: 'CANCELED' });
    const open = await agent.nextOpen();
    agent.answer(open.stream, DOCUMENT);
    expect((await waiting).choices).toHaveLength(1);
  });
});

it('an agent that only says that it lives, in the middle of a stream, has stalled', async () => {
  const stalling = await startGateway({ idleMs: 200 });
  const token = await stalling.anna.enroll('pc');
  const agent = await connectRawAgent(stalling.address, token);
  const answer = openStream(stalling, { model: 'm' });
  const { stream } = await agent.nextOpen();
  agent.send({ t: 'HEAD', stream, status: 200, content_type: 'text/event-stream' });
  agent.data(stream, 'data: {"choices":[]}\n\n');
  const isStopped = () => agent.messages.some(({ t }) => t === 'RESET');
  await until(() => {
    if (!isStopped()) agent.send({ t: 'PROGRESS', stream, phase: 'loading' });
    return isStopped();
  });
  expect(await (await answer).failure()).toMatchObject({ code: 'provider_timeout' });
});

it('an answer that crosses a cancel frees the slot and harms nothing', async () => {
  const agent = await connectAgent('pc');
  for (let i = 0; i < 20; i++) {
    const leaving = new AbortController();
    const call = ask(leaving.signal).catch(() => null);
    const { stream } = await agent.nextOpen();
    leaving.abort();
    agent.answer(stream, DOCUMENT);
    await call;
  }
  expect(agent.closeCode).toBeNull();
  const call = ask();
  const open = await agent.nextOpen();
  agent.answer(open.stream, DOCUMENT);
  expect((await call).choices).toHaveLength(1);
});
