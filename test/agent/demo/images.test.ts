import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { demoClient, refusalOf } from './demo-client.js';
import type { DemoClient } from './demo-client.js';
import { readPng } from './png-pixels.js';
import type { PngPixels } from './png-pixels.js';

let demo: DemoClient;

beforeAll(async () => {
  demo = await demoClient();
  return () => demo.close();
});

async function imagesOf(answer: Response): Promise<Buffer[]> {
  expect(answer.status).toBe(200);
  const { created, data } = (await answer.json()) as {
    created: number;
    data: { b64_json: string }[];
  };
  expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(60);
  expect(data.map((one) => Object.keys(one))).toEqual(data.map(() => ['b64_json']));
  return data.map(({ b64_json: text }) => Buffer.from(text, 'base64'));
}

async function paint(prompt: string, changes: object = {}): Promise<Buffer[]> {
  const request = { model: 'demo-painter', prompt, ...changes };
  return imagesOf(await demo.post('/images/generations', request));
}

interface Edit {
  readonly prompt?: string;
  readonly images?: readonly Buffer[];
  readonly mask?: Buffer;
  readonly fields?: Readonly<Record<string, string>>;
}

const SOURCE = Buffer.from('any bytes do');

function sendEdit({ prompt = 'a hat', images = [SOURCE], mask, fields = {} }: Edit) {
  const form = new FormData();
  form.set('prompt', prompt);
  form.set('model', 'demo-painter');
  const name = images.length > 1 ? 'image[]' : 'image';
  for (const image of images) form.append(name, new File([image], 'source.png'));
  if (mask !== undefined) form.set('mask', new File([mask], 'mask.png'));
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  return demo.post('/images/edits', form);
}

async function edit(request: Edit): Promise<Buffer[]> {
  return imagesOf(await sendEdit(request));
}

function someFile(name: string): File {
  return new File([randomBytes(100)], name, { type: 'image/png' });
}

/** The file of an answer's only picture, in letters that can be compared. */
async function only(images: Promise<Buffer[]>): Promise<string> {
  const [image, ...others] = await images;
  expect(others).toEqual([]);
  return image?.toString('base64') ?? '';
}

function coloursOf({ pixels, palette }: PngPixels): Set<string> {
  return new Set([...pixels].map((place) => palette.toString('hex', place * 3, place * 3 + 3)));
}

describe('a generation', () => {
  test('is one PNG file of 512 × 512 pixels in many colours', async () => {
    const [png, ...others] = await paint('a lighthouse');
    expect(others).toEqual([]);
    const picture = readPng(png ?? Buffer.alloc(0));
    expect(picture).toMatchObject({ width: 512, height: 512 });
    expect(picture.palette).toHaveLength(768);
    expect(coloursOf(picture).size).toBeGreaterThan(50);
  });

  test('flows: pixels that touch differ by little', async () => {
    const { width, pixels } = readPng((await paint('a lighthouse'))[0] ?? Buffer.alloc(0));
    const steps = [...pixels].map((one, i) =>
      Math.max(
        i % width === 0 ? 0 : Math.abs(one - (pixels[i - 1] ?? one)),
        Math.abs(one - (pixels[i - width] ?? one)),
      ),
    );
    expect(steps.reduce((most, one) => Math.max(most, one), 0)).toBeLessThan(10);
  });

  test.each(['64x64', '65x97', '1024x1024', '1025x64', '1500x700', '64x4096', '4096x4096'])(
    'has the size asked for: %s',
    async (size) => {
      const [png] = await paint('a lighthouse', { size });
      const { width, height } = readPng(png ?? Buffer.alloc(0));
      expect(`${width}x${height}`).toBe(size);
    },
  );

  test('that is large shows the same picture as a small one', async () => {
    const [small] = await paint('x', { size: '1024x1024' });
    const [large] = await paint('x', { size: '2048x2048' });
    const dots = readPng(small ?? Buffer.alloc(0)).pixels;
    const { pixels } = readPng(large ?? Buffer.alloc(0));
    for (const [x, y] of [
      [0, 0],
      [1, 1],
      [700, 3],
      [2047, 2047],
      [1000, 1999],
    ] as const) {
      const dot = dots[Math.floor(y / 2) * 1024 + Math.floor(x / 2)];
      expect(pixels[y * 2048 + x]).toBe(dot);
    }
  });

  test('depends on prompt and place alone', async () => {
    const four = await paint('a lighthouse', { n: 4 });
    expect(new Set(four.map(String)).size).toBe(4);
    expect((await paint('a lighthouse', { n: 2 })).map(String)).toEqual(
      four.slice(0, 2).map(String),
    );
    expect(await only(paint('a lighthouse!'))).not.toBe(four[0]?.toString('base64'));
  });

  test('is bytes, whatever form is asked for', async () => {
    expect(await paint('a lighthouse', { response_format: 'url' })).toHaveLength(1);
  });

  test('is what the OpenAI client asks for', async () => {
    const request = { model: 'demo-painter', prompt: 'x', n: 2, size: '256x256' } as const;
    const { data } = await demo.openai.images.generate({ ...request, response_format: 'b64_json' });
    const widths = data?.map((one) => readPng(Buffer.from(one.b64_json ?? '', 'base64')).width);
    expect(widths).toEqual([256, 256]);
  });
});

describe('an edit', () => {
  test('depends on prompt, pictures and mask', async () => {
    const plain = await only(edit({}));
    expect(await only(edit({}))).toBe(plain);
    const others = await Promise.all([
      only(paint('a hat')),
      only(edit({ prompt: 'a cap' })),
      only(edit({ images: [Buffer.from('any bytes d0')] })),
      only(edit({ mask: SOURCE })),
      only(edit({ images: [SOURCE, SOURCE, SOURCE] })),
    ]);
    expect(new Set([plain, ...others]).size).toBe(6);
  });

  test('has the number and size asked for', async () => {
    const images = await edit({ fields: { n: '3', size: '128x96' } });
    const sizes = images.map(readPng).map(({ width, height }) => [width, height]);
    expect(sizes).toEqual([
      [128, 96],
      [128, 96],
      [128, 96],
    ]);
  });

  test('of one picture and of several is what the OpenAI client asks for', async () => {
    const request = { model: 'demo-painter', prompt: 'a hat' };
    const one = await demo.openai.images.edit({ ...request, image: someFile('a.png') });
    const image = [someFile('ä "1".png'), someFile('b.png')];
    const two = await demo.openai.images.edit({ ...request, image, mask: someFile('m.png') });
    for (const { data } of [one, two]) {
      expect(readPng(Buffer.from(data?.[0]?.b64_json ?? '', 'base64'))).toMatchObject({
        width: 512,
      });
    }
  });
});

describe('refused, naming the field, is', () => {
  test.each([
    ['no prompt', { prompt: undefined }, 'prompt'],
    ['an empty prompt', { prompt: '' }, 'prompt'],
    ['no picture', { n: 0 }, 'n'],
    ['too many pictures', { n: 11 }, 'n'],
    ['half a picture', { n: 1.5 }, 'n'],
    ['a number in letters', { n: 'two' }, 'n'],
    ['a size that is none', { size: 'large' }, 'size'],
    ['a size too small', { size: '63x64' }, 'size'],
    ['a size too large', { size: '64x4097' }, 'size'],
  ])('%s', async (_, changes, param) => {
    const request = { model: 'demo-painter', prompt: 'x', ...changes };
    const answer = await demo.post('/images/generations', request);
    expect(await refusalOf(answer)).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param,
    });
  });

  test('a model of another type', async () => {
    const request = { model: 'demo-voice', prompt: 'x' };
    const answer = await demo.post('/images/generations', request);
    expect(await refusalOf(answer)).toMatchObject({ status: 404, param: 'model' });
  });

  test.each([
    ['an edit of nothing', { images: [] }, 'image'],
    ['an edit of text', { images: [], fields: { image: 'text' } }, 'image'],
    ['an edit without a prompt', { prompt: '' }, 'prompt'],
    ['an edit in letters', { fields: { n: 'x' } }, 'n'],
    ['an edit of no size', { fields: { size: '0x0' } }, 'size'],
  ])('%s', async (_, request, param) => {
    expect(await refusalOf(await sendEdit(request))).toMatchObject({ status: 400, param });
  });
});
