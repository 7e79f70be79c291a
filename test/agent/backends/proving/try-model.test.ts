import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import { tryModel } from '@inference-gateway/agent/backends/proving/try-model';
import type { Trial } from '@inference-gateway/agent/backends/proving/try-model';
import { expect, onTestFinished, test } from 'vitest';
import { configuredServer } from '../../../support/configured-server.js';
import {
  answer,
  chunks,
  dieMidStream,
  errorEvent,
  hangBeforeHeaders,
  reply,
} from '../../../support/fake-behaviours.js';
import { startFakeOpenAi } from '../../../support/fake-openai-server.js';
import type { Behaviour, FakeModelServer } from '../../../support/fake-model-server.js';
import { localCall } from '../../../support/local-call.js';
import { picture } from '../../../support/pictures.js';
import { tone } from '../../../support/sound.js';

const PASSES: readonly [ServiceType, Behaviour][] = [
  ['llm', answer({ text: 'ok' })],
  ['stt', reply(200, { text: '' })],
  ['tts', file('audio/wav', tone(0.5))],
  ['image', reply(200, { data: [{ b64_json: picture().toString('base64') }] })],
  ['video', file('video/mp4', mp4())],
  ['music', file('audio/wav', tone(1))],
];

test.each(PASSES)('a model of type %s that does its work passes', async (type, behaviour) => {
  const { server, trial } = await tryOne(type, behaviour);
  expect(trial).toMatchObject({ ok: true, reason: null, cut: null });
  expect(trial.bytes).toBeGreaterThan(10);
  expect(trial.ms).toBeGreaterThanOrEqual(trial.firstByteMs ?? Infinity);
  expect(server.requests).toHaveLength(1);
});

test('it is a tiny request, and what came is counted', async () => {
  const chat = await tryOne('llm', answer({ text: 'one two three' }));
  expect(chat.server.lastRequest.body).toMatchObject({ model: 'tiny', max_tokens: 16 });
  expect(chat.trial).toMatchObject({ tokens: 3, seconds: null });
  const speech = await tryOne('tts', file('audio/wav', tone(0.5)));
  expect(speech.trial).toMatchObject({ tokens: null, seconds: 0.5 });
  const heard = await tryOne('stt', reply(200, { text: 'hm' }));
  expect(heard.server.lastRequest.text).toContain('RIFF');
});

const FAILS: readonly [string, ServiceType, Behaviour, RegExp][] = [
  ['answers 500', 'llm', reply(500, { error: { message: 'no memory left' } }), /no memory left/],
  ['refuses', 'llm', reply(400, { error: { message: 'no template' } }), /\(400\): no template/],
  ['streams nothing', 'llm', chunks({ count: 0 }), /./],
  ['breaks off', 'llm', dieMidStream(), /./],
  ['reports an error in its stream', 'llm', errorEvent('the card is full'), /the card is full/],
  ['answers without a choice', 'llm', reply(200, { choices: [] }), /./],
  ['hears nothing at all', 'stt', reply(200, {}), /./],
  ['speaks no bytes', 'tts', file('audio/wav', Buffer.alloc(0)), /answered nothing/],
  ['speaks text', 'tts', reply(200, 'I cannot'), /no sound/],
  ['paints nothing', 'image', reply(200, { data: [] }), /./],
  ['films a picture', 'video', file('video/mp4', picture()), /./],
];

test.each(FAILS)('a model that %s fails', async (...[, type, behaviour, reason]) => {
  const { trial } = await tryOne(type, behaviour);
  expect(trial).toMatchObject({ ok: false, cut: null });
  expect(trial.reason).toMatch(reason);
});

test('a model that hangs fails within its limit, and is let go', async () => {
  const { server, trial } = await tryOne('llm', hangBeforeHeaders(), 100);
  expect(trial).toMatchObject({ ok: false, cut: null, reason: 'no whole answer within 0.1 s' });
  await expect.poll(() => server.aborts.length).toBe(1);
});

test('a server that is gone and a question that is stopped say nothing of a model', async () => {
  const server = await startFakeOpenAi();
  await server.close();
  const gone = await ask(server, 'llm');
  expect(gone).toMatchObject({ ok: false, cut: 'unreachable' });
  const hanging = await startFakeOpenAi({ behaviour: hangBeforeHeaders() });
  onTestFinished(() => hanging.close());
  const stop = new AbortController();
  const stopped = ask(hanging, 'llm', { stop });
  await expect.poll(() => hanging.requests.length).toBe(1);
  stop.abort(new Error('the owner plays'));
  expect(await stopped).toMatchObject({ ok: false, cut: 'stopped', reason: 'the owner plays' });
});

async function tryOne(
  type: ServiceType,
  behaviour: Behaviour,
  limitMs = 5_000,
): Promise<{ server: FakeModelServer; trial: Trial }> {
  const server = await startFakeOpenAi({ behaviour });
  onTestFinished(() => server.close());
  return { server, trial: await ask(server, type, { limitMs }) };
}

function ask(
  server: FakeModelServer,
  type: ServiceType,
  { limitMs = 5_000, stop = new AbortController() } = {},
): Promise<Trial> {
  const config = configuredServer(server.baseUrl, { type });
  const { model } = localCall({ endpoint: 'chat' });
  const subject = { config, backend: createBackend(config), model };
  return tryModel(subject, { limitMs, stop: stop.signal });
}

function file(contentType: string, bytes: Buffer): Behaviour {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': contentType }).end(bytes);
  };
}

/** The first box of a film, and some bytes more. */
function mp4(): Buffer {
  return Buffer.concat([Buffer.from([0, 0, 0, 16]), Buffer.from('ftypisom'), Buffer.alloc(64)]);
}
