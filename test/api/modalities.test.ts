/** Input other than text, and the models that accept it. */
import { expect, it, onTestFinished } from 'vitest';
import { reply } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeLlamaServer, startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { ended, submit, submitBatch, submitted, chatItem } from './job-calls.js';
import { chat, failureOf, post } from './requests.js';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';
const IMAGE = { type: 'image_url', image_url: { url: PIXEL } };
const SOUND = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
const FILM = { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AA==' } };
const TEXT = { type: 'text', text: 'What is it?' };
const holding = (...parts: object[]) => ({
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [TEXT, ...parts] },
  ],
});

/** llama-server, which reports the modalities of its model. */
async function llama(
  gateway: TestGateway,
  name: string,
  told: Readonly<Record<string, boolean>> = {},
): Promise<FakeModelServer> {
  const modalities = { vision: false, audio: false, video: false, ...told };
  const fake = await startFakeLlamaServer({ routes: { '/props': { total_slots: 2, modalities } } });
  onTestFinished(() => fake.close());
  const service = { baseUrl: fake.baseUrl, backend: 'llama-server' };
  await gateway.startAgent({ name, services: [service] });
  return fake;
}

/** A server that does not report modalities. */
async function untold(gateway: TestGateway): Promise<FakeModelServer> {
  const fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  await gateway.startAgent({ name: 'untold-pc', services: [{ baseUrl: fake.baseUrl }] });
  return fake;
}

it.each([
  ['an image', IMAGE, 'image'],
  ['a sound', SOUND, 'audio'],
  ['a film', FILM, 'video'],
])('%s that no provider takes is refused before a GPU is asked', async (_, part, input) => {
  const gateway = await startGateway();
  const fake = await llama(gateway, 'den-pc');
  const refused = await failureOf(await post(gateway, chat(holding(part))));
  expect(refused).toMatchObject({
    status: 400,
    type: 'invalid_request_error',
    code: 'unsupported_modality',
    param: 'messages[1].content[1]',
  });
  expect(refused.message).toContain(`holds ${input}, which the model 'tiny' does not take`);
  expect(fake.requests).toHaveLength(0);
});

it('the first part that nobody takes is named, beside one that is taken', async () => {
  const gateway = await startGateway();
  await llama(gateway, 'den-pc', { vision: true });
  const refused = await failureOf(await post(gateway, chat(holding(IMAGE, IMAGE, SOUND))));
  expect(refused).toMatchObject({ code: 'unsupported_modality', param: 'messages[1].content[3]' });
});

it('those who surely take it come before those who do not tell; others are not asked', async () => {
  const gateway = await startGateway();
  const blind = await llama(gateway, 'blind-pc');
  await untold(gateway);
  const providerOf = async () => {
    const response = await post(gateway, chat(holding(IMAGE)));
    return [response.status, response.headers.get('x-provider')];
  };
  for (let i = 0; i < 3; i++) expect(await providerOf()).toEqual([200, 'untold-pc']);
  await llama(gateway, 'seer-pc', { vision: true });
  for (let i = 0; i < 3; i++) expect(await providerOf()).toEqual([200, 'seer-pc']);
  expect(blind.requests).toHaveLength(0);
});

it('a job and a batch are refused when they are handed in', async () => {
  const gateway = await startGateway();
  await llama(gateway, 'den-pc');
  const refused = await failureOf(await submit(gateway, holding(IMAGE)));
  expect(refused).toMatchObject({ code: 'unsupported_modality', param: 'messages[1].content[1]' });
  const batch = await failureOf(await submitBatch(gateway, [chatItem(holding(IMAGE))]));
  expect(batch).toMatchObject({
    type: 'invalid_request',
    param: 'requests[0].body.messages[1].content[1]',
  });
});

it('a server that says itself that it takes no images fails a job at its first try', async () => {
  const gateway = await startGateway();
  const fake = await untold(gateway);
  const error = { message: 'image input is not supported - hint: provide the mmproj' };
  fake.behave(reply(500, { error }));
  const { id } = await submitted(gateway, holding(IMAGE));
  expect(await ended(gateway, id)).toMatchObject({
    status: 'FAILED',
    attempts: 1,
    error: { type: 'invalid_request_error', code: 'provider_rejected', message: error.message },
  });
  expect(fake.requests).toHaveLength(1);
});
