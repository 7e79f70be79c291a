import { expect, it, onTestFinished } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

const modelsOf = async (gateway: TestGateway): Promise<string[]> =>
  (await gateway.client.models.list()).data.map((model) => model.id);

const ask = (gateway: TestGateway) =>
  gateway.client.chat.completions.create({
    model: 'tiny',
    messages: [{ role: 'user', content: 'hello' }],
  });

it('models leave at the first refused call, and return with their local server', async () => {
  const gateway = await startGateway({ reconnectWaitMs: 100 });
  const fake = await startFakeOpenAi();
  const other = await startFakeOpenAi({ models: ['other'] });
  onTestFinished(() => other.close());
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }, { baseUrl: other.baseUrl }] });
  await ask(gateway);
  await fake.close();
  await expect(ask(gateway)).rejects.toMatchObject({ status: 502, code: 'provider_error' });
  await until(async () => (await modelsOf(gateway)).join() === 'other', { timeoutMs: 1_000 });
  await expect(ask(gateway)).rejects.toMatchObject({ status: 404 });
  const back = await startFakeOpenAi({ port: fake.port });
  onTestFinished(() => back.close());
  await until(async () => (await modelsOf(gateway)).includes('tiny'), { timeoutMs: 15_000 });
  expect((await ask(gateway)).choices).toHaveLength(1);
});

it('a local server that goes down unnoticed by any call leaves the list within 15 s', async () => {
  const gateway = await startGateway();
  const fake = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  expect(await modelsOf(gateway)).toEqual(['tiny']);
  await fake.close();
  await until(async () => (await modelsOf(gateway)).length === 0, { timeoutMs: 15_000 });
});

it('local servers that are down when the agent starts are served once they are up', async () => {
  const gateway = await startGateway();
  const gone = await startFakeOpenAi();
  await gone.close();
  await gateway.startAgent({ services: [{ baseUrl: gone.baseUrl }] });
  expect(await modelsOf(gateway)).toEqual([]);
  const late = await startFakeOpenAi({ port: gone.port });
  onTestFinished(() => late.close());
  await until(async () => (await modelsOf(gateway)).includes('tiny'), { timeoutMs: 15_000 });
});
