import type { LocalCall } from '@inference-gateway/agent/backends/backend';
import { expect, test } from 'vitest';
import { documentOf, errorOf, localCall, upload } from '../../../support/local-call.js';
import { formOf } from '../../../support/local-servers/posted.js';
import { startRoutedServer } from '../../../support/local-servers/routed-server.js';
import { startWhisperAsr } from '../../../support/local-servers/whisper-asr.js';
import { send } from '../../../support/recording-server.js';
import { tone } from '../../../support/sound.js';
import { inFrontOf } from '../speech-stages.js';

const STT = { type: 'stt' } as const;

function transcription(body: Record<string, unknown> = {}, sound = tone(0.5)): LocalCall {
  const uploads = [upload('file', 'audio/mp4', sound)];
  return localCall({ endpoint: 'transcriptions', body, uploads });
}

test('is one model that times its words, on a server that names none', async () => {
  const { server } = await startWhisperAsr();
  const { models, slots } = await inFrontOf(server, 'whisper-asr', STT).describe();
  expect(models).toMatchObject([
    { id: 'whisper', supported_features: ['timestamps', 'translation'] },
  ]);
  expect(slots).toBe(1);
});

test('another server in its place is told apart', async () => {
  const other = await startRoutedServer({ software: 'uvicorn', title: 'Speaches', get: {} });
  const message = expect.stringContaining("not whisper-asr-webservice's") as string;
  const describing = inFrontOf(other.server, 'whisper-asr', STT).describe();
  await expect(describing).rejects.toMatchObject({ code: 'LOCAL_ERROR', message });
});

test('its JSON counts, although it says that it is a text', async () => {
  const asr = await startWhisperAsr();
  const { backend } = inFrontOf(asr.server, 'whisper-asr', STT);
  const body = { timestamp_granularities: ['segment', 'word'] };
  expect(documentOf(await backend.call(transcription(body)))).toEqual({
    text: 'large round could',
    language: 'en',
    segments: [{ id: 1, seek: 0, start: 0, end: 0.5, text: ' large round could', tokens: [1] }],
    words: [{ word: 'large', start: 0.1, end: 0.4 }],
  });
  const form = await formOf(asr.posts('/asr')[0]);
  expect([...form.keys()]).toEqual(['audio_file']);
  expect((form.get('audio_file') as File).name).toBe('audio.m4a');
});

test.each([
  [{}, {}],
  [{ language: 'de' }, { language: 'de' }],
  [{ language: 'German' }, { language: 'de' }],
  [{ language: 'en-GB' }, { language: 'en' }],
  [{ language: 'Klingon' }, {}],
  [{ timestamp_granularities: ['word'] }, { word_timestamps: 'true' }],
  [{ timestamp_granularities: ['segment'] }, {}],
  [{ prompt: 'a & b=c' }, { initial_prompt: 'a & b=c' }],
  [{ prompt: `${'x'.repeat(9_000)}end` }, { initial_prompt: `${'x'.repeat(997)}end` }],
  [{ vad_filter: true, task: 'translate', temperature: 1 }, { vad_filter: 'true' }],
])('%j is the query %j', async (body, query) => {
  const asr = await startWhisperAsr();
  const { backend } = inFrontOf(asr.server, 'whisper-asr', STT);
  expect(await backend.call(transcription(body))).toMatchObject({ status: 200 });
  const sent = Object.fromEntries(asr.posts('/asr')[0]?.query ?? []);
  const always = { task: 'transcribe', output: 'json', word_timestamps: 'false' };
  expect(sent).toEqual({ ...always, ...query });
});

test('what its owner drops is not sent', async () => {
  const asr = await startWhisperAsr();
  const { backend } = inFrontOf(asr.server, 'whisper-asr', { ...STT, dropFields: ['prompt'] });
  await backend.call(transcription({ prompt: 'a' }));
  expect(asr.posts('/asr')[0]?.query.has('initial_prompt')).toBe(false);
});

test('a call without a file is refused', async () => {
  const { server } = await startWhisperAsr();
  const { backend } = inFrontOf(server, 'whisper-asr', STT);
  const refused = await backend.call({ ...transcription(), uploads: [] });
  expect(refused).toMatchObject({ status: 400 });
  expect(errorOf(refused)).toMatchObject({ param: 'file' });
  expect(server.requests).toEqual([]);
});

test('what it fails at is its failure', async () => {
  const { server } = await startWhisperAsr();
  const { backend } = inFrontOf(server, 'whisper-asr', STT);
  const failed = await backend.call(transcription({}, Buffer.alloc(0)));
  expect(failed).toMatchObject({ status: 500 });
  expect(errorOf(failed)).toMatchObject({ message: 'Internal Server Error' });
});

test.each([404, 307])('status %i shows that it is no such server', async (status) => {
  const asr = await startWhisperAsr();
  asr.behaviour = (_request, response) => send(response, status, 'elsewhere');
  const { backend } = inFrontOf(asr.server, 'whisper-asr', STT);
  const message = expect.stringContaining(`${status} to /asr`) as string;
  const failing = backend.call(transcription());
  await expect(failing).rejects.toMatchObject({ code: 'LOCAL_ERROR', message });
});
