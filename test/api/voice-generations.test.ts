import { beforeAll, beforeEach, expect, it } from 'vitest';
import { audioFile } from '../support/audio-files.js';
import { sha256Of, SPOKEN_SECONDS, startFakeMedia } from '../support/fake-media-server.js';
import type { FakeMediaServer } from '../support/fake-media-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { failureOf } from './requests.js';

const PATH = '/v1/voice/generations';

let gateway: TestGateway;
let fake: FakeMediaServer;
let speech: Buffer<ArrayBuffer>;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeMedia();
  const models = { chatterbox: ['voice-cloning'], kokoro: [] };
  await gateway.startAgent({ services: [fake.service('tts', models)] });
  speech = await audioFile('wav');
  return async () => {
    await gateway.stop();
    await fake.close();
  };
}, 60_000);

beforeEach(() => fake.reset());

function generate(fields: Readonly<Record<string, string>>, withFile = true): Promise<Response> {
  const body = new FormData();
  const all = { input: 'Good morning', model: 'chatterbox', ...fields };
  if (withFile) body.append('file', new Blob([speech]), 'me.wav');
  for (const [name, value] of Object.entries(all)) body.append(name, value);
  return gateway.fetch(PATH, { method: 'POST', body });
}

it('voice/generations is a file-upload endpoint: speech goes in, raw audio comes out', async () => {
  const response = await generate({ transcript: 'What I say here.' });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/wav']);
  const audio = Buffer.from(await response.arrayBuffer());
  expect(audio.subarray(8, 12).toString()).toBe('WAVE');
  expect(audio.length).toBeGreaterThan(SPOKEN_SECONDS * 32_000);
  expect(fake.last.files).toMatchObject([{ name: 'file', sha256: sha256Of(speech) }]);
  const { fields } = fake.last;
  expect(fields).toMatchObject({ input: ['Good morning'], transcript: ['What I say here.'] });
});

it('a copy is stored by the service for the caller’s history', async () => {
  const response = await generate({});
  const url = new URL(response.headers.get('x-asset-url') ?? '');
  const bytes = Buffer.from(await response.arrayBuffer());
  const stored = await gateway.fetch(url.pathname);
  expect(Buffer.from(await stored.arrayBuffer()).equals(bytes)).toBe(true);
});

it('a model that copies no voices is 404, and the answer says why', async () => {
  const failure = await failureOf(await generate({ model: 'kokoro' }));
  const type = 'no_provider';
  expect(failure).toMatchObject({ status: 404, type, code: 'model_not_found', param: 'model' });
  expect(failure.message).toContain("'kokoro' as tts with voice-cloning");
  expect(fake.heard).toEqual([]);
});

it.each<[string, Record<string, string>, object]>([
  ['async', { async: 'true' }, { status: 400, code: 'async_not_supported', param: 'async' }],
  ['no text', { input: '' }, { status: 400, param: 'input' }],
  ['too much text', { input: 'x'.repeat(5_001) }, { status: 413, code: 'body_too_large' }],
  ['a wrong format', { response_format: 'tape' }, { status: 400, param: 'response_format' }],
])('a form with %s is refused', async (_, fields, expected) => {
  expect(await failureOf(await generate(fields))).toMatchObject(expected);
  expect(fake.heard).toEqual([]);
});

it('a form without a reference is 400', async () => {
  const expected = { status: 400, code: 'missing_required_parameter', param: 'file' };
  expect(await failureOf(await generate({}, false))).toMatchObject(expected);
});
