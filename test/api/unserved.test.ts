import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { CHAT, chat, failureOf, post, remaining, upload } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  const served = await openServedGateway();
  ({ gateway, fake } = served);
  return served.stop;
});

const JSON_ENDPOINTS = [
  ['/v1/audio/speech', 'tts'],
  ['/v1/images/generations', 'image'],
  ['/v1/videos/generations', 'video'],
  ['/v1/music/generations', 'music'],
] as const;
const UPLOAD_ENDPOINTS = [
  ['/v1/audio/transcriptions', 'stt'],
  ['/v1/images/edits', 'image'],
  ['/v1/voice/generations', 'tts'],
] as const;

const NOT_FOUND = { status: 404, type: 'no_provider', code: 'model_not_found', param: 'model' };

describe('a request is routed only to a provider whose service matches the endpoint’s type', () => {
  it.each(JSON_ENDPOINTS)('POST %s with a text model is 404 no_provider', async (path, type) => {
    const failure = await failureOf(await post(gateway, { model: 'tiny', prompt: 'x' }, { path }));
    expect(failure).toMatchObject(NOT_FOUND);
    expect(failure.message).toContain(`'tiny' as ${type}`);
  });

  it.each(UPLOAD_ENDPOINTS)('POST %s with a text model is 404 no_provider', async (path, type) => {
    const failure = await failureOf(await upload(gateway, path, { model: 'tiny' }));
    expect(failure).toMatchObject(NOT_FOUND);
    expect(failure.message).toContain(`'tiny' as ${type}`);
  });

  it('GET /v1/audio/voices with a text model is 404 no_provider', async () => {
    const failure = await failureOf(await gateway.fetch('/v1/audio/voices?model=tiny'));
    expect(failure).toMatchObject(NOT_FOUND);
  });

  it('none of them reaches the local server', () => {
    expect(fake.requests).toEqual([]);
  });
});

describe('the model is required', () => {
  const MISSING = { status: 400, code: 'missing_required_parameter', param: 'model' };

  it.each(JSON_ENDPOINTS)('POST %s', async (path) => {
    expect(await failureOf(await post(gateway, {}, { path }))).toMatchObject(MISSING);
  });

  it.each(UPLOAD_ENDPOINTS)('POST %s', async (path) => {
    expect(await failureOf(await upload(gateway, path, {}))).toMatchObject(MISSING);
  });

  it('GET /v1/audio/voices', async () => {
    expect(await failureOf(await gateway.fetch('/v1/audio/voices'))).toMatchObject(MISSING);
  });
});

describe('when async processing is not enabled, every async endpoint returns 503', () => {
  const DISABLED = {
    status: 503,
    type: 'async_disabled',
    code: 'async_disabled',
    param: null,
    retry: 'false',
  };

  const paths = [CHAT, '/v1/completions', ...JSON_ENDPOINTS.map(([path]) => path)];

  it.each(paths)('POST %s', async (path) => {
    const body = { ...chat(), prompt: 'x', input: 'x', async: true };
    expect(await failureOf(await post(gateway, body, { path }))).toMatchObject(DISABLED);
  });

  it.each<[string, string]>([
    ['GET', '/v1/jobs'],
    ['GET', '/v1/jobs/01ABC'],
    ['POST', '/v1/jobs/01ABC/cancel'],
    ['POST', '/v1/jobs/01ABC/retry'],
    ['POST', '/v1/batches'],
    ['GET', '/v1/batches'],
    ['GET', '/v1/batches/01ABC'],
    ['POST', '/v1/batches/01ABC/cancel'],
  ])('%s %s', async (method, path) => {
    expect(await failureOf(await gateway.fetch(path, { method }))).toMatchObject(DISABLED);
  });

  it.each(STOCK_CLIENTS)('and $version does not try again', async ({ Sdk }) => {
    const before = await remaining(gateway);
    const client = connect(Sdk, gateway, { maxRetries: 2 });
    const failure = await client.chat.completions
      .create(chat({ async: true }))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.InternalServerError);
    expect(failure).toMatchObject({ status: 503, type: 'async_disabled' });
    expect(before - (await remaining(gateway))).toBe(1);
  });
});

describe('async: true on a file-upload endpoint', () => {
  it.each(UPLOAD_ENDPOINTS)('POST %s is 400 async_not_supported', async (path) => {
    const failure = await failureOf(await upload(gateway, path, { model: 'tiny', async: 'true' }));
    expect(failure).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'async_not_supported',
      param: 'async',
    });
  });

  it.each(UPLOAD_ENDPOINTS)('async: false on POST %s is no matter', async (path) => {
    const response = await upload(gateway, path, { model: 'tiny', async: 'false' });
    expect(await failureOf(response)).toMatchObject(NOT_FOUND);
  });
});

it.each(JSON_ENDPOINTS)('a non-boolean async on POST %s is 400', async (path) => {
  const failure = await failureOf(await post(gateway, { model: 'tiny', async: 1 }, { path }));
  expect(failure).toMatchObject({ status: 400, code: 'invalid_type', param: 'async' });
});

it('fields may come after the file, and image or image[] hold several', async () => {
  const form = new FormData();
  form.append('image[]', new Blob(['a']), 'a.png');
  form.append('image[]', new Blob(['b']), 'b.png');
  form.set('prompt', 'join them');
  form.set('model', 'tiny');
  const response = await gateway.fetch('/v1/images/edits', { method: 'POST', body: form });
  expect(await failureOf(response)).toMatchObject(NOT_FOUND);
});

const file = () => new File(['RIFF....WAVE'], 'speech.wav');

describe.each(STOCK_CLIENTS)('$version raises NotFoundError', ({ Sdk }) => {
  const client = () => connect(Sdk, gateway);

  it.each<[string, () => Promise<unknown>]>([
    [
      'for a transcription',
      () => client().audio.transcriptions.create({ file: file(), model: 'whisper' }),
    ],
    [
      'for speech',
      () => client().audio.speech.create({ model: 'kokoro', input: 'hi', voice: 'alloy' }),
    ],
    ['for an image', () => client().images.generate({ model: 'sd', prompt: 'a cat' })],
    ['for an edit', () => client().images.edit({ model: 'sd', prompt: 'x', image: file() })],
  ])('%s', async (_, call) => {
    const failure = await call().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.NotFoundError);
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
  });
});
