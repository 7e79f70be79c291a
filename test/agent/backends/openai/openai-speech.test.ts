import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { LocalFailure } from '@inference-gateway/agent/backends/backend';
import type { LocalAnswer, LocalCall } from '@inference-gateway/agent/backends/backend';
import { detectFormat, formatOf } from '@inference-gateway/shared/media/types';
import { expect, test } from 'vitest';
import { AUDIO_SECONDS, audioFile, audioType } from '../../../support/audio-files.js';
import type { AudioKind } from '../../../support/audio-files.js';
import { drain, errorOf, localCall, upload } from '../../../support/local-call.js';
import type { DrainedFile } from '../../../support/local-call.js';
import type { Handler } from '../../../support/recording-server.js';
import { heard, tone } from '../../../support/sound.js';
import { until } from '../../../support/until.js';
import {
  bytes,
  dies,
  inTurn,
  json,
  page,
  sentForm,
  sentJson,
  startOpenAi,
} from './openai-stage.js';

function speech(body: Record<string, unknown> = {}, voices?: string[]): LocalCall {
  const call = localCall({ endpoint: 'speech', body: { input: 'Grüße', ...body } });
  return voices === undefined ? call : { ...call, model: { ...call.model, voices } };
}

async function only(answer: LocalAnswer): Promise<DrainedFile> {
  const [file, ...others] = await drain(answer);
  expect(others).toEqual([]);
  if (file === undefined) throw new Error('no file came');
  return file;
}

test('asks for the whole of a WAV unless told otherwise, in the model’s own voice', async () => {
  const { backend, posts } = await startOpenAi('tts', bytes(tone(0.2)));
  await only(await backend.call(speech({ speed: 1.5, lang_code: 'd' }, ['anna', 'bob'])));
  await only(await backend.call(speech({ response_format: 'flac', voice: 'bob' }, ['anna'])));
  await only(await backend.call(speech({ stream: true })));
  const whole = { model: 'tiny', input: 'Grüße', stream: false };
  expect(posts().map(sentJson)).toEqual([
    { ...whole, voice: 'anna', response_format: 'wav', speed: 1.5, lang_code: 'd' },
    { ...whole, voice: 'bob', response_format: 'flac' },
    { ...whole, response_format: 'wav' },
  ]);
  expect(posts()[0]?.path).toBe('/v1/audio/speech');
});

test.each<[string, AudioKind, string]>([
  ['wav', 'wav', 'audio/wav'],
  ['wav', 'mp3', 'audio/wav'],
  ['wav', 'opus', 'audio/wav'],
  ['opus', 'opus', 'audio/ogg'],
  ['opus', 'ogg', 'audio/ogg'],
  ['opus', 'wav', 'audio/ogg'],
  ['opus', 'webm', 'audio/ogg'],
  ['mp3', 'mp3', 'audio/mpeg'],
  ['mp3', 'wav', 'audio/wav'],
  ['mp3', 'flac', 'audio/wav'],
  ['aac', 'm4a', 'audio/mp4'],
  ['pcm', 'wav', 'audio/wav'],
])('%s asked and %s made is %s', async (wanted, made, contentType) => {
  const sound = await audioFile(made);
  // A content type that is wrong makes no difference.
  const { backend } = await startOpenAi('tts', bytes(sound, 'text/html'));
  const file = await only(await backend.call(speech({ response_format: wanted })));
  expect(file.contentType).toBe(contentType);
  expect(detectFormat(file.bytes)).toBe(formatOf(contentType));
  if (wanted === 'opus') expect(file.bytes.subarray(28, 36).toString()).toBe('OpusHead');
  // What fits is passed on byte for byte.
  const fits = audioType(made) === contentType && made !== 'ogg';
  expect(file.bytes.equals(sound)).toBe(fits);
});

test('nothing of a conversion is left behind, and a second one does not disturb it', async () => {
  const { backend } = await startOpenAi('tts', bytes(await audioFile('mp3')));
  const answers = await Promise.all([backend.call(speech()), backend.call(speech())]);
  const files = await Promise.all(answers.map(only));
  expect(files[0]?.bytes.equals(files[1]?.bytes ?? Buffer.alloc(0))).toBe(true);
  expect(await leftovers()).toEqual([]);
});

async function leftovers(): Promise<string[]> {
  const own = `gateway-agent-media-${process.pid}-`;
  return (await readdir(tmpdir())).filter((name) => name.startsWith(own));
}

test('bare samples are told by what they are not', async () => {
  const samples = Buffer.alloc(48_000, 1);
  const { backend } = await startOpenAi('tts', bytes(samples, 'audio/pcm'));
  const file = await only(await backend.call(speech({ response_format: 'pcm' })));
  expect(file).toEqual({ contentType: 'audio/pcm', bytes: samples });
  const other = await startOpenAi('tts', bytes(samples, 'text/plain'));
  const answer = await other.backend.call(speech({ response_format: 'pcm' }));
  await expect(drain(answer)).rejects.toThrow(/no sound/);
});

test('without ffmpeg what the server makes is converted all the same', async () => {
  const { backend } = await startOpenAi('tts', bytes(await audioFile('mp3')), { hasFfmpeg: false });
  const opus = await only(await backend.call(speech({ response_format: 'opus' })));
  expect(opus.contentType).toBe('audio/ogg');
  const wav = await only(await backend.call(speech({ response_format: 'wav' })));
  expect(wav.contentType).toBe('audio/wav');
  expect(heard(wav.bytes).seconds).toBeCloseTo(AUDIO_SECONDS, 1);
});

const refusesFormat = json({ detail: 'unsupported response_format' }, 400);

test.each(['/home/ann/me', '..\\\\secret', 'hf://x/y', 'mine.safetensors', 'me.WAV'])(
  'the voice %j would be a file, and is refused before it is asked',
  async (voice) => {
    const { backend, posts } = await startOpenAi('tts', bytes(tone(0.2)));
    const refused = await backend.call(speech({ voice }));
    expect(errorOf(refused)).toMatchObject({ code: 'unsupported_value', param: 'voice' });
    expect(posts()).toEqual([]);
    await only(await backend.call(speech({ voice }, [voice])));
    expect(posts()).toHaveLength(1);
  },
);

test('a format that is refused is asked for as wav, and converted', async () => {
  const { backend, posts } = await startOpenAi('tts', inTurn(refusesFormat, bytes(tone(0.2))));
  const file = await only(await backend.call(speech({ response_format: 'opus' })));
  expect(detectFormat(file.bytes)).toBe('ogg');
  expect(posts().map((post) => sentJson(post)['response_format'])).toEqual(['opus', 'wav']);
});

test('where wav is refused, the server may choose', async () => {
  const made = bytes(await audioFile('mp3'));
  const { backend, posts } = await startOpenAi('tts', inTurn(refusesFormat, made));
  const file = await only(await backend.call(speech()));
  expect(detectFormat(file.bytes)).toBe('wav');
  expect(posts().map((post) => sentJson(post)['response_format'])).toEqual(['wav', undefined]);
});

test('a server that is strict about "stream" is asked without it', async () => {
  const strict = json({ detail: [{ loc: ['body', 'stream'], msg: 'extra field' }] }, 422);
  const { backend, posts } = await startOpenAi('tts', inTurn(strict, bytes(tone(0.2))));
  await only(await backend.call(speech()));
  expect(posts().map((post) => 'stream' in sentJson(post))).toEqual([true, false]);
  expect(sentJson(posts()[1])['response_format']).toBe('wav');
});

test('it is asked again once, and not at all for another reason', async () => {
  const stubborn = await startOpenAi('tts', refusesFormat);
  expect(await stubborn.backend.call(speech())).toMatchObject({ status: 400 });
  expect(stubborn.posts()).toHaveLength(2);
  const other = await startOpenAi('tts', json({ error: 'no such voice' }, 400));
  const refused = await other.backend.call(speech());
  expect(errorOf(refused)).toMatchObject({ message: 'no such voice' });
  expect(other.posts()).toHaveLength(1);
});

const SOUND_START = tone(1).subarray(0, 1_000);

test.each<[string, Handler, RegExp]>([
  ['has no such path', page(404), /404 to \/audio\/speech: Oops/],
  ['answers a page', page(200), /no sound/],
  ['answers nothing', bytes(Buffer.alloc(0)), /answered nothing/],
  ['answers an image', bytes(Buffer.from('\x89PNG\r\n\x1a\n00000000', 'latin1')), /no sound/],
  ['answers other JSON', json({ hello: 'world' }), /JSON without a file/],
  ['dies in the middle', dies(SOUND_START), /broke off/],
  ['sends elsewhere', json({}, 302), /status 302/],
])('a server that %s is a failure', async (_what, handler, message) => {
  const { backend } = await startOpenAi('tts', handler);
  const failure = await backend
    .call(speech())
    .then(drain)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LocalFailure);
  const told = expect.stringMatching(message) as string;
  expect(failure).toMatchObject({ code: 'LOCAL_ERROR', message: told });
});

test.each([
  ['that is no sound', Buffer.alloc(64 * 1024)],
  ['that cannot be converted', Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(64 * 1024)])],
])('an endless answer %s is not read on', async (_what, piece) => {
  const endless: Handler = (_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more);
    more();
  };
  const { backend, server } = await startOpenAi('tts', endless, { hasFfmpeg: false });
  await expect(backend.call(speech()).then(drain)).rejects.toBeInstanceOf(LocalFailure);
  await until(() => server.aborts.length === 1, { timeoutMs: 1_000 });
});

test.each([500, 503, 429])('status %i is an answer with what the server said', async (status) => {
  const { backend } = await startOpenAi('tts', page(status));
  const answer = await backend.call(speech());
  expect(answer).toMatchObject({ kind: 'document', status });
  expect(errorOf(answer)).toMatchObject({ message: 'Oops' });
});

test('an error that comes with a status of success is one', async () => {
  const { backend } = await startOpenAi('tts', json({ error: { message: 'no memory' } }));
  expect(errorOf(await backend.call(speech()))).toMatchObject({ message: 'no memory' });
});

test('a long answer is passed on as it comes, and a caller who leaves stops it', async () => {
  let written = 0;
  const { backend, server } = await startOpenAi('tts', (_request, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) written += 64 * 1024;
    };
    response.write(SOUND_START);
    response.on('drain', more);
    more();
  });
  const leaving = new AbortController();
  const answer = await backend.call({ ...speech(), signal: leaving.signal });
  if (answer.kind !== 'media') throw new Error('no media');
  const { value: part } = await answer.parts.next();
  const pieces = part?.bytes[Symbol.asyncIterator]();
  await pieces?.next();
  leaving.abort('canceled');
  await until(() => server.aborts.length === 1, { timeoutMs: 1_000 });
  // It never ends, so no buffer held all of it.
  expect(written).toBeLessThan(16 * 1024 * 1024);
  const rest = async (): Promise<void> => {
    while ((await pieces?.next())?.done === false);
  };
  await expect(rest()).rejects.toBe('canceled');
});

test('a caller who leaves during a conversion leaves nothing behind', async () => {
  const { backend } = await startOpenAi('tts', (_request, response) => {
    response.write(Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(1_000)]));
  });
  const leaving = new AbortController();
  const answer = await backend.call({ ...speech(), signal: leaving.signal });
  const outcome = drain(answer).catch((error: unknown) => error);
  await until(async () => (await leftovers()).length === 1);
  leaving.abort('canceled');
  expect(await outcome).toBe('canceled');
  expect(await leftovers()).toEqual([]);
});

test('a copied voice is sent as a form with its reference, and comes as it was asked', async () => {
  const { backend, posts } = await startOpenAi('tts', bytes(await audioFile('mp3')));
  const body = { input: 'Grüße', transcript: 'Ä', response_format: 'opus' };
  const reference = await audioFile('m4a');
  const uploads = [upload('file', 'audio/mp4', reference)];
  const file = await only(await backend.call(localCall({ endpoint: 'voice', body, uploads })));
  expect(detectFormat(file.bytes)).toBe('ogg');
  const [request] = posts();
  expect(request?.path).toBe('/v1/voice/generations');
  const form = await sentForm(request);
  const sent = form.get('file') as File;
  expect(Buffer.from(await sent.arrayBuffer()).equals(reference)).toBe(true);
  expect([...form.entries()].filter(([, value]) => typeof value === 'string')).toEqual([
    ['model', 'tiny'],
    ['input', 'Grüße'],
    ['transcript', 'Ä'],
    ['response_format', 'opus'],
  ]);
});
