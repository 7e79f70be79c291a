import { createOpenAI } from '@ai-sdk/openai';
import { experimental_transcribe as transcribe } from 'ai';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toFile } from 'openai';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AUDIO_KINDS, AUDIO_SECONDS, audioFile, audioType } from '../support/audio-files.js';
import type { AudioKind } from '../support/audio-files.js';
import { SEGMENT, sha256Of, startFakeMedia, WORD } from '../support/fake-media-server.js';
import type { FakeMediaServer } from '../support/fake-media-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { administer, failureOf } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

const PATH = '/v1/audio/transcriptions';

let gateway: TestGateway;
let fake: FakeMediaServer;
/** A second machine, whose model supports timestamps. */
let timed: FakeMediaServer;
let wav: Buffer<ArrayBuffer>;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeMedia();
  timed = await startFakeMedia();
  await gateway.startAgent({ services: [fake.service('stt', { whisper: [], plain: [] })] });
  const services = [timed.service('stt', { whisper: ['timestamps'], large: ['timestamps'] })];
  await gateway.startAgent({ name: 'attic-pc', services });
  wav = await audioFile('wav');
  return async () => {
    await gateway.stop();
    await Promise.all([fake.close(), timed.close()]);
  };
}, 60_000);

beforeEach(() => {
  fake.reset();
  timed.reset();
});

type Entry = readonly [string, string | Buffer<ArrayBuffer>];

/** A form with its entries in this order; files have unusual names and types. */
function send(...entries: readonly Entry[]): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of entries) {
    if (typeof value === 'string') body.append(name, value);
    else body.append(name, new Blob([value], { type: 'text/html' }), 'page.html');
  }
  return gateway.fetch(PATH, { method: 'POST', body });
}

const plain = (...fields: readonly Entry[]): Promise<Response> =>
  send(['model', 'plain'], ['file', wav], ...fields);

/** A tolerance of 0.1 s in each direction, in the unit of `closeTo`. */
const TENTH = -Math.log10(2 * 0.1);
const duration = expect.closeTo(AUDIO_SECONDS, TENTH) as number;
const usage = { type: 'duration', seconds: duration };

describe.each(STOCK_CLIENTS)('$version transcribes', ({ Sdk }) => {
  const transcriptions = () => connect(Sdk, gateway).audio.transcriptions;

  it('a Buffer', async () => {
    const file = await toFile(wav, 'speech.wav');
    const transcript = await transcriptions().create({ file, model: 'plain' });
    expect(transcript).toEqual({ text: 'Hello', language: 'en', duration, usage });
    expect(fake.last.files).toMatchObject([{ name: 'file', sha256: sha256Of(wav) }]);
  });

  it('a File with umlauts and quotes in its name', async () => {
    const file = new File([wav], 'Grüße "an" Jörg; 100%.wav', { type: 'audio/x-wav' });
    const { text } = await transcriptions().create({ file, model: 'plain' });
    expect(text).toBe('Hello');
    expect(fake.last.files).toMatchObject([{ fileName: 'file.wav', sha256: sha256Of(wav) }]);
  });

  it('fs.createReadStream, which comes in chunks, as application/octet-stream', async () => {
    const path = join(await temporaryFolder(), 'speech.wav');
    await writeFile(path, wav);
    const file = createReadStream(path);
    const { text } = await transcriptions().create({ file, model: 'plain', language: 'en' });
    expect(text).toBe('Hello');
    expect(fake.last.files).toMatchObject([{ type: 'audio/wav', sha256: sha256Of(wav) }]);
    expect(fake.last.fields).toMatchObject({ language: ['en'] });
  });

  it('to text', async () => {
    const file = await toFile(wav, 'speech.wav');
    const response_format = 'text' as const;
    expect(await transcriptions().create({ file, model: 'plain', response_format })).toBe('Hello');
  });

  it('as a stream is refused: it would be a silent, empty one', async () => {
    const file = await toFile(wav, 'speech.wav');
    const asked = transcriptions().create({ file, model: 'plain', stream: true });
    const failure = await asked.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.BadRequestError);
    expect(failure).toMatchObject({ code: 'unsupported_value', param: 'stream' });
    expect(fake.heard).toEqual([]);
    const whole = await transcriptions().create({ file, model: 'plain', stream: false });
    expect(whole.text).toBe('Hello');
  });

  it('to words and segments with their times', async () => {
    const transcript = await transcriptions().create({
      file: await toFile(wav, 'speech.wav'),
      model: 'whisper',
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    const segments = [expect.objectContaining(SEGMENT) as object];
    const told = { text: 'Hello', language: 'en', duration, segments, words: [WORD], usage };
    expect(transcript).toEqual(told);
  });
});

it('the Vercel AI SDK transcribes', async () => {
  const { key: apiKey } = gateway.anna;
  const model = createOpenAI({ baseURL: gateway.baseUrl, apiKey }).transcription('whisper');
  const { text, durationInSeconds } = await transcribe({ model, audio: wav });
  expect([text, durationInSeconds]).toEqual(['Hello', duration]);
  const providerOptions = { openai: { timestampGranularities: ['segment'] } };
  const { segments } = await transcribe({ model, audio: wav, providerOptions });
  expect(segments).toEqual([{ text: 'Hello', startSecond: 0, endSecond: 1 }]);
});

describe('file: audio in wav, mp3, m4a, flac, ogg or webm', () => {
  it.each(AUDIO_KINDS)('%s, whatever its name and its type say', async (kind: AudioKind) => {
    const file = await audioFile(kind);
    const response = await send(['model', 'plain'], ['file', file]);
    expect(await response.json()).toEqual({ text: 'Hello', language: 'en', duration, usage });
    const seen = { type: audioType(kind), bytes: file.length, sha256: sha256Of(file) };
    expect(fake.last.files).toMatchObject([seen]);
  });

  it.each([
    ['a text', Buffer.from('These are words, and no sound at all.')],
    ['a page', Buffer.from('<!doctype html><title>RIFF WAVE</title>')],
    ['nothing', Buffer.alloc(0)],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n0000000000', 'latin1')],
  ])('%s is 415, whatever its name and its type say', async (_, bytes) => {
    const body = new FormData();
    body.append('file', new Blob([bytes], { type: 'audio/wav' }), 'speech.wav');
    body.append('model', 'plain');
    const failure = await failureOf(await gateway.fetch(PATH, { method: 'POST', body }));
    const type = 'unsupported_media_type';
    const expected = { status: 415, type, code: 'unsupported_file_type', param: 'file' };
    expect(failure).toMatchObject(expected);
    expect(failure.message).toContain('wav, mp3, m4a, flac, ogg, webm');
    expect(fake.heard).toEqual([]);
  });

  it('a JSON body is 415', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await gateway.fetch(PATH, { method: 'POST', body: '{}', headers });
    const expected = { status: 415, code: 'unsupported_content_type' };
    expect(await failureOf(response)).toMatchObject(expected);
  });
});

it('audio is metered by duration, which the gateway measures itself', async () => {
  const metered = await startGateway();
  await metered.startAgent({ services: [fake.service('stt', { plain: [] })] });
  const file = await toFile(await audioFile('flac'), 'speech.flac');
  await metered.client.audio.transcriptions.create({ file, model: 'plain' });
  const args = { since_s: null, by: 'endpoint', user: null };
  const rows = await until(async () => {
    const written = (await administer(metered, 'stats.show', args)) as unknown as object[];
    return written.length > 0 && written;
  });
  const audio_ms = expect.closeTo(AUDIO_SECONDS * 1000, TENTH - 3) as number;
  expect(rows).toMatchObject([{ id: 'transcriptions', requests: 1, ok: 1, audio_ms }]);
});

describe('the fields of the form', () => {
  it.each([
    [['model', 'file', 'language', 'prompt']],
    [['file', 'model', 'language', 'prompt']],
    [['language', 'file', 'prompt', 'model']],
  ])('come in any order: %s', async (order) => {
    const values: Record<string, string | Buffer<ArrayBuffer>> = {
      model: 'plain',
      file: wav,
      language: 'de',
      prompt: 'Namen: Jörg',
    };
    const response = await send(...order.map((name) => [name, values[name] ?? ''] as const));
    expect(response.status).toBe(200);
    const { fields } = fake.last;
    expect(fields).toMatchObject({ model: ['plain'], language: ['de'], prompt: ['Namen: Jörg'] });
  });

  it('that nobody knows pass to the local server unchanged', async () => {
    await plain(['vad_filter', 'true'], ['hotwords[]', 'a'], ['hotwords[]', 'b c'], ['x', '1.50']);
    const { fields } = fake.last;
    expect(fields).toMatchObject({ vad_filter: ['true'], 'hotwords[]': ['a', 'b c'], x: ['1.50'] });
  });

  it.each<[string, readonly Entry[], object]>([
    ['no file', [['model', 'plain']], { param: 'file', code: 'missing_required_parameter' }],
    ['a wrong format', [['response_format', 'ass']], { param: 'response_format' }],
    ['a wrong granularity', [['timestamp_granularities', 'line']], { code: 'invalid_value' }],
    ['a stream, as Python writes it', [['stream', 'True']], { param: 'stream' }],
    ['a stream that is neither', [['stream', 'yes']], { code: 'invalid_type', param: 'stream' }],
    ['async', [['async', 'true']], { code: 'async_not_supported', param: 'async' }],
  ])('with %s are 400', async (_, fields, expected) => {
    const file: Entry[] = fields[0]?.[0] === 'model' ? [] : [['model', 'plain']];
    const sound: Entry[] = fields[0]?.[0] === 'model' ? [] : [['file', wav]];
    const response = await send(...file, ...fields, ...sound);
    const type = 'invalid_request_error';
    expect(await failureOf(response)).toMatchObject({ status: 400, type, ...expected });
    expect(fake.heard).toEqual([]);
  });

  it('without a model are 400', async () => {
    const failure = await failureOf(await send(['file', wav]));
    const code = 'missing_required_parameter';
    expect(failure).toMatchObject({ status: 400, code, param: 'model' });
  });
});

describe('subtitles', () => {
  it.each([
    ['srt', 'application/x-subrip', '1\n00:00:00,000 --> 00:00:01,000\nHello\n\n'],
    ['vtt', 'text/vtt', 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHello\n\n'],
  ])('%s come of a server that makes none', async (format, type, body) => {
    const response = await plain(['response_format', format]);
    expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect(await response.text()).toBe(body);
    expect(fake.last.fields).toMatchObject({ response_format: ['verbose_json'] });
  });

  it('of a server that tells no times are 400, and no failure of the provider', async () => {
    fake.behave((_heard, response) => void response.end('{"text":"Hello"}'));
    for (let i = 0; i < 6; i++) {
      const response = await plain(['response_format', 'vtt']);
      const expected = { status: 400, code: 'unsupported_value', param: 'response_format' };
      expect(await failureOf(response)).toMatchObject(expected);
    }
    fake.reset();
    expect((await plain()).status).toBe(200);
  });
});

it('json tells the language of a server that tells it beside times alone', async () => {
  timed.behave(({ fields }, response) => {
    const isVerbose = fields['response_format']?.[0] === 'verbose_json';
    response.end(JSON.stringify({ text: 'Hallo', ...(isVerbose && { language: 'german' }) }));
  });
  const response = await send(['model', 'large'], ['file', wav]);
  expect(await response.json()).toEqual({ text: 'Hallo', language: 'de', duration, usage });
});

describe('verbose_json with timestamp granularities', () => {
  const VERBOSE: Entry = ['response_format', 'verbose_json'];

  it('is downgraded without an error where the model does not list support', async () => {
    const response = await plain(VERBOSE, ['timestamp_granularities[]', 'word']);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-downgraded')).toBe('verbose_json');
    expect(await response.json()).toEqual({ text: 'Hello', usage });
  });

  it.each(['timestamp_granularities[]', 'timestamp_granularities'])(
    'goes to the one provider whose model lists it: %s',
    async (name) => {
      for (let i = 0; i < 4; i++) {
        const response = await send(['file', wav], ['model', 'whisper'], VERBOSE, [name, 'word']);
        expect(response.headers.get('x-provider')).toBe('attic-pc');
        expect(response.headers.get('x-downgraded')).toBeNull();
        const told = { text: 'Hello', language: 'en', duration, words: [WORD], usage };
        expect(await response.json()).toEqual(told);
      }
      expect(fake.heard).toEqual([]);
      expect(timed.last.fields).toMatchObject({ 'timestamp_granularities[]': ['word'] });
    },
  );

  it('is segments where no granularity is named, and never downgraded', async () => {
    const response = await plain(VERBOSE);
    expect(response.headers.get('x-downgraded')).toBeNull();
    const told = (await response.json()) as object;
    expect(told).toMatchObject({ text: 'Hello', segments: [SEGMENT] });
    expect(told).not.toHaveProperty('words');
  });
});
