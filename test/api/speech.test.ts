import ffmpeg from '@ffmpeg-installer/ffmpeg';
import { findFfmpeg } from '@inference-gateway/agent/media/ffmpeg';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { audioFile, AUDIO_SECONDS } from '../support/audio-files.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { answerAll, connectMediaAgent } from '../support/media-agent.js';
import { decoded, heard, silentWav } from '../support/sound.js';
import { make, sendFile, SPEECH, startStudio } from '../support/studio.js';
import { until } from '../support/until.js';
import { usageOf } from '../support/usage-rows.js';
import { bytesOf, fetchAsset, listAssets, speak } from './media-calls.js';

const UNKNOWN = 0xffffffff;

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  const voices = ['af_sky', 'af_bella', 'bm_george'];
  const converter = await findFfmpeg(ffmpeg.path);
  const studio = await startStudio(gateway, { types: ['tts'], voices, ffmpeg: converter });
  ({ fake } = studio);
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

afterEach(() => {
  fake.behave(make);
  fake.requests.length = 0;
});

/** The local server sends the first half, and the rest when the test says so. */
async function halfway(bytes: Buffer) {
  const half = bytes.length / 2;
  let local: ServerResponse | null = null;
  fake.once((_request, response) => {
    response.writeHead(200, { 'content-type': 'audio/wav' });
    response.write(bytes.subarray(0, half));
    local = response;
  });
  const asked = speak(gateway);
  const opened = await until(() => local, { what: 'a request at the local server' });
  return { asked, finish: () => opened.end(bytes.subarray(half)) };
}

describe('Response 200 is raw audio bytes', () => {
  it('of content type audio/wav by default', async () => {
    const response = await speak(gateway);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(await bytesOf(response)).toEqual(SPEECH);
    expect(fake.lastRequest.body).toMatchObject({ response_format: 'wav', input: 'Hello there.' });
  });

  it('of content type audio/ogg for opus, which the local server cannot make', async () => {
    const response = await speak(gateway, { response_format: 'opus' });
    expect(response.headers.get('content-type')).toBe('audio/ogg');
    const bytes = await bytesOf(response);
    expect(bytes.toString('latin1', 0, 4)).toBe('OggS');
    expect(bytes.includes('OpusHead')).toBe(true);
    const { audioMs } = await usageOf(gateway, response);
    expect(Math.abs(audioMs - 500)).toBeLessThan(100);
  });

  it('and the content type tells the truth, whatever was asked or said', async () => {
    fake.behave(sendFile('audio/mpeg', SPEECH));
    const asked = await speak(gateway, { response_format: 'mp3' });
    expect(asked.headers.get('content-type')).toBe('audio/wav');
    expect(await bytesOf(asked)).toEqual(SPEECH);
    const mp3 = await audioFile('mp3');
    fake.behave(sendFile('application/octet-stream', mp3));
    const made = await speak(gateway, { response_format: 'mp3' });
    expect(made.headers.get('content-type')).toBe('audio/mpeg');
    expect(await bytesOf(made)).toEqual(mp3);
    const { audioMs } = await usageOf(gateway, made);
    expect(Math.abs(audioMs - AUDIO_SECONDS * 1_000)).toBeLessThan(100);
  });

  it('and only the language and what else is asked of the model reaches it', async () => {
    const asked = { language: 'en-GB', speed: 1.5, async: false, response_format: null };
    // Reads to the end, so that its copy is not stored after one of a later test.
    await bytesOf(await speak(gateway, asked));
    expect(fake.lastRequest.body).toMatchObject({ language: 'en-GB', speed: 1.5 });
    expect(fake.lastRequest.body).not.toHaveProperty('async');
  });
});

it('a copy is stored by the service for the caller’s history', async () => {
  const response = await speak(gateway);
  const spoken = await bytesOf(response);
  const url = response.headers.get('x-asset-url');
  expect(url).toMatch(new RegExp(`^${gateway.address}/api/inference/assets/\\w{22}/$`));
  const copy = await fetchAsset(url, gateway.anna.key);
  expect(copy.headers.get('content-type')).toBe('audio/wav');
  expect(await bytesOf(copy)).toEqual(spoken);
  const [newest] = await listAssets(gateway);
  expect(newest).toMatchObject({ url, model: 'kokoro', endpoint: '/v1/audio/speech' });
});

it.each([0.5, 2, 7.25])('metered by audio duration: %f s', async (seconds) => {
  fake.behave(sendFile('audio/wav', silentWav(seconds)));
  const response = await speak(gateway);
  await bytesOf(response);
  expect(await usageOf(gateway, response)).toMatchObject({
    serviceType: 'tts',
    endpoint: 'speech',
    audioMs: seconds * 1_000,
    images: 0,
    outcome: 'ok',
  });
});

describe('bytes flow while they come', () => {
  it('the first one before the local server has ended', async () => {
    const { asked, finish } = await halfway(SPEECH);
    const response = await asked;
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    expect(first.value?.length).toBeGreaterThan(0);
    finish();
    let length = first.value?.length ?? 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      length += next.value.length;
    }
    expect(length).toBe(SPEECH.length);
  });

  it('except a WAV with placeholder lengths: it arrives whole, with a true header', async () => {
    const streamed = silentWav(3, { riffBytes: UNKNOWN, dataBytes: UNKNOWN });
    const { asked, finish } = await halfway(streamed);
    let isAnswered = false;
    void asked.then(() => (isAnswered = true));
    const later = performance.now() + 200;
    await until(() => performance.now() > later);
    expect(isAnswered).toBe(false);
    finish();
    const response = await asked;
    expect(await bytesOf(response)).toEqual(silentWav(3));
    expect((await usageOf(gateway, response)).audioMs).toBe(3_000);
    const copy = await fetchAsset(response.headers.get('x-asset-url'), gateway.anna.key);
    expect(await bytesOf(copy)).toEqual(silentWav(3));
  });
});

/** An agent that forwards what its local server made without correcting the header. */
async function connectCareless(own: TestGateway, bytes: Buffer): Promise<void> {
  const agent = await connectMediaAgent(own, { type: 'tts', name: 'den-pc' });
  answerAll(agent, ({ stream }) => agent.media(stream, [{ bytes }]));
}

it('a WAV that an agent sends without its length gets one here', async () => {
  const own = await startGateway();
  const streamed = silentWav(3, { riffBytes: UNKNOWN, dataBytes: UNKNOWN });
  await connectCareless(own, streamed);
  const response = await speak(own, { model: 'm' });
  expect(response.headers.get('content-length')).toBe(String(streamed.length));
  expect(await bytesOf(response)).toEqual(silentWav(3));
  expect((await usageOf(own, response)).audioMs).toBe(3_000);
  const copy = await fetchAsset(response.headers.get('x-asset-url'), own.anna.key);
  expect(await bytesOf(copy)).toEqual(silentWav(3));
});

describe('every answer tells its way', () => {
  const HEADERS = [
    ['x-request-id', /^req_/],
    ['x-ratelimit-limit', /^\d+$/],
    ['x-ratelimit-remaining', /^\d+$/],
    ['x-ratelimit-reset', /^\d+$/],
    ['x-provider', /^den-pc$/],
    ['x-attempts', /^1$/],
    ['x-queue-ms', /^\d+$/],
    ['x-gateway-overhead-ms', /^\d+$/],
    ['access-control-allow-origin', /^\*$/],
    ['access-control-expose-headers', /x-asset-url.*x-downgraded.*x-voice-fallback/],
  ] as const;

  it('as it flows, and where it is held until it is whole', async () => {
    const flowing = await speak(gateway);
    const own = await startGateway();
    await connectCareless(own, silentWav(1, { dataBytes: 0 }));
    const held = await speak(own, { model: 'm' });
    for (const [name, form] of HEADERS) {
      expect(flowing.headers.get(name), name).toMatch(form);
      expect(held.headers.get(name), name).toMatch(form);
    }
    await Promise.all([bytesOf(flowing), bytesOf(held)]);
  });
});

describe('a provider that cannot make the format', () => {
  it('is matched last', async () => {
    const own = await startGateway();
    const asked: string[] = [];
    for (const [name, owner, formats] of [
      ['wav-pc', own.anna, ['wav']],
      ['able-pc', own.anna, ['wav', 'opus']],
    ] as const) {
      const told = {
        type: 'tts',
        name,
        owner,
        slots: 1,
        model: { formats: [...formats] },
      } as const;
      const agent = await connectMediaAgent(own, told);
      answerAll(agent, ({ stream }) => {
        asked.push(name);
        return agent.media(stream, [{ bytes: SPEECH }]);
      });
    }
    for (let i = 0; i < 3; i++) {
      const response = await speak(own, { model: 'm', response_format: 'opus' });
      expect(response.headers.get('x-provider')).toBe('able-pc');
      await bytesOf(response);
    }
    expect(asked).toEqual(['able-pc', 'able-pc', 'able-pc']);
  });

  it('and has no ffmpeg makes Opus all the same', async () => {
    const own = await startGateway();
    const studio = await startStudio(own, { types: ['tts'], ffmpeg: null });
    await using _server = studio.fake;
    const response = await speak(own, { response_format: 'opus' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/ogg']);
    const { seconds, hertz } = heard(await decoded(await bytesOf(response)));
    const spoken = heard(SPEECH);
    expect(seconds).toBeCloseTo(spoken.seconds, 3);
    expect(Math.abs(hertz - spoken.hertz)).toBeLessThan(3);
  });
});
