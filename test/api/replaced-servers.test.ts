/** Another model server replaces one on the same port between two polls of the agent. */
import { expect, it, onTestFinished } from 'vitest';
import { answer, stream } from '../support/fake-behaviours.js';
import { startFakeLlamaServer, startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { chat, failureOf, post } from './requests.js';

async function llama(gateway: TestGateway, name: string): Promise<FakeModelServer> {
  const fake = await startFakeLlamaServer();
  onTestFinished(() => fake.close());
  const service = { baseUrl: fake.baseUrl, backend: 'llama-server' };
  await gateway.startAgent({ name, services: [service] });
  return fake;
}

/**
 * Replaces the server: the new one accepts any name, and lists its own model and names it in its
 * answers.
 */
function replace(fake: FakeModelServer, model: string): void {
  const props = fake.routes['/props'] as object;
  fake.routes['/props'] = { ...props, model_alias: model };
  fake.routes['/v1/models'] = { data: [{ id: model, object: 'model', owned_by: 'llamacpp' }] };
  fake.behave(answer({ text: 'I am another', model }));
}

async function idsOf(gateway: TestGateway): Promise<string[]> {
  const { data } = (await (await gateway.fetch('/v1/models')).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

it.each([false, true])(
  'no answer of it is passed off as the old one (stream: %s)',
  async (streamed) => {
    const gateway = await startGateway({ reconnectWaitMs: 0 });
    const fake = await llama(gateway, 'den-pc');
    expect((await post(gateway, chat({ stream: streamed }))).status).toBe(200);
    replace(fake, 'other');
    const refused = await failureOf(await post(gateway, chat({ stream: streamed })));
    expect(refused).toMatchObject({ status: 502, code: 'provider_error' });
    expect(refused.message).toContain("has another model now, 'other'");
    // Much sooner than the next regular poll, which is 10 s away.
    await until(async () => (await idsOf(gateway)).join() === 'other', { timeoutMs: 5_000 });
    const later = await post(gateway, chat({ model: 'other' }));
    expect(await later.json()).toMatchObject({
      choices: [{ message: { content: 'I am another' } }],
    });
  },
);

it('another provider of the model answers instead', async () => {
  const gateway = await startGateway();
  const replaced = await llama(gateway, 'den-pc');
  const good = await startFakeOpenAi({ behaviour: stream(['the old one']) });
  onTestFinished(() => good.close());
  await gateway.startAgent({ name: 'good-pc', services: [{ baseUrl: good.baseUrl }] });
  replace(replaced, 'other');
  for (let i = 0; i < 3; i++) {
    const response = await post(gateway, chat());
    expect(response.headers.get('x-provider')).toBe('good-pc');
    expect(await response.json()).toMatchObject({
      model: 'tiny',
      choices: [{ message: { content: 'the old one' } }],
    });
  }
});

it.each([
  ['its alias', { aliases: ['tiny', 'nick'] }, 'nick'],
  ['the name that it was asked for', {}, 'tiny'],
  ['the path of its file', { id: '/home/ann/models/tiny.gguf' }, '/home/ann/models/tiny.gguf'],
])('a server that calls its model by %s is not taken for another', async (_, told, named) => {
  const gateway = await startGateway();
  const fake = await startFakeLlamaServer({
    models: [{ id: 'tiny', ...told }],
    behaviour: answer({ model: named }),
  });
  onTestFinished(() => fake.close());
  const mine = { contextLength: null, inputModalities: null, supportedFeatures: null };
  const models = [{ id: 'tiny', servedName: 'tiny.gguf', ...mine }];
  const service = { baseUrl: fake.baseUrl, backend: 'llama-server', models };
  await gateway.startAgent({ services: [service] });
  expect((await post(gateway, chat())).status).toBe(200);
});
