import { createOpenAI } from '@ai-sdk/openai';
import ffmpeg from '@ffmpeg-installer/ffmpeg';
import { findFfmpeg } from '@inference-gateway/agent/media/ffmpeg';
import {
  experimental_generateImage as generateImage,
  experimental_generateSpeech as generateSpeech,
} from 'ai';
import { beforeAll, describe, expect, it } from 'vitest';
import { reply } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { picture } from '../support/pictures.js';
import { SPEECH, startStudio } from '../support/studio.js';
import { fetchAsset } from './media-calls.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  const converter = await findFfmpeg(ffmpeg.path);
  const voices = ['af_sky', 'af_bella'];
  ({ fake } = await startStudio(gateway, { voices, ffmpeg: converter }));
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

const provider = () => createOpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.anna.key });

describe.each(STOCK_CLIENTS)('$version', ({ Sdk }) => {
  const speech = { model: 'kokoro', input: 'Hello.', voice: 'alloy' } as const;

  it('speaks in wav, in one of OpenAI’s own voices', async () => {
    const response = await connect(Sdk, gateway).audio.speech.create({
      ...speech,
      response_format: 'wav',
    });
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(response.headers.get('x-voice-fallback')).toBe('af_sky');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(SPEECH);
  });

  it('speaks in opus', async () => {
    const client = connect(Sdk, gateway);
    const response = await client.audio.speech.create({ ...speech, response_format: 'opus' });
    expect(response.headers.get('content-type')).toBe('audio/ogg');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.includes('OpusHead')).toBe(true);
  });

  it('raises BadRequestError for an unknown voice, which names others', async () => {
    const asked = connect(Sdk, gateway).audio.speech.create({ ...speech, voice: 'af_ballad' });
    const failure = await asked.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.BadRequestError);
    expect(failure).toMatchObject({ code: 'invalid_value', param: 'voice' });
    expect(String(failure)).toContain("'af_bella'");
  });

  it('draws, and fetches the images by their addresses', async () => {
    const client = connect(Sdk, gateway);
    const { created, data = [] } = await client.images.generate({
      model: 'sd',
      prompt: 'a cat',
      n: 2,
      size: '512x512',
    });
    expect(created).toBeGreaterThan(1_700_000_000);
    expect(data).toHaveLength(2);
    for (const { url, b64_json: base64 } of data) {
      expect(base64).toBeUndefined();
      expect((await fetchAsset(url, gateway.anna.key)).headers.get('content-type')).toBe(
        'image/png',
      );
    }
  });

  it('draws in base64', async () => {
    const { data = [] } = await connect(Sdk, gateway).images.generate({
      model: 'sd',
      prompt: 'a cat',
      response_format: 'b64_json',
    });
    expect(data).toHaveLength(1);
    const image = Buffer.from(data[0]?.b64_json ?? '', 'base64');
    expect(image.subarray(0, 8)).toEqual(picture().subarray(0, 8));
    expect(data[0]).not.toHaveProperty('url');
  });

  it('does not ask again for what the model server got wrong', async () => {
    fake.once(reply(500, { error: { message: 'oom' } }));
    const before = fake.requests.length;
    const client = connect(Sdk, gateway, { maxRetries: 2 });
    const failure = await client.images
      .generate({ model: 'sd', prompt: 'a cat' })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.InternalServerError);
    expect(failure).toMatchObject({ status: 502, code: 'provider_error' });
    expect(fake.requests.length - before).toBe(1);
  });
});

describe('the Vercel AI SDK', () => {
  it('speaks: it always sends alloy and mp3, and takes what comes', async () => {
    const before = fake.requests.length;
    const { audio } = await generateSpeech({
      model: provider().speech('kokoro'),
      text: 'Hello there.',
      maxRetries: 0,
    });
    expect(Buffer.from(audio.uint8Array)).toEqual(SPEECH);
    expect(audio.mediaType).toBe('audio/wav');
    const [asked] = fake.requests.slice(before);
    expect(asked?.body).toMatchObject({ input: 'Hello there.', voice: 'af_sky' });
  });

  it('draws with a gpt-image model, of which it never asks for a form', async () => {
    const { image } = await generateImage({
      model: provider().image('gpt-image-1'),
      prompt: 'a cat',
      maxRetries: 0,
    });
    expect(Buffer.from(image.uint8Array).subarray(0, 8)).toEqual(picture().subarray(0, 8));
    expect(fake.lastRequest.body).toMatchObject({ response_format: 'b64_json' });
  });

  it('draws several images', async () => {
    const { images } = await generateImage({
      model: provider().image('sd'),
      prompt: 'a cat',
      n: 2,
      size: '512x512',
      maxRetries: 0,
    });
    expect(images.length).toBe(2);
    for (const { uint8Array, mediaType } of images) {
      expect(mediaType).toBe('image/png');
      expect(Buffer.from(uint8Array).subarray(0, 8)).toEqual(picture().subarray(0, 8));
    }
  });
});
