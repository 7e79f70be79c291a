import { runTask } from '@inference-gateway/agent/backends/ace-step/task';
import type { LocalCall } from '@inference-gateway/agent/backends/backend';
import { expect, test } from 'vitest';
import { audioFile } from '../../../support/audio-files.js';
import { drain, errorOf, localCall } from '../../../support/local-call.js';
import { startAceStep } from '../../../support/local-servers/ace-step.js';
import type { AceStep } from '../../../support/local-servers/ace-step.js';
import { jsonOf } from '../../../support/local-servers/posted.js';
import { startRoutedServer } from '../../../support/local-servers/routed-server.js';
import { send } from '../../../support/recording-server.js';
import type { Handler } from '../../../support/recording-server.js';
import { until } from '../../../support/until.js';
import { inFrontOf, onlyFile } from '../speech-stages.js';
import type { SpeechStage } from '../speech-stages.js';

const MUSIC = { type: 'music' } as const;
const SERVED = 'acestep-v15-turbo';

async function start(): Promise<SpeechStage & { fake: AceStep }> {
  const fake = await startAceStep();
  return { fake, ...inFrontOf(fake.routed.server, 'ace-step', MUSIC) };
}

function music(body: Record<string, unknown> = {}): LocalCall {
  return localCall({ endpoint: 'music', body: { prompt: 'a song', ...body }, servedName: SERVED });
}

test('offers what is loaded: for another name it would take the one that it has', async () => {
  const { describe } = await start();
  const { models, slots } = await describe();
  expect(models).toMatchObject([{ id: SERVED, loaded: true, output_modalities: ['audio'] }]);
  expect(slots).toBe(1);
});

test('newer ones have their own list at another path', async () => {
  const open = { data: [{ id: 'acemusic/acestep-v15-turbo', name: 'ACE-Step' }] };
  const own = { data: { models: [{ name: SERVED, is_loaded: true }] }, code: 200, error: null };
  const get = { '/v1/models': open, '/v1/model_inventory': own };
  const newer = await startRoutedServer({ software: 'uvicorn', get });
  const { models } = await inFrontOf(newer.server, 'ace-step', MUSIC).describe();
  expect(models).toMatchObject([{ id: SERVED }]);
  const other = await startRoutedServer({ software: 'uvicorn', get: { '/v1/models': open } });
  const message = expect.stringContaining("is not ACE-Step's") as string;
  const describing = inFrontOf(other.server, 'ace-step', MUSIC).describe();
  await expect(describing).rejects.toMatchObject({ message });
});

test('a piece is handed in, asked for until it is ready, and fetched', async () => {
  const { fake, backend } = await start();
  fake.doneAtLook = 2;
  const file = await onlyFile(await backend.call(music({ seed: 7, lyrics: 'la' })));
  expect(file).toEqual({ contentType: 'audio/mpeg', bytes: await audioFile('mp3') });
  expect(jsonOf(fake.routed.posts('/release_task')[0])).toEqual({
    prompt: 'a song',
    lyrics: 'la',
    model: SERVED,
    batch_size: 1,
    seed: 7,
    use_random_seed: false,
  });
  expect(fake.routed.posts('/query_result')).toHaveLength(2);
});

test('nothing of the caller’s names a file or a model on the owner’s disk', async () => {
  const { fake, backend } = await start();
  const paths = { src_audio_path: '/etc/passwd', lm_model_path: '/x', task_type: 'cover' };
  const wrong = { audio_format: '../x', bpm: { a: 1 }, ai_token: 'x', batch_size: 8 };
  await onlyFile(await backend.call(music({ ...paths, ...wrong, audio_duration: 30 })));
  const sent = jsonOf(fake.routed.posts('/release_task')[0]);
  expect(sent).toEqual({ prompt: 'a song', model: SERVED, batch_size: 1, audio_duration: 30 });
});

test('nobody keeps the card for hours, and a seed below zero is any', async () => {
  const { fake, backend } = await start();
  const long = { inference_steps: 1e9, guidance_scale: -5, audio_duration: '36000', seed: -1 };
  await onlyFile(await backend.call(music(long)));
  const sent = jsonOf(fake.routed.posts('/release_task')[0]);
  const held = { inference_steps: 200, guidance_scale: 0 };
  expect(sent).toEqual({ prompt: 'a song', model: SERVED, batch_size: 1, ...held });
});

test.each([9.9, 601])('%d seconds are refused before it is asked', async (seconds) => {
  const { fake, backend } = await start();
  const refused = await backend.call(music({ audio_duration: seconds }));
  expect(errorOf(refused)).toMatchObject({ code: 'invalid_value', param: 'audio_duration' });
  expect(fake.routed.server.requests).toEqual([]);
});

test('a full queue is busy, and a task that fails says why', async () => {
  const { fake, backend } = await start();
  fake.full = true;
  const busy = await backend.call(music());
  expect(busy).toMatchObject({ kind: 'document', status: 429 });
  fake.full = false;
  fake.failure = 'CUDA out of memory';
  const failed = await backend.call(music());
  expect(failed).toMatchObject({ kind: 'document', status: 500 });
  expect(errorOf(failed)).toMatchObject({ message: 'CUDA out of memory' });
});

test.each<[string, Handler, object]>([
  ['an error that is wrapped in a success', wrapped(), { kind: 'document', status: 500 }],
  ['an error with a status', refused(400), { kind: 'document', status: 400 }],
])('%s is one', async (_, behaviour, outcome) => {
  const { fake, backend } = await start();
  fake.routed.behaviour = behaviour;
  const answer = await backend.call(music());
  expect(answer).toMatchObject(outcome);
  expect(errorOf(answer)).toMatchObject({ message: 'bad news' });
});

function wrapped(): Handler {
  return (_request, response) => send(response, 200, { data: null, code: 500, error: 'bad news' });
}

function refused(status: number): Handler {
  return (_request, response) => send(response, status, { detail: 'bad news' });
}

test.each<[string, unknown]>([
  ['no task', { data: {}, code: 200, error: null }],
  ['no JSON', 'hello'],
])('%s in its answer is a failure', async (_, answer) => {
  const { fake, backend } = await start();
  fake.routed.behaviour = (_request, response) => send(response, 200, answer);
  await expect(backend.call(music())).rejects.toMatchObject({ code: 'LOCAL_ERROR' });
});

test.each([
  ['another server', 'http://192.0.2.1/v1/audio?path=x', /another server/],
  ['nothing', '/v1/audio?path=gone', /404 to the address of its own file/],
])('a file that is on %s is not fetched', async (_, file, message) => {
  const { fake, backend } = await start();
  fake.file = file;
  const answer = await backend.call(music());
  await expect(drain(answer)).rejects.toThrow(message);
});

test('something that is no sound is no music', async () => {
  const { fake, backend } = await start();
  fake.file = '/health';
  const answer = await backend.call(music());
  await expect(drain(answer)).rejects.toThrow(/no music/);
});

test('a task whose caller has left is waited for: the card is busy until its end', async () => {
  const { fake, backend } = await start();
  fake.doneAtLook = Infinity;
  const leaving = new AbortController();
  const call = { ...music(), signal: leaving.signal };
  const outcome = backend.call(call).catch((error: unknown) => error);
  await until(() => fake.routed.posts('/query_result').length > 0);
  leaving.abort('left');
  const asked = fake.routed.posts('/query_result').length;
  let isOver = false;
  void outcome.then(() => (isOver = true));
  await until(() => fake.routed.posts('/query_result').length > asked + 1);
  expect(isOver).toBe(false);
  fake.doneAtLook = 0;
  expect(await outcome).toBe('left');
});

test.each([
  ['a server that was restarted', { taskMs: 60_000, unknownMs: 300 }, 'LOCAL_ERROR'],
  ['a task that never ends', { taskMs: 300, unknownMs: 60_000 }, 'LOCAL_TIMEOUT'],
])('%s is given up', async (_, limits, code) => {
  const { fake } = await start();
  const data = [{ task_id: 'lost', result: '[]', status: 0 }];
  fake.routed.behaviour = ({ path }, response) => {
    const told = path === '/release_task' ? { task_id: 'lost' } : data;
    send(response, 200, { data: told, code: 200, error: null });
  };
  const server = { root: fake.routed.server.origin, apiKey: null, limits };
  const running = runTask(server, {}, new AbortController().signal);
  await expect(running).rejects.toMatchObject({ code });
});
