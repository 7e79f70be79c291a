import { APIConnectionError, APIError } from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Cable } from '../support/cable.js';
import { answer, chunks } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startProcessGateway } from '../support/process-gateway.js';
import type { ProcessGateway } from '../support/process-gateway.js';
import { until } from '../support/until.js';

const USER = { role: 'user' as const, content: 'hello' };

async function fakeServer(): Promise<FakeModelServer> {
  const fake = await startFakeOpenAi({ models: ['m'] });
  onTestFinished(() => fake.close());
  return fake;
}

const serviceOf = (fake: FakeModelServer) => ({
  type: 'llm',
  backend: 'openai',
  base_url: fake.baseUrl,
  slots: 4,
});

const ask = (gateway: ProcessGateway) =>
  gateway.client.chat.completions.create({ model: 'm', messages: [USER] });

/** Reads a stream to its end and returns the error that it threw. */
async function breakInStream(gateway: ProcessGateway, kill: () => void): Promise<unknown> {
  const stream = await gateway.client.chat.completions.create({
    model: 'm',
    stream: true,
    messages: [USER],
  });
  let killed = false;
  try {
    for await (const chunk of stream) {
      if (!killed && chunk.choices[0]?.delta.content) {
        killed = true;
        kill();
      }
    }
  } catch (error) {
    return error;
  }
  throw new Error('the stream ended as if it were whole');
}

describe('an agent that is killed', () => {
  it('in mid-stream ends the stream in a typed error', async () => {
    const fake = await fakeServer();
    const { gateway } = await startProcessGateway([serviceOf(fake)]);
    const agent = gateway.startAgent();
    await agent.online;
    fake.behave(chunks({ count: 500, delayMs: 20 }));
    const error = await breakInStream(gateway, () => agent.child.kill('SIGKILL'));
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ code: 'provider_disconnected', type: 'upstream_error' });
    await until(() => fake.inFlight === 0);
  });

  it('and started again answers the call that has waited for it', async () => {
    const fake = await fakeServer();
    const { gateway } = await startProcessGateway([serviceOf(fake)]);
    const first = gateway.startAgent();
    await first.online;
    await ask(gateway);
    first.child.kill('SIGKILL');
    await first.finished;
    const call = ask(gateway);
    const second = gateway.startAgent();
    await second.online;
    expect((await call).choices).toHaveLength(1);
  });
});

describe('a coordinator that is killed', () => {
  it('in mid-stream breaks the stream with an error, and the work on the GPU stops', async () => {
    const fake = await fakeServer();
    const { gateway, coordinator } = await startProcessGateway([serviceOf(fake)]);
    await gateway.startAgent().online;
    fake.behave(chunks({ count: 500, delayMs: 20 }));
    const error = await breakInStream(gateway, () => coordinator.child.kill('SIGKILL'));
    expect(error).toBeInstanceOf(Error);
    await until(() => fake.inFlight === 0);
  });

  it('finds its agents back within 30 s, by themselves', async () => {
    const fake = await fakeServer();
    const { gateway, coordinator } = await startProcessGateway([serviceOf(fake)]);
    await gateway.startAgent().online;
    coordinator.child.kill('SIGKILL');
    await coordinator.finished;
    await expect(ask(gateway)).rejects.toBeInstanceOf(APIConnectionError);
    await gateway.startCoordinator();
    await until(
      () =>
        ask(gateway).then(
          () => true,
          () => false,
        ),
      { timeoutMs: 30_000 },
    );
  });
});

describe('a link that swallows everything', () => {
  const SHORT = { GATEWAY_PING_S: '0.2', GATEWAY_DEAD_S: '1' };

  it('is seen dead on both sides, and the agent comes back by another', async () => {
    const fake = await fakeServer();
    const { gateway } = await startProcessGateway([], { ...SHORT, GATEWAY_RECONNECT_WAIT_S: '20' });
    const cable = await new Cable().listen(gateway.port);
    const through = `http://127.0.0.1:${cable.port}`;
    await gateway.enroll('far-pc', [serviceOf(fake)], through);
    const agent = gateway.startAgent('far-pc');
    await agent.online;
    await ask(gateway);
    fake.behave(chunks({ count: 500, delayMs: 20 }));
    const error = await breakInStream(gateway, () => cable.swallow());
    expect(error).toMatchObject({ code: 'provider_disconnected' });
    await until(() => fake.inFlight === 0);
    await until(() => agent.output.stderr.includes('not connected'));
    cable.mend();
    fake.behave(answer());
    expect((await ask(gateway)).choices).toHaveLength(1);
  });

  it('that is cut comes back at once', async () => {
    const fake = await fakeServer();
    const { gateway } = await startProcessGateway([]);
    const cable = await new Cable().listen(gateway.port);
    await gateway.enroll('far-pc', [serviceOf(fake)], `http://127.0.0.1:${cable.port}`);
    const agent = gateway.startAgent('far-pc');
    await agent.online;
    await ask(gateway);
    cable.cut();
    expect((await ask(gateway)).choices).toHaveLength(1);
    // A reader of its log is not left with "not connected" as its last word.
    await until(() => /"not connected"[^]*"msg":"connected"/.test(agent.output.stderr));
  });
});
