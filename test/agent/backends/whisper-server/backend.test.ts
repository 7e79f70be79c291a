/** What whisper.cpp's server needs beyond what every backend does. */
import { expect, test } from 'vitest';
import { VERBOSE } from '../../../support/fake-whisper-server.js';
import { documentOf, errorOf } from '../../../support/local-call.js';
import { send } from '../../../support/recording-server.js';
import { tone } from '../../../support/sound.js';
import { until } from '../../../support/until.js';
import { converter, startWhisper as start, transcription } from './whisper.js';

test('it has one model, with times, for one request at once', async () => {
  const { backend } = await start({ ffmpeg: converter });
  const { models, slots } = await backend.describe(AbortSignal.timeout(2_000));
  expect(slots).toBe(1);
  expect(models).toEqual([
    {
      id: 'whisper',
      served_name: 'whisper',
      context_length: null,
      input_modalities: ['audio'],
      output_modalities: ['text'],
      supported_features: ['timestamps', 'translation'],
      loaded: true,
    },
  ]);
});

test('a configured model has times unless its owner says otherwise', async () => {
  const facts = { contextLength: null, inputModalities: null };
  const models = [
    { id: 'large', servedName: 'large', supportedFeatures: null, ...facts },
    { id: 'distil', servedName: 'distil', supportedFeatures: [], ...facts },
  ];
  const { backend } = await start({ changes: { models } });
  const described = await backend.describe(AbortSignal.timeout(2_000));
  expect(described.models.map(({ id, supported_features }) => [id, supported_features])).toEqual([
    ['large', ['timestamps', 'translation']],
    ['distil', []],
  ]);
});

test('while its model loads it is not there, whatever status it gives', async () => {
  const { fake, backend } = await start();
  fake.loading = true;
  await expect(backend.describe(AbortSignal.timeout(2_000))).rejects.toMatchObject({
    code: 'LOCAL_UNREACHABLE',
    message: expect.stringContaining('loading'),
  });
});

test('it is asked for all it can tell, in any language', async () => {
  const { fake, backend } = await start();
  await backend.call(transcription({ response_format: 'text', user: 'x', translate: true }));
  expect(fake.lastCall.fields).toEqual({
    response_format: 'verbose_json',
    language: 'auto',
    no_language_probabilities: 'true',
    split_on_word: 'true',
  });
  expect(fake.lastCall.fileType).toBe('audio/wav');
});

test.each([
  ['de', 'de'],
  ['en-GB', 'en'],
  ['German', 'de'],
  ['xx', 'auto'],
  ['', 'auto'],
])('the hint "%s" is told as %s', async (language, told) => {
  const { fake, backend } = await start();
  await backend.call(transcription({ language }));
  expect(fake.lastCall.fields['language']).toBe(told);
});

test('prompt and temperature pass, but no number that is none, and nothing dropped', async () => {
  const { fake, backend } = await start({ changes: { dropFields: ['prompt'] } });
  await backend.call(transcription({ prompt: 'Names: Zoë', temperature: 0.2 }));
  expect(fake.lastCall.fields).toMatchObject({ temperature: '0.2' });
  expect(fake.lastCall.fields).not.toHaveProperty('prompt');
  const other = await start();
  await other.backend.call(transcription({ prompt: 'Names: Zoë', temperature: 'hot' }));
  expect(other.fake.lastCall.fields).toMatchObject({ prompt: 'Names: Zoë' });
  expect(other.fake.lastCall.fields).not.toHaveProperty('temperature');
});

test('the answer has OpenAI’s form: trimmed, in seconds, with whole words', async () => {
  const { backend } = await start();
  expect(documentOf(await backend.call(transcription()))).toEqual({
    text: 'large round could',
    language: 'en',
    duration: 3.563312,
    segments: [
      {
        id: 0,
        text: 'large round could',
        start: 0.6,
        end: 3.563312,
        tokens: [163, 112, 99],
        temperature: 0,
        avg_logprob: -1.62,
        no_speech_prob: 5.8e-22,
      },
    ],
    words: [
      { word: 'large', start: 0.65, end: 2.41 },
      { word: 'round', start: 2.41, end: 3.1 },
      { word: 'could', start: 3.1, end: 3.563312 },
    ],
  });
});

test.each([
  ['english', [' She sells sea', 'shells by', ' the sea.'], 'She sells seashells by the sea.'],
  ['english', [' She sells', ' sea.\r'], 'She sells sea.'],
  ['english', ['She sells', 'sea.'], 'She sells sea.'],
  ['japanese', ['東', '京'], '東京'],
  ['english', [''], ''],
])('a transcript in %s of the lines %j is one running text', async (language, lines, told) => {
  const { fake, backend } = await start();
  const segments = lines.map((text, id) => ({ id, text, start: id, end: id + 1 }));
  const text = lines.map((line) => `${line}\n`).join('');
  fake.behaviour = (_call, response) =>
    send(response, 200, { language, duration: 9, text, segments });
  expect(documentOf(await backend.call(transcription()))).toMatchObject({
    text: told,
    segments: segments.map(({ text: own, ...rest }) => ({ ...rest, text: own.trim() })),
  });
});

test('a server under OpenAI’s path is found, and looked for only once', async () => {
  const inferencePath = '/v1/audio/transcriptions';
  const { fake, backend } = await start({ inferencePath, path: '/v1' });
  for (let i = 0; i < 3; i++) {
    expect(await backend.call(transcription())).toMatchObject({ status: 200 });
  }
  expect(fake.server.requests.filter(({ method }) => method === 'OPTIONS')).toHaveLength(2);
  expect(fake.calls).toHaveLength(3);
});

test('a server without either path is a failure, and is looked for again', async () => {
  const { fake, backend } = await start({ inferencePath: '/elsewhere' });
  for (let i = 0; i < 2; i++) {
    await expect(backend.call(transcription())).rejects.toMatchObject({ code: 'LOCAL_ERROR' });
  }
  expect(fake.server.requests.filter(({ method }) => method === 'OPTIONS')).toHaveLength(4);
});

test('a file that cannot be read is the caller’s mistake, and told in more words', async () => {
  const { fake, backend } = await start();
  fake.behaviour = (_call, response) => send(response, 400, 'Invalid request');
  const answer = await backend.call(transcription());
  expect(answer).toMatchObject({ status: 400 });
  expect(errorOf(answer)).toMatchObject({ param: 'file', code: 'provider_rejected' });
});

test('a request without a file is refused before anything is sent', async () => {
  const { fake, backend } = await start();
  const answer = await backend.call({ ...transcription(), uploads: [] });
  expect(answer).toMatchObject({ status: 400 });
  expect(errorOf(answer)).toMatchObject({ param: 'file' });
  expect(fake.server.requests).toEqual([]);
});

test('an older server says what went wrong in a success', async () => {
  const { fake, backend } = await start();
  fake.behaviour = (_call, response) => send(response, 200, { error: 'failed to process audio' });
  const answer = await backend.call(transcription());
  expect(answer).toMatchObject({ status: 500 });
  expect(errorOf(answer)).toMatchObject({ message: 'failed to process audio' });
});

test.each([
  ['a page', '<html>'],
  ['no text', { segments: [] }],
])('%s is no transcript', async (_what, body) => {
  const { fake, backend } = await start();
  fake.behaviour = (_call, response) => send(response, 200, body);
  await expect(backend.call(transcription())).rejects.toMatchObject({ code: 'LOCAL_ERROR' });
});

test('languages without spaces keep their pieces, and a word may cross two segments', async () => {
  const { fake, backend } = await start();
  const said = (language: string, words: readonly string[]) => {
    const pieces = words.map((word, i) => ({ word, start: i, end: i + 1 }));
    const [first, ...rest] = pieces;
    const segments = [{ text: '', words: [first] }, { words: rest }];
    fake.behaviour = (_call, response) => send(response, 200, { ...VERBOSE, language, segments });
  };
  said('japanese', ['東', '京']);
  expect(documentOf(await backend.call(transcription()))).toMatchObject({
    language: 'ja',
    words: [{ word: '東' }, { word: '京' }],
  });
  said('english', [' un', 'known', ' word']);
  expect(documentOf(await backend.call(transcription()))).toMatchObject({
    words: [
      { word: 'unknown', start: 0, end: 2 },
      { word: 'word', start: 2, end: 3 },
    ],
  });
});

test('a caller who leaves while the file still comes stops it, too', async () => {
  const { fake, backend } = await start();
  const leaving = new AbortController();
  const reason = new Error('the caller left');
  const call = transcription({}, undefined, leaving.signal);
  const [file] = call.uploads;
  if (file === undefined) throw new Error('no file');
  const stalled = { ...file, read: () => stalling(leaving.signal) };
  const outcome = backend.call({ ...call, uploads: [stalled] }).catch((error: unknown) => error);
  await until(() => fake.server.opened('/inference'));
  leaving.abort(reason);
  expect(await outcome).toBe(reason);
  expect(fake.calls).toEqual([]);
});

async function* stalling(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield tone(0.1);
  await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
