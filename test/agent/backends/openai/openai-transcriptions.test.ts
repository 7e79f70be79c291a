import { LocalFailure } from '@inference-gateway/agent/backends/backend';
import type { LocalCall } from '@inference-gateway/agent/backends/backend';
import { expect, test } from 'vitest';
import { documentOf, errorOf, localCall, upload } from '../../../support/local-call.js';
import type { CallOptions } from '../../../support/local-call.js';
import { tone } from '../../../support/sound.js';
import { until } from '../../../support/until.js';
import { dies, json, page, sentForm, startOpenAi } from './openai-stage.js';

const SOUND = tone(0.5);

function transcription(options: Partial<CallOptions> = {}): LocalCall {
  const uploads = [upload('file', 'audio/wav', SOUND)];
  return localCall({ endpoint: 'transcriptions', uploads, ...options });
}

test('sends the caller’s fields as a form, umlauts and all, under the local name', async () => {
  const { backend, posts } = await startOpenAi('stt', json({ text: 'hi' }));
  const body = {
    language: 'de',
    prompt: 'Grüße "an"\r\nalle 🎉',
    temperature: 0.5,
    response_format: 'verbose_json',
    timestamp_granularities: ['word', 'segment'],
    vad_filter: true,
    nothing: null,
  };
  await backend.call(transcription({ body, id: 'mine', servedName: 'org/whisper' }));
  const [request] = posts();
  expect(request?.path).toBe('/v1/audio/transcriptions');
  expect(request?.headers['content-length']).toBe(String(request?.body.length));
  const form = await sentForm(request);
  expect([...form.entries()].filter(([, value]) => typeof value === 'string')).toEqual([
    ['model', 'org/whisper'],
    ['language', 'de'],
    ['prompt', 'Grüße "an"\r\nalle 🎉'],
    ['temperature', '0.5'],
    ['response_format', 'verbose_json'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
    ['vad_filter', 'true'],
  ]);
});

test.each([
  ['audio/wav', 'file.wav'],
  ['audio/mpeg', 'file.mp3'],
  ['audio/mp4', 'file.m4a'],
  ['audio/flac', 'file.flac'],
  ['audio/ogg', 'file.ogg'],
  ['audio/webm', 'file.webm'],
])('a file of %s is called %s, whatever its sender calls it', async (type, name) => {
  const { backend, posts } = await startOpenAi('stt', json({ text: 'hi' }));
  const uploads = [upload('file', type, SOUND)];
  await backend.call(localCall({ endpoint: 'transcriptions', uploads }));
  const file = (await sentForm(posts()[0])).get('file') as File;
  expect([file.name, file.type, file.size]).toEqual([name, type, SOUND.length]);
});

test('what the owner does not let through is left out', async () => {
  const changes = { dropFields: ['hotwords'] };
  const { backend, posts } = await startOpenAi('stt', json({ text: 'hi' }), { changes });
  await backend.call(transcription({ body: { hotwords: 'x', prompt: 'y' } }));
  const form = await sentForm(posts()[0]);
  expect([form.get('hotwords'), form.get('prompt')]).toEqual([null, 'y']);
});

const heard = async (answer: unknown) => {
  const { backend } = await startOpenAi('stt', json(answer));
  return documentOf(await backend.call(transcription()));
};

test('an answer of any form becomes one clean transcript', async () => {
  expect(await heard({ text: ' hello there\n' })).toMatchObject({ text: 'hello there' });
  expect(await heard('  plain text\n')).toMatchObject({ text: 'plain text' });
  expect(await heard({ text: '' })).toMatchObject({ text: '' });
  const segment = { id: 7, text: ' hello', avg_logprob: -0.5, start: 0.5, end: 30 };
  const answer = {
    text: ' hello',
    language: 'english',
    duration: 3.5,
    segments: [{ ...segment, words: [{ word: ' hello', start: 0.5, end: 9, probability: 1 }] }],
  };
  expect(await heard(answer)).toEqual({
    text: 'hello',
    language: 'en',
    duration: 3.5,
    segments: [{ ...segment, end: 3.5 }],
    words: [{ word: 'hello', start: 0.5, end: 3.5 }],
  });
});

test('errors keep their status and say what happened', async () => {
  const refusing = await startOpenAi('stt', json({ error: { message: 'bad language' } }, 400));
  const refused = await refusing.backend.call(transcription());
  expect(refused).toMatchObject({ status: 400 });
  expect(errorOf(refused)).toMatchObject({ message: 'bad language', code: 'provider_rejected' });
  const broken = await startOpenAi('stt', page(500));
  const answer = await broken.backend.call(transcription());
  expect(answer).toMatchObject({ status: 500 });
  expect(errorOf(answer)).toMatchObject({ message: 'Oops' });
  const inSuccess = await startOpenAi('stt', json({ error: 'no memory' }));
  expect(await inSuccess.backend.call(transcription())).toMatchObject({ status: 500 });
});

test.each([
  ['has no such path', json({ detail: 'Not Found' }, 404), /404 to \/audio\/transcriptions: Not/],
  ['answers a page', page(200), /a page instead of a transcript/],
  ['answers JSON without a text', json({ segments: [] }), /without a text/],
  ['dies in the middle', dies(Buffer.from('{"text": "he')), /broke off/],
  ['sends elsewhere', json({}, 307), /status 307/],
  ['never ends', json({ text: 'x'.repeat(97 * 1024 * 1024) }), /more than 100663296 bytes/],
])('a server that %s is a failure', async (_what, handler, message) => {
  const { backend } = await startOpenAi('stt', handler);
  const failure = await backend.call(transcription()).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(LocalFailure);
  expect(failure).toMatchObject({
    code: 'LOCAL_ERROR',
    message: expect.stringMatching(message) as string,
  });
});

test('a caller who leaves stops a server that hangs', async () => {
  const { backend, server, posts } = await startOpenAi('stt', () => undefined);
  const leaving = new AbortController();
  const call = transcription({ signal: leaving.signal });
  const outcome = backend.call(call).catch((error: unknown) => error);
  await until(() => posts().length === 1);
  leaving.abort('canceled');
  await until(() => server.aborts.length === 1, { timeoutMs: 1_000 });
  expect(await outcome).toBe('canceled');
});
