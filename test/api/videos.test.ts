import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { FILM, make, sendFile, sendImages, SPEECH, startStudio } from '../support/studio.js';
import { usageOf } from '../support/usage-rows.js';
import { bytesOf, draw, fetchAsset, film, listAssets } from './media-calls.js';
import type { ImageList } from './media-calls.js';
import { failureOf } from './requests.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  ({ fake } = await startStudio(gateway, { types: ['video', 'image'] }));
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

afterEach(() => {
  fake.behave(make);
  fake.requests.length = 0;
});

/** The service types in Anna's list of models. */
async function typesOf(one: TestGateway): Promise<string[]> {
  const { data } = (await (await one.fetch('/v1/models')).json()) as {
    data: { service_type: string }[];
  };
  return [...new Set(data.map(({ service_type: type }) => type))].toSorted();
}

it('the answer is the raw film by default, and kept', async () => {
  const response = await film(gateway);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('video/mp4');
  expect(response.headers.get('x-provider')).toBe('den-pc');
  expect(await bytesOf(response)).toEqual(FILM);
  const copy = await fetchAsset(response.headers.get('x-asset-url'), gateway.anna.key);
  expect(copy.headers.get('content-type')).toBe('video/mp4');
  expect(await bytesOf(copy)).toEqual(FILM);
});

it('the content type is that of the bytes', async () => {
  const webm = Buffer.from('\x1a\x45\xdf\xa3 and the rest of a film', 'latin1');
  fake.behave(sendFile('video/mp4', webm));
  const response = await film(gateway);
  expect(response.headers.get('content-type')).toBe('video/webm');
  expect(await bytesOf(response)).toEqual(webm);
});

it('response_format url answers {created, data: [{url}]}', async () => {
  const response = await film(gateway, { response_format: 'url' });
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const { created, data } = (await response.json()) as ImageList;
  expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(10);
  expect(data).toEqual([{ url: expect.any(String) }]);
  expect(await bytesOf(await fetchAsset(data[0]?.url, gateway.anna.key))).toEqual(FILM);
});

it('a film in JSON reaches the caller as bytes', async () => {
  fake.behave(sendImages([FILM]));
  const response = await film(gateway);
  expect(response.headers.get('content-type')).toBe('video/mp4');
  expect(await bytesOf(response)).toEqual(FILM);
});

it('every field of the request reaches the model, async and response_format do not', async () => {
  const fields = {
    negative_prompt: 'dogs',
    duration: 2.5,
    fps: 24,
    width: 640,
    height: 480,
    num_inference_steps: 20,
    guidance_scale: 7.5,
    seed: 42,
    image: `data:image/png;base64,${FILM.subarray(0, 9).toString('base64')}`,
    anything_else: { as: 'it is' },
  };
  await film(gateway, { ...fields, async: false, response_format: 'url' });
  expect(fake.lastRequest.body).toMatchObject(fields);
  expect(fake.lastRequest.body).not.toHaveProperty('async');
  expect(fake.lastRequest.body['response_format']).not.toBe('url');
});

it('a film is neither sound nor image to the meter', async () => {
  const response = await film(gateway);
  await bytesOf(response);
  const row = await usageOf(gateway, response);
  expect(row).toMatchObject({ serviceType: 'video', endpoint: 'videos', outcome: 'ok' });
  expect(row).toMatchObject({ audioMs: 0, images: 0 });
});

describe('a request reaches only a model of type video', () => {
  it('an image model is none', async () => {
    const failure = await failureOf(await film(gateway, { model: 'sd' }));
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
    expect(failure.message).toContain("'sd' as video");
  });

  it('and a video model draws no images', async () => {
    const failure = await failureOf(await draw(gateway, { model: 'wan' }));
    expect(failure).toMatchObject({ status: 404, type: 'no_provider' });
    expect(fake.requests).toEqual([]);
  });

  it('the type appears in /models only where it is advertised', async () => {
    expect(await typesOf(gateway)).toEqual(['image', 'video']);
    const other = await startGateway();
    await using _server = (await startStudio(other, { types: ['image', 'tts'] })).fake;
    expect(await typesOf(other)).toEqual(['image', 'tts']);
  });
});

describe('errors', () => {
  it.each<[number, string, string | null, object]>([
    [400, 'missing_required_parameter', 'model', { model: null }],
    [400, 'missing_required_parameter', 'prompt', { prompt: null }],
    [400, 'invalid_value', 'duration', { duration: 0 }],
    [400, 'invalid_value', 'fps', { fps: 1_000 }],
    [400, 'invalid_value', 'width', { width: 5_000 }],
    [400, 'invalid_type', 'seed', { seed: 'x' }],
    [400, 'invalid_value', 'response_format', { response_format: 'b64_json' }],
    [400, 'unsupported_value', 'image', { image: 'https://example.org/cat.png' }],
  ])('%i %s %s', async (...row) => {
    const [status, code, param, fields] = row;
    expect(await failureOf(await film(gateway, fields))).toMatchObject({ status, code, param });
    expect(fake.requests).toEqual([]);
  });

  it.each([
    ['HTML', '<!doctype html><h1>Oops</h1>'],
    ['sound', SPEECH],
  ])('502 where the local server answers %s', async (_, bytes) => {
    fake.behave(sendFile('video/mp4', bytes));
    const failure = await failureOf(await film(gateway));
    expect(failure).toMatchObject({ status: 502, code: 'provider_error' });
    const kept = await listAssets(gateway);
    expect(kept.every(({ content_type: type }) => type.startsWith('video/'))).toBe(true);
  });
});
