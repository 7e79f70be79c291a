import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { reply } from '../support/fake-behaviours.js';
import type { Behaviour, FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectMediaAgent } from '../support/media-agent.js';
import { picture } from '../support/pictures.js';
import { make, sendFile, sendImages, startStudio } from '../support/studio.js';
import { usageOf } from '../support/usage-rows.js';
import { bytesOf, draw, fetchAsset, listAssets } from './media-calls.js';
import type { ImageList } from './media-calls.js';
import { failureOf } from './requests.js';

const PUBLIC_URL = 'https://gateway.example.org';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  ({ fake } = await startStudio(gateway, { types: ['image'] }));
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

afterEach(() => {
  fake.behave(make);
  fake.requests.length = 0;
});

const base64 = (text: string): Behaviour => sendImages([Buffer.from(text)]);

async function listOf(response: Response): Promise<ImageList> {
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return (await response.json()) as ImageList;
}

describe('url is an asset address on the service host, returned by default', () => {
  it.each([undefined, null, 'url'])('where response_format is %s', async (format) => {
    const { created, data } = await listOf(await draw(gateway, { response_format: format }));
    expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(10);
    expect(data).toEqual([
      { url: expect.stringMatching(`^${gateway.address}/api/inference/assets/\\w{22}/$`) },
    ]);
  });

  it('its origin is the public one, never that of a Host header', async () => {
    const own = await startGateway({ publicUrl: PUBLIC_URL });
    await using server = (await startStudio(own, { types: ['image'] })).fake;
    const response = await draw(own, {}, { headers: { host: 'evil.example.org' } });
    const { data } = await listOf(response);
    expect(data[0]?.url).toMatch(
      /^https:\/\/gateway\.example\.org\/api\/inference\/assets\/\w+\/$/,
    );
    expect(server.requests).toHaveLength(1);
  });

  it('with the caller’s key it is the image', async () => {
    const { data } = await listOf(await draw(gateway));
    const image = await fetchAsset(data[0]?.url, gateway.anna.key);
    expect(image.headers.get('content-type')).toBe('image/png');
    expect((await bytesOf(image)).subarray(0, 8)).toEqual(picture().subarray(0, 8));
  });

  it('without a key it is 401, and with another member’s 404', async () => {
    const { data } = await listOf(await draw(gateway));
    const [{ url } = {}] = data;
    expect(await failureOf(await fetchAsset(url, null))).toMatchObject({ status: 401 });
    const foreign = await failureOf(await fetchAsset(url, gateway.ben.key));
    expect(foreign).toMatchObject({ status: 404, code: 'asset_not_found' });
  });
});

describe('b64_json is base64 image bytes, present when response_format is b64_json', () => {
  it('instead of url, and the image is stored all the same', async () => {
    const before = (await listAssets(gateway)).length;
    const response = await draw(gateway, { response_format: 'b64_json', n: 2 });
    const { data } = await listOf(response);
    expect(data.map((item) => Object.keys(item))).toEqual([['b64_json'], ['b64_json']]);
    const listed = await listAssets(gateway);
    expect(listed).toHaveLength(before + 2);
    const copies = await Promise.all(
      listed.slice(0, 2).map(async ({ url }) => bytesOf(await fetchAsset(url, gateway.anna.key))),
    );
    const sent = data.map(({ b64_json: text = '' }) => Buffer.from(text, 'base64'));
    expect(copies.toReversed()).toEqual(sent);
    expect(sent[0]).not.toEqual(sent[1]);
  });

  it('and what the local server is asked for, whatever the caller wants', async () => {
    await listOf(await draw(gateway, { response_format: 'url' }));
    expect(fake.lastRequest.body).toMatchObject({ response_format: 'b64_json' });
  });

  it('its length is told, and is true', async () => {
    const response = await draw(gateway, { response_format: 'b64_json' });
    const text = await response.text();
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
  });
});

describe('a model whose callers expect b64_json unasked carries both forms', () => {
  it.each([
    ['gpt-image-1', {}, ['url', 'b64_json']],
    ['gpt-image-1', { response_format: null }, ['url', 'b64_json']],
    ['gpt-image-1', { response_format: 'url' }, ['url']],
    ['gpt-image-1', { response_format: 'b64_json' }, ['b64_json']],
    ['my-gpt-image-1', {}, ['url']],
  ])('%s with %j: %j', async (model, fields, forms) => {
    const { data } = await listOf(await draw(gateway, { model, n: 2, ...fields }));
    expect(data.map((item) => Object.keys(item))).toEqual([forms, forms]);
    const [{ url, b64_json: base64 } = {}] = data;
    if (url === undefined || base64 === undefined) return;
    const image = await bytesOf(await fetchAsset(url, gateway.anna.key));
    expect(Buffer.from(base64, 'base64')).toEqual(image);
  });
});

it.each(['url', 'b64_json'])('the generated image is stored once: %s', async (format) => {
  const before = (await listAssets(gateway)).length;
  await listOf(await draw(gateway, { response_format: format }));
  expect(await listAssets(gateway)).toHaveLength(before + 1);
});

describe('n is clamped by the server', () => {
  it.each([
    [undefined, 1],
    [0, 1],
    [-3, 1],
    [3, 3],
    [4, 4],
    [5, 4],
    [1_000, 4],
  ])('%s is %i', async (n, images) => {
    const response = await draw(gateway, { n });
    const { data } = await listOf(response);
    expect(data).toHaveLength(images);
    expect(new Set(data.map(({ url }) => url)).size).toBe(images);
    expect(fake.lastRequest.body['n']).toBe(images);
    expect(await usageOf(gateway, response)).toMatchObject({ images, audioMs: 0 });
  });

  it('to what the operator has set', async () => {
    const own = await startGateway({ maxImages: 2 });
    await using _server = (await startStudio(own, { types: ['image'] })).fake;
    expect((await listOf(await draw(own, { n: 9 }))).data).toHaveLength(2);
  });
});

it('metered by image count, those that were made and not those that were asked for', async () => {
  const own = await startGateway();
  const agent = await connectMediaAgent(own, { type: 'image' });
  const answer = draw(own, { model: 'm', n: 4 });
  const { stream } = await agent.nextOpen();
  await agent.media(stream, [{ bytes: picture() }, { bytes: picture({ seed: 1 }) }]);
  const response = await answer;
  expect((await listOf(response)).data).toHaveLength(2);
  const row = await usageOf(own, response);
  expect(row).toMatchObject({ images: 2, serviceType: 'image', endpoint: 'images' });
});

it('revised_prompt is passed on, beside either form', async () => {
  const revisedPrompt = 'a cat, "photo", 8k\n';
  fake.behave(sendImages([{ image: picture(), revisedPrompt }, picture({ seed: 1 })]));
  for (const format of ['url', 'b64_json']) {
    const { data } = await listOf(await draw(gateway, { n: 2, response_format: format }));
    expect(data.map((item) => item.revised_prompt)).toEqual([revisedPrompt, undefined]);
  }
});

describe('Errors: 400, 401, 404', () => {
  it.each<[number, string, string | null, object]>([
    [400, 'missing_required_parameter', 'model', { model: null }],
    [400, 'missing_required_parameter', 'prompt', { prompt: null }],
    [400, 'invalid_value', 'prompt', { prompt: '' }],
    [400, 'invalid_type', 'n', { n: 'two' }],
    [400, 'invalid_type', 'n', { n: 1.5 }],
    [400, 'invalid_value', 'size', { size: '512' }],
    [400, 'invalid_value', 'size', { size: '512x512x3' }],
    [400, 'invalid_value', 'size', { size: '63x512' }],
    [400, 'invalid_value', 'size', { size: '512x4097' }],
    [400, 'invalid_value', 'response_format', { response_format: 'png' }],
    [400, 'unsupported_value', 'stream', { stream: true }],
    [400, 'unsupported_value', 'image', { image: { image_url: 'http://192.168.1.1/a.png' } }],
    [404, 'model_not_found', 'model', { model: 'sdd' }],
  ])('%i %s %s', async (...row) => {
    const [status, code, param, fields] = row;
    const failure = await failureOf(await draw(gateway, fields));
    expect(failure).toMatchObject({ status, code });
    if (param !== 'image') expect(failure.param).toBe(param);
    expect(fake.requests).toEqual([]);
  });

  it.each(['64x64', '4096x4096', '512x768', 'auto'])('a size of %s is served', async (size) => {
    expect((await draw(gateway, { size })).status).toBe(200);
  });

  it('401 without a key', async () => {
    const response = await fetch(`${gateway.baseUrl}/images/generations`, { method: 'POST' });
    expect(await failureOf(response)).toMatchObject({ status: 401, type: 'not_authenticated' });
  });

  it.each<[string, Behaviour]>([
    ['HTML', sendFile('image/png', '<!doctype html><h1>Oops</h1>')],
    ['text', sendFile('image/png', 'There was no GPU to be had.')],
    ['HTML in base64', base64('<!doctype html><h1>Oops</h1>')],
    ['SVG in base64', base64('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')],
    ['no image at all', sendImages([])],
    ['an image of another server', reply(200, { data: [{ url: 'http://192.0.2.1/a.png' }] })],
  ])('502 where the local server answers %s', async (_, behaviour) => {
    fake.behave(behaviour);
    const before = (await listAssets(gateway)).length;
    const response = await draw(gateway);
    const failure = await failureOf(response);
    expect(failure).toMatchObject({ status: 502, type: 'upstream_error', code: 'provider_error' });
    expect(await listAssets(gateway)).toHaveLength(before);
    expect(await usageOf(gateway, response)).toMatchObject({ outcome: 'failed', images: 0 });
  });

  it('502 where an agent sends more images than asked for: none is kept', async () => {
    const own = await startGateway();
    const agent = await connectMediaAgent(own, { type: 'image' });
    const answer = draw(own, { model: 'm', n: 2 });
    const { stream } = await agent.nextOpen();
    const images = [0, 1, 2].map((seed) => ({ bytes: picture({ seed }) }));
    await agent.media(stream, images);
    const failure = await failureOf(await answer);
    expect(failure).toMatchObject({ status: 502, code: 'provider_error' });
    expect(failure.message).toContain('more files than the 2 asked for');
    expect(await listAssets(own)).toEqual([]);
  });
});
