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

it('a stock client chats, plain and streamed, through both programs as they are run', async () => {
  const { gateway } = await startProcessGateway([await demoService()]);
  const agent = gateway.startAgent();
  expect(await agent.online).toBe('den-pc');
  const plain = await gateway.client.chat.completions.create({
    model: 'demo-chat',
    messages: [USER],
  });
  expect(plain.choices[0]?.message.content).toContain('one two three four');
  const stream = await gateway.client.chat.completions.create({
    model: 'demo-chat',
    stream: true,
    messages: [USER],
  });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  expect(text).toBe(plain.choices[0]?.message.content);
});

it('a key that is disabled stops at once, and works again when enabled', async () => {
  const { gateway } = await startProcessGateway([await demoService()]);
  await gateway.startAgent().online;
  const ask = () => gateway.client.models.list();
  expect((await ask()).data).toHaveLength(2);
  expectOk(await gateway.admin('key', 'disable', 'Anna/test'));
  await expect(ask()).rejects.toMatchObject({ status: 401, code: 'disabled_api_key' });
  expectOk(await gateway.admin('key', 'enable', 'Anna/test'));
  expect((await ask()).data).toHaveLength(2);
});

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

it('a kicked agent comes back by itself', async () => {
  const { gateway } = await startProcessGateway([await demoService()]);
  await gateway.startAgent().online;
  expectOk(await gateway.admin('provider', 'kick', 'den-pc'));
  const reply = await gateway.client.chat.completions.create({
    model: 'demo-chat',
    messages: [USER],
  });
  expect(reply.choices).toHaveLength(1);
});

it('a second coordinator on the same data folder is refused with exit 7', async () => {
  const { gateway } = await startProcessGateway([await demoService()]);
  const second = await gateway.admin('start', '--port', '0');
  expect(second.code).toBe(7);
  expect(second.stderr).toContain(gateway.folder);
});

it('a second agent on the same configuration is refused with exit 7', async () => {
  const { gateway } = await startProcessGateway([await demoService()]);
  await gateway.startAgent().online;
  const second = await gateway.agentCommand('den-pc', 'start');
  expect(second.code).toBe(7);
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

it('the owner stops the agent, and what runs on it still finishes', async () => {
  const { gateway } = await startProcessGateway([await demoService()]);
  const agent = gateway.startAgent();
  await agent.online;
  const text = await streamForty(gateway, () => agent.child.kill('SIGTERM'));
  expect(text).toContain('w39');
  expect((await agent.finished).code).toBe(0);
});
