import { toFile } from 'openai';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerWell, sha256Of, startFakeMedia } from '../support/fake-media-server.js';
import type { FakeMediaServer } from '../support/fake-media-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { picture, runFfmpeg } from '../support/pictures.js';
import { send } from '../support/recording-server.js';
import { tone } from '../support/sound.js';
import { failureOf } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

const PATH = '/v1/images/edits';
const first = picture({ seed: 1 });
const second = picture({ seed: 2 });
const mask = picture({ seed: 3 });

let gateway: TestGateway;
let fake: FakeMediaServer;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeMedia();
  await gateway.startAgent({ services: [fake.service('image', { sd: [], 'gpt-image-1': [] })] });
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

beforeEach(() => fake.reset());

type Entry = readonly [string, string | Buffer];

function edit(...entries: readonly Entry[]): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of [['model', 'sd'], ['prompt', 'a hat'], ...entries] as Entry[]) {
    if (typeof value === 'string') body.append(name, value);
    else body.append(name, new Blob([new Uint8Array(value)], { type: 'text/plain' }), 'a.txt');
  }
  return gateway.fetch(PATH, { method: 'POST', body });
}

async function urlsOf(response: Response): Promise<string[]> {
  const { data } = (await response.json()) as { data: { url: string }[] };
  return data.map(({ url }) => url);
}

describe.each(STOCK_CLIENTS)('$version edits', ({ Sdk }) => {
  const images = () => connect(Sdk, gateway).images;
  const common = { model: 'sd', prompt: 'a hat' };

  it('one image, which comes back by its url', async () => {
    const image = await toFile(first, 'cat.png', { type: 'image/png' });
    const { created, data } = await images().edit({ ...common, image });
    expect(created).toBeGreaterThan(1_700_000_000);
    expect(fake.last.files.map(({ sha256 }) => sha256)).toEqual([sha256Of(first)]);
    const url = data?.[0]?.url ?? '';
    expect(url.startsWith(`${gateway.address}/api/inference/assets/`)).toBe(true);
    const asset = await gateway.fetch(new URL(url).pathname);
    expect([asset.status, asset.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(data?.[0]).not.toHaveProperty('b64_json');
  });

  it('an array of images and a mask, in their order', async () => {
    const image = [await toFile(first, 'a.png'), await toFile(second, 'b.png')];
    await images().edit({ ...common, image, mask: await toFile(mask, 'mask.png') });
    const { files } = fake.last;
    const hashes = files.filter(({ name }) => name !== 'mask').map(({ sha256 }) => sha256);
    expect(hashes).toEqual([sha256Of(first), sha256Of(second)]);
    expect(files.find(({ name }) => name === 'mask')?.sha256).toBe(sha256Of(mask));
  });

  it('with partial_images, which only streams have: there are none', async () => {
    const image = await toFile(first, 'cat.png');
    for (const partial_images of [0, 2]) {
      const { data } = await images().edit({ ...common, image, partial_images });
      expect(data).toHaveLength(1);
      expect(fake.last.fields).not.toHaveProperty('partial_images');
    }
  });

  it('as a stream is refused, and asks no GPU', async () => {
    const image = await toFile(first, 'cat.png');
    const asked = images().edit({ ...common, image, stream: true });
    const failure = await asked.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.BadRequestError);
    expect(failure).toMatchObject({ code: 'unsupported_value', param: 'stream' });
    expect(String(failure)).toContain('leave it away');
    expect(fake.heard).toEqual([]);
  });

  it('with a model whose callers expect b64_json unasked: both forms', async () => {
    const image = await toFile(first, 'cat.png');
    const { data } = await images().edit({ ...common, model: 'gpt-image-1', image });
    const [made] = data ?? [];
    const asset = await gateway.fetch(new URL(made?.url ?? '').pathname);
    const bytes = Buffer.from(await asset.arrayBuffer());
    expect(Buffer.from(made?.b64_json ?? '', 'base64')).toEqual(bytes);
  });

  it('and takes b64_json instead of a url', async () => {
    const image = await toFile(first, 'cat.png');
    const { data } = await images().edit({ ...common, image, response_format: 'b64_json' });
    const [made] = data ?? [];
    expect(
      Buffer.from(made?.b64_json ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    expect(made).not.toHaveProperty('url');
  });
});

describe('image: png, jpeg or webp', () => {
  it.each([
    ['image/png', 'png'],
    ['image/jpeg', 'mjpeg'],
    ['image/webp', 'libwebp'],
  ])('%s, whatever its name and its type say', async (type, codec) => {
    const to = ['-frames:v', '1', '-c:v', codec, '-f', codec === 'libwebp' ? 'webp' : 'image2pipe'];
    const image = await runFfmpeg(['-f', 'lavfi', '-i', 'testsrc=size=64x64', ...to]);
    expect((await edit(['image', image])).status).toBe(200);
    expect(fake.last.files).toMatchObject([{ type, sha256: sha256Of(image) }]);
  });

  it.each<[string, string, Buffer]>([
    ['a sound', 'image', tone(0.1)],
    ['a GIF', 'image', Buffer.from('GIF89a1234567890')],
    ['a text as mask', 'mask', Buffer.from('transparent everywhere')],
  ])('%s is 415', async (_, param, bytes) => {
    const rest: Entry[] = param === 'mask' ? [['image', first]] : [];
    const failure = await failureOf(await edit(...rest, [param, bytes]));
    expect(failure).toMatchObject({ status: 415, code: 'unsupported_file_type', param });
    expect(fake.heard).toEqual([]);
  });
});

describe('n: clamped by the server', () => {
  it.each([
    ['9', 4],
    ['0', 1],
    ['-3', 1],
    ['3', 3],
  ])('%s is %i', async (n, count) => {
    fake.behave(({ fields }, response) => {
      const asked = Number(fields['n']?.[0] ?? 1);
      const made = { b64_json: picture().toString('base64') };
      send(response, 200, { data: Array.from({ length: asked }, () => made) });
    });
    const urls = await urlsOf(await edit(['image', first], ['n', n]));
    expect(new Set(urls).size).toBe(count);
  });
});

it('size, and fields that nobody knows, go to the local server as they are', async () => {
  await edit(['size', '512x768'], ['image[]', first], ['steps', '20']);
  expect(fake.last.fields).toMatchObject({ size: ['512x768'], steps: ['20'], prompt: ['a hat'] });
});

it.each<[string, readonly Entry[], object]>([
  ['no image', [['mask', mask]], { param: 'image', code: 'missing_required_parameter' }],
  [
    'two masks',
    [
      ['image', first],
      ['mask', mask],
      ['mask', mask],
    ],
    { param: 'mask' },
  ],
  [
    'a wrong size',
    [
      ['image', first],
      ['size', '1x1'],
    ],
    { param: 'size', code: 'invalid_value' },
  ],
  [
    'a wrong n',
    [
      ['image', first],
      ['n', 'many'],
    ],
    { param: 'n', code: 'invalid_type' },
  ],
  [
    'a wrong format',
    [
      ['image', first],
      ['response_format', 'png'],
    ],
    { code: 'invalid_value' },
  ],
  [
    'async',
    [
      ['image', first],
      ['async', 'true'],
    ],
    { code: 'async_not_supported' },
  ],
])('a form with %s is 400', async (_, entries, expected) => {
  const failure = await failureOf(await edit(...entries));
  expect(failure).toMatchObject({ status: 400, type: 'invalid_request_error', ...expected });
  fake.behave(answerWell);
  expect(fake.heard).toEqual([]);
});
