import { repaintMask } from '@inference-gateway/agent/media/repaint-mask';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { chunk, png, runFfmpeg } from '../../support/pictures.js';

const WIDTH = 67;
const HEIGHT = 41;

/** Alpha that rises to the right and falls downwards, so that every filter has work to do. */
const SHADES = "geq=r='X*3':g='Y*5':b='X+Y':a='mod(X*7+Y*11,256)'";
const GRADIENT = `nullsrc=${WIDTH}x${HEIGHT},format=rgba,${SHADES}`;

function painted(pixelFormat: string, prediction: string): Promise<Buffer> {
  const source = ['-f', 'lavfi', '-i', GRADIENT, '-frames:v', '1', '-pix_fmt', pixelFormat];
  return runFfmpeg([...source, '-pred', prediction, '-c:v', 'png', '-f', 'image2pipe']);
}

/** The alpha values and the grey values, as ffmpeg reads them. */
const alphaOf = (image: Buffer) => planeOf(image, ['-vf', 'format=rgba,alphaextract']);
const planeOf = (image: Buffer, filter: readonly string[] = []) =>
  runFfmpeg(['-i', 'pipe:0', ...filter, '-f', 'rawvideo', '-pix_fmt', 'gray'], image);

test.each([
  ['rgba', 'none'],
  ['rgba', 'sub'],
  ['rgba', 'up'],
  ['rgba', 'avg'],
  ['rgba', 'paeth'],
  ['rgba', 'mixed'],
  ['rgba64be', 'mixed'],
  ['ya8', 'paeth'],
  ['ya16be', 'avg'],
])('transparent becomes white: %s, filtered with %s', async (pixelFormat, prediction) => {
  const image = await painted(pixelFormat, prediction);
  const mask = await repaintMask(image);
  if (mask.kind !== 'mask') throw new Error(mask.fault);
  const alpha = await alphaOf(image);
  const grey = await planeOf(mask.png);
  expect(grey).toHaveLength(WIDTH * HEIGHT);
  expect(new Set(alpha).size).toBeGreaterThan(100);
  expect(grey.equals(alpha.map((value) => 255 - value))).toBe(true);
});

test('a palette with transparency is read, however few bits a pixel has', async () => {
  const alphas = Buffer.from([0, 128]);
  const rows = Buffer.from([0, 0b0110_1100, 0b0100_0000, 0, 0b1111_1111, 0b1100_0000]);
  const image = png([
    header({ width: 5, height: 2, bitDepth: 2, colourType: 3 }),
    chunk('PLTE', Buffer.alloc(12)),
    chunk('tRNS', alphas),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
  const mask = await repaintMask(image);
  if (mask.kind !== 'mask') throw new Error(mask.fault);
  // Colours 1 2 3 0 1, then 3 3 3 3 3: what the list does not name is opaque.
  expect([...(await planeOf(mask.png))]).toEqual([127, 0, 0, 255, 127, 0, 0, 0, 0, 0]);
});

const rgba = { width: 2, height: 2, bitDepth: 8, colourType: 6 };
const whole = Buffer.alloc(2 * 9);

test.each<[string, RegExp, Buffer]>([
  ['no PNG at all', /^is no PNG$/, Buffer.from('GIF89a')],
  ['nothing', /^is no PNG$/, Buffer.alloc(0)],
  ['no alpha channel', /no transparency/, file({ ...rgba, colourType: 2 }, whole)],
  ['a palette without alpha', /no transparency/, file({ ...rgba, colourType: 3 }, whole)],
  ['interlacing', /interlaced/, file({ ...rgba, interlace: 1 }, whole)],
  ['a side too long', /4097x2/, file({ ...rgba, width: 4_097 }, whole)],
  ['no width', /0x2/, file({ ...rgba, width: 0 }, whole)],
  ['too few rows', /damaged/, file(rgba, whole.subarray(0, 9))],
  ['a filter that is none', /damaged/, file(rgba, Buffer.alloc(18, 9))],
  ['data that is not packed', /damaged/, file(rgba, whole, (data) => data)],
])('a mask with %s is told', async (_what, fault, image) => {
  expect(await repaintMask(image)).toEqual({
    kind: 'unusable',
    fault: expect.stringMatching(fault),
  });
});

test('data that unpack to far more than the picture are not unpacked', async () => {
  const bomb = file(rgba, Buffer.alloc(64 * 1024 * 1024));
  const before = process.memoryUsage().arrayBuffers;
  expect(await repaintMask(bomb)).toMatchObject({ kind: 'mask' });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
});

interface Header {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  readonly colourType: number;
  readonly interlace?: number;
}

function file(head: Header, rows: Buffer, pack: (rows: Buffer) => Buffer = deflateSync): Buffer {
  return png([header(head), chunk('IDAT', pack(rows)), chunk('IEND', Buffer.alloc(0))]);
}

function header({ width, height, bitDepth, colourType, interlace = 0 }: Header): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([bitDepth, colourType, 0, 0, interlace], 8);
  return chunk('IHDR', data);
}
