import { startDemoServer } from '@inference-gateway/agent/demo/server';
import { expect, it, onTestFinished } from 'vitest';
import { expectOk, startProcessGateway } from '../support/process-gateway.js';
import type { ProcessGateway } from '../support/process-gateway.js';
import { until } from '../support/until.js';

const USER = { role: 'user' as const, content: 'one two three four' };

async function demoService(): Promise<object> {
  const demo = await startDemoServer();
  onTestFinished(() => demo.close());
  return { type: 'llm', backend: 'openai', base_url: demo.baseUrl };
}

/** In one test, because the start of both programs is most of the cost of each of its parts. */
it('both programs serve, refuse a disabled key and second ones, and outlast a kick', async () => {
  const { gateway } = await startProcessGateway([await demoService()]);
  const agent = gateway.startAgent();
  expect(await agent.online).toBe('den-pc');
  await expectStockClientChats(gateway);
  await expectKeyIsDisabledAtOnce(gateway);
  await expectSecondOnesRefused(gateway);
  // The kicked agent comes back by itself.
  expectOk(await gateway.admin('provider', 'kick', 'den-pc'));
  await expectStockClientChats(gateway);
  // The owner stops the agent, and what runs on it still finishes.
  const text = await streamForty(gateway, () => agent.child.kill('SIGTERM'));
  expect(text).toContain('w39');
  expect((await agent.finished).code).toBe(0);
});

/** Plain and streamed. */
async function expectStockClientChats({ client }: ProcessGateway): Promise<void> {
  const call = { model: 'demo-chat', messages: [USER] };
  const plain = await client.chat.completions.create(call);
  expect(plain.choices[0]?.message.content).toContain('one two three four');
  let text = '';
  for await (const chunk of await client.chat.completions.create({ ...call, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? '';
  }
  expect(text).toBe(plain.choices[0]?.message.content);
}

async function expectKeyIsDisabledAtOnce(gateway: ProcessGateway): Promise<void> {
  const ask = () => gateway.client.models.list();
  expect((await ask()).data).toHaveLength(2);
  expectOk(await gateway.admin('key', 'disable', 'Anna/test'));
  await expect(ask()).rejects.toMatchObject({ status: 401, code: 'disabled_api_key' });
  expectOk(await gateway.admin('key', 'enable', 'Anna/test'));
  expect((await ask()).data).toHaveLength(2);
}

/** A coordinator on the same data folder, and an agent on the same configuration. */
async function expectSecondOnesRefused(gateway: ProcessGateway): Promise<void> {
  const coordinator = await gateway.admin('start', '--port', '0');
  expect(coordinator.code).toBe(7);
  expect(coordinator.stderr).toContain(gateway.folder);
  const agent = await gateway.agentCommand('den-pc', 'start');
  expect(agent.code).toBe(7);
}

it('a drained provider gets no new work, and a resumed one does', async () => {
  const { gateway } = await startProcessGateway([await demoService()], {
    GATEWAY_RECONNECT_WAIT_S: '0.1',
  });
  await gateway.startAgent().online;
  const ask = () =>
    gateway.client.chat.completions.create({ model: 'demo-chat', messages: [USER] });
  await ask();
  expectOk(await gateway.admin('provider', 'drain', 'den-pc'));
  await until(() =>
    ask().then(
      () => false,
      (error: { code?: string }) => error.code === 'model_offline',
    ),
  );
  expectOk(await gateway.admin('provider', 'resume', 'den-pc'));
  expect((await ask()).choices).toHaveLength(1);
});

/** Streams forty words, calls back at the first of them, and returns what arrived. */
async function streamForty(gateway: ProcessGateway, atFirstWord: () => void): Promise<string> {
  const content = Array.from({ length: 40 }, (_, i) => `w${i}`).join(' ');
  const stream = await gateway.client.chat.completions.create({
    model: 'demo-chat',
    stream: true,
    messages: [{ role: 'user', content }],
  });
  let text = '';
  for await (const chunk of stream) {
    const word = chunk.choices[0]?.delta.content ?? '';
    if (text === '' && word !== '') atFirstWord();
    text += word;
  }
  return text;
}

it('SIGTERM lets a stream under way finish, and refuses what comes after it', async () => {
  const { gateway, coordinator } = await startProcessGateway([await demoService()]);
  await gateway.startAgent().online;
  const text = await streamForty(gateway, () => coordinator.child.kill('SIGTERM'));
  expect(text).toContain('w39');
  expect((await coordinator.finished).code).toBe(0);
  await expect(gateway.client.models.list()).rejects.toThrow();
});

it('a second signal stops the coordinator at once', async () => {
  const { gateway, coordinator } = await startProcessGateway([await demoService()]);
  await gateway.startAgent().online;
  const broken = streamForty(gateway, () => {
    coordinator.child.kill('SIGTERM');
    coordinator.child.kill('SIGINT');
  });
  await expect(broken).rejects.toThrow();
  expect((await coordinator.finished).code).toBe(130);
});
