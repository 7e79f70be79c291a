/** Speech of any language, written down in English. */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SEGMENT, startFakeMedia } from '../support/fake-media-server.js';
import type { FakeMediaServer } from '../support/fake-media-server.js';
import { startFakeWhisper } from '../support/fake-whisper-server.js';
import type { FakeWhisperServer } from '../support/fake-whisper-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { startWhisperAsr } from '../support/local-servers/whisper-asr.js';
import type { RoutedServer } from '../support/local-servers/routed-server.js';
import { tone } from '../support/sound.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { failureOf } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

const PATH = '/v1/audio/translations';

let gateway: TestGateway;
let fake: FakeMediaServer;
let whisper: FakeWhisperServer;
let asr: RoutedServer;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeMedia();
  whisper = await startFakeWhisper();
  asr = await startWhisperAsr();
  await gateway.startAgent({
    services: [
      fake.service('stt', { large: ['timestamps', 'translation'], turbo: ['timestamps'] }),
      { id: 'cpp', type: 'stt', backend: 'whisper-server', baseUrl: whisper.server.origin },
      {
        id: 'asr',
        type: 'stt',
        backend: 'whisper-asr',
        baseUrl: asr.server.origin,
        ...named('asr'),
      },
    ],
  });
  return async () => {
    await gateway.stop();
    await Promise.all([fake.close(), whisper.server.close(), asr.server.close()]);
  };
}, 60_000);

function named(id: string) {
  const unknown = { contextLength: null, inputModalities: null, supportedFeatures: null };
  return { models: [{ id, servedName: id, ...unknown }] };
}

function send(fields: Readonly<Record<string, string>>): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('file', new Blob([tone(1)]), 'sound.wav');
  return gateway.fetch(PATH, { method: 'POST', body });
}

describe.each(STOCK_CLIENTS)('audio.translations.create of $version', ({ Sdk }) => {
  it('answers the text', async () => {
    const path = join(await temporaryFolder(), 'sound.wav');
    await writeFile(path, tone(1));
    const file = createReadStream(path);
    const { text } = await connect(Sdk, gateway).audio.translations.create({
      model: 'large',
      file,
    });
    expect(text).toBe(SEGMENT.text);
    expect(fake.heard.at(-1)?.path).toBe(PATH);
  });
});

it('has the forms of a transcription', async () => {
  const verbose = await send({ model: 'large', response_format: 'verbose_json' });
  expect(await verbose.json()).toMatchObject({ text: SEGMENT.text, segments: [{ id: 0 }] });
  const text = await send({ model: 'large', response_format: 'text' });
  expect(await text.text()).toBe(SEGMENT.text);
  const subtitles = await send({ model: 'large', response_format: 'srt' });
  expect(await subtitles.text()).toContain('00:00:00,000 --> 00:00:01,000');
});

it('is served by models that say they translate, and by no other', async () => {
  const failure = await failureOf(await send({ model: 'turbo' }));
  expect(failure).toMatchObject({ status: 404, code: 'model_not_found' });
  expect(failure.message).toContain('translation');
  const { data } = (await (await gateway.fetch('/v1/models')).json()) as {
    data: { id: string; supported_features: string[] }[];
  };
  const able = data.filter((model) => model.supported_features.includes('translation'));
  expect(able.map(({ id }) => id).toSorted()).toEqual(['asr', 'large', 'whisper']);
});

it('whisper.cpp’s server is asked to translate, and to transcribe as before', async () => {
  expect((await send({ model: 'whisper' })).status).toBe(200);
  expect(whisper.lastCall.fields).toMatchObject({ translate: 'true', language: 'auto' });
  const body = new FormData();
  body.append('model', 'whisper');
  body.append('translate', 'true');
  body.append('file', new Blob([tone(1)]), 'sound.wav');
  await gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body });
  expect(whisper.lastCall.fields).not.toHaveProperty('translate');
});

it('whisper-asr-webservice is asked to translate', async () => {
  expect((await send({ model: 'asr' })).status).toBe(200);
  expect(asr.server.requests.at(-1)?.query.get('task')).toBe('translate');
});

it('cannot run as a job, and is refused without a file', async () => {
  expect(await failureOf(await send({ model: 'large', async: 'true' }))).toMatchObject({
    status: 400,
    code: 'async_not_supported',
  });
  const body = new FormData();
  body.append('model', 'large');
  const missing = await failureOf(await gateway.fetch(PATH, { method: 'POST', body }));
  expect(missing).toMatchObject({ status: 400, param: 'file' });
});
