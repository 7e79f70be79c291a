import { LocalFailure } from '@inference-gateway/agent/backends/backend';
import { expect, test } from 'vitest';
import { errorOf } from '../../../support/local-call.js';
import { PIPER_VOICES, startOlderPiper, startPiper } from '../../../support/local-servers/piper.js';
import { jsonOf } from '../../../support/local-servers/posted.js';
import { startRoutedServer } from '../../../support/local-servers/routed-server.js';
import { send } from '../../../support/recording-server.js';
import { inFrontOf, onlyFile, speech } from '../speech-stages.js';

const PATH = '/synthesize';

test('is one model with its voices, the one that it began with first', async () => {
  const { server } = await startPiper();
  const { models, slots } = await inFrontOf(server, 'piper').describe();
  expect(models).toMatchObject([{ id: 'piper', voices: PIPER_VOICES, loaded: true }]);
  expect(slots).toBe(1);
});

test('makes Opus without ffmpeg, too', async () => {
  const { server } = await startPiper();
  const { backend, describe } = inFrontOf(server, 'piper', { hasFfmpeg: false });
  expect((await describe()).models[0]).not.toHaveProperty('formats');
  const call = speech('piper', { response_format: 'opus' }, PIPER_VOICES);
  const { contentType, bytes } = await onlyFile(await backend.call(call));
  expect([contentType, bytes.toString('latin1', 28, 36)]).toEqual(['audio/ogg', 'OpusHead']);
});

test.each([
  [2, 0.5],
  [0.5, 2],
  [1, 1],
  [undefined, undefined],
])('speed %s is a length of %s', async (speed, scale) => {
  const piper = await startPiper();
  const { backend } = inFrontOf(piper.server, 'piper');
  await onlyFile(await backend.call(speech('piper', { speed })));
  expect(jsonOf(piper.posts(PATH)[0])['length_scale']).toBe(scale);
});

test('is sent its own fields, and nothing that it does not know or its owner drops', async () => {
  const piper = await startPiper();
  const { backend } = inFrontOf(piper.server, 'piper', { dropFields: ['noise_scale'] });
  const own = { speaker: 'p1', length_scale: 1.5, noise_scale: 0.5 };
  const body = { ...own, speed: 2, response_format: 'wav', user: 'me', noise_w_scale: {} };
  await onlyFile(await backend.call(speech('piper', body, PIPER_VOICES)));
  expect(jsonOf(piper.posts(PATH)[0])).toEqual({
    text: 'Grüße',
    voice: PIPER_VOICES[0],
    speaker: 'p1',
    length_scale: 1.5,
  });
});

test.each([
  [1e9, 4],
  ['1e9', 4],
  [0, 0.25],
  ['long', undefined],
])('a length of %j is held to %s', async (length, scale) => {
  const piper = await startPiper();
  const { backend } = inFrontOf(piper.server, 'piper');
  await onlyFile(await backend.call(speech('piper', { length_scale: length })));
  expect(jsonOf(piper.posts(PATH)[0])['length_scale']).toBe(scale);
});

test('its WAV is Opus where Opus is asked', async () => {
  const piper = await startPiper();
  const { backend } = inFrontOf(piper.server, 'piper');
  const file = await onlyFile(await backend.call(speech('piper', { response_format: 'opus' })));
  expect(file.contentType).toBe('audio/ogg');
  expect(file.bytes.subarray(28, 36).toString()).toBe('OpusHead');
});

test.each([
  ['voice', { voice: '../../models/other' }],
  ['input', { input: ' \n ' }],
  ['speed', { speed: 0 }],
  ['speed', { speed: 'fast' }],
])('a %s that it would fail at is refused: %j', async (param, body) => {
  const { server } = await startPiper();
  const { backend } = inFrontOf(server, 'piper');
  const refused = await backend.call(speech('piper', body));
  expect(refused).toMatchObject({ status: 400 });
  expect(errorOf(refused)).toMatchObject({ param });
  expect(server.requests).toEqual([]);
});

test('an unknown voice is refused, which it would answer in another one', async () => {
  const { server } = await startPiper();
  const { backend } = inFrontOf(server, 'piper');
  const refused = await backend.call(speech('piper', { voice: 'en_US-amy-low' }, PIPER_VOICES));
  expect(errorOf(refused)).toMatchObject({ code: 'unsupported_value', param: 'voice' });
});

test('one of before is sent the text, and asked nothing that would make it speak', async () => {
  const piper = await startOlderPiper();
  const { backend, describe } = inFrontOf(piper.server, 'piper');
  const { models } = await describe();
  expect(models).toMatchObject([{ id: 'piper' }]);
  expect(models[0]).not.toHaveProperty('voices');
  expect(piper.server.to('/')).toEqual([]);
  const file = await onlyFile(await backend.call(speech('piper', { speed: 2 })));
  expect(file.contentType).toBe('audio/wav');
  expect(piper.posts('/').map(({ body }) => body.toString())).toEqual(['Grüße']);
});

test('which one it is, is found out by a request that comes first', async () => {
  const piper = await startOlderPiper();
  await onlyFile(await inFrontOf(piper.server, 'piper').backend.call(speech('piper')));
  expect(piper.server.requests.map(({ path }) => path)).toEqual(['/voices', '/']);
});

test('what fails meanwhile names no address of the home network', async () => {
  const other = await startRoutedServer({ software: 'uvicorn', get: {} });
  const failing = inFrontOf(other.server, 'piper').backend.call(speech('piper'));
  const message = 'piper does not tell its voices.';
  await expect(failing).rejects.toMatchObject({ code: 'LOCAL_ERROR', message });
});

test('another server in its place is told apart', async () => {
  const other = await startRoutedServer({ software: 'uvicorn', get: {} });
  const describing = inFrontOf(other.server, 'piper').describe();
  await expect(describing).rejects.toBeInstanceOf(LocalFailure);
  const list = await startRoutedServer({ software: 'uvicorn', get: { '/voices': ['a'] } });
  const message = expect.stringContaining("is not piper's") as string;
  await expect(inFrontOf(list.server, 'piper').describe()).rejects.toMatchObject({ message });
});

test.each([
  ['404', 404],
  ['302', 302],
])('status %s is a failure of the machine', async (_, status) => {
  const piper = await startPiper();
  piper.behaviour = (_request, response) => send(response, status, 'elsewhere');
  const { backend } = inFrontOf(piper.server, 'piper');
  await expect(backend.call(speech('piper'))).rejects.toMatchObject({ code: 'LOCAL_ERROR' });
});
