import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { audioFile, AUDIO_SECONDS } from '../support/audio-files.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { make, sendFile, SONG, startStudio } from '../support/studio.js';
import { usageOf } from '../support/usage-rows.js';
import { bytesOf, fetchAsset, play, speak } from './media-calls.js';
import type { ImageList } from './media-calls.js';
import { failureOf } from './requests.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  ({ fake } = await startStudio(gateway, { types: ['music', 'tts'] }));
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

afterEach(() => {
  fake.behave(make);
  fake.requests.length = 0;
});

describe('the answer is raw audio by default', () => {
  it('as the model makes it, and kept', async () => {
    const response = await play(gateway);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(await bytesOf(response)).toEqual(SONG);
    const copy = await fetchAsset(response.headers.get('x-asset-url'), gateway.anna.key);
    expect(await bytesOf(copy)).toEqual(SONG);
  });

  it.each(['mp3', 'flac', 'opus'] as const)('%s, too', async (kind) => {
    const sound = await audioFile(kind);
    fake.behave(sendFile('application/octet-stream', sound));
    const response = await play(gateway, { audio_format: kind });
    const types = { mp3: 'audio/mpeg', flac: 'audio/flac', opus: 'audio/ogg' };
    expect(response.headers.get('content-type')).toBe(types[kind]);
    expect(await bytesOf(response)).toEqual(sound);
    const { audioMs } = await usageOf(gateway, response);
    expect(Math.abs(audioMs - AUDIO_SECONDS * 1_000)).toBeLessThan(100);
  });
});

it('response_format url answers {created, data: [{url}]}', async () => {
  const response = await play(gateway, { response_format: 'url' });
  const { created, data } = (await response.json()) as ImageList;
  expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(10);
  expect(data).toEqual([{ url: expect.any(String) }]);
  expect(await bytesOf(await fetchAsset(data[0]?.url, gateway.anna.key))).toEqual(SONG);
  expect(await usageOf(gateway, response)).toMatchObject({ audioMs: 1_250, outcome: 'ok' });
});

it('music is metered by its duration', async () => {
  const response = await play(gateway);
  await bytesOf(response);
  expect(await usageOf(gateway, response)).toMatchObject({
    serviceType: 'music',
    endpoint: 'music',
    audioMs: 1_250,
    images: 0,
  });
});

it('every field of the request reaches the model, async and response_format do not', async () => {
  const fields = {
    lyrics: 'La la la',
    audio_duration: 30,
    audio_format: 'mp3',
    seed: 42,
    anything_else: 1,
  };
  await play(gateway, { ...fields, async: false, response_format: 'url' });
  expect(fake.lastRequest.body).toMatchObject(fields);
  expect(fake.lastRequest.body).not.toHaveProperty('async');
  expect(fake.lastRequest.body).not.toHaveProperty('response_format');
});

it('a request reaches only a model of type music', async () => {
  const spoken = await failureOf(await play(gateway, { model: 'kokoro' }));
  expect(spoken).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
  expect(spoken.message).toContain("'kokoro' as music");
  expect(await failureOf(await speak(gateway, { model: 'ace' }))).toMatchObject({ status: 404 });
  expect(fake.requests).toEqual([]);
});

it.each<[number, string, string | null, object]>([
  [400, 'missing_required_parameter', 'model', { model: null }],
  [400, 'missing_required_parameter', 'prompt', { prompt: null }],
  [400, 'invalid_value', 'audio_duration', { audio_duration: 601 }],
  [400, 'invalid_type', 'lyrics', { lyrics: ['la'] }],
  [400, 'invalid_value', 'response_format', { response_format: 'mp3' }],
])('%i %s %s', async (...row) => {
  const [status, code, param, fields] = row;
  expect(await failureOf(await play(gateway, fields))).toMatchObject({ status, code, param });
  expect(fake.requests).toEqual([]);
});

it('502 where the local server answers no sound', async () => {
  fake.behave(sendFile('audio/mpeg', '<!doctype html><h1>Oops</h1>'));
  const failure = await failureOf(await play(gateway));
  expect(failure).toMatchObject({ status: 502, code: 'provider_error', retry: 'false' });
});
