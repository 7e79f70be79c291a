import { readImageSize } from '@inference-gateway/agent/media/images';
import { streamWithoutMetadata } from '@inference-gateway/agent/media/stream-without-metadata';
import { detectFormat } from '@inference-gateway/shared/media/types';
import { buffer } from 'node:stream/consumers';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { chunk, picture, png, runFfmpeg } from '../../support/pictures.js';

const SECRET = 'Model: secret-model, /home/somebody/models';
const SOURCE = ['-f', 'lavfi', '-i', 'testsrc=size=120x80', '-frames:v', '1'];

const pixels = (image: Buffer) =>
  runFfmpeg(['-i', 'pipe:0', '-f', 'rawvideo', '-pix_fmt', 'rgb24'], image);

test('a PNG loses its texts, EXIF and private chunks, and keeps its colours', async () => {
  const painted = await runFfmpeg([...SOURCE, '-c:v', 'png', '-f', 'image2pipe']);
  const at = 8 + 25;
  const extra = [
    chunk('gAMA', Buffer.from([0, 0, 0xb1, 0x8f])),
    chunk('tEXt', Buffer.from(`parameters\0a cat, ${SECRET}`)),
    chunk('zTXt', Buffer.concat([Buffer.from('workflow\0\0'), deflateSync(SECRET)])),
    chunk('iTXt', Buffer.from(`prompt\0\0\0\0\0${SECRET}`)),
    chunk('eXIf', Buffer.from(`II*\0${SECRET}`)),
    chunk('caBX', Buffer.from(SECRET)),
  ];
  const behind = Buffer.from(SECRET);
  const image = Buffer.concat([painted.subarray(0, at), ...extra, painted.subarray(at), behind]);
  const clean = await cleaned(image);
  expect(clean.includes('secret-model')).toBe(false);
  for (const type of ['tEXt', 'zTXt', 'iTXt', 'eXIf', 'caBX']) {
    expect(clean.includes(type), type).toBe(false);
  }
  expect(clean.includes('gAMA')).toBe(true);
  expect((await pixels(clean)).equals(await pixels(painted))).toBe(true);
});

test('a JPEG loses EXIF and comments, and keeps its pixels and colour profile', async () => {
  const painted = await runFfmpeg([...SOURCE, '-c:v', 'mjpeg', '-f', 'image2pipe']);
  const image = Buffer.concat([
    painted.subarray(0, 2),
    segment(0xe1, `Exif\0\0${SECRET}`),
    segment(0xe2, 'ICC_PROFILE\0'),
    segment(0xed, SECRET),
    segment(0xfe, SECRET),
    painted.subarray(2),
  ]);
  const clean = await cleaned(image);
  expect(clean.includes('secret-model')).toBe(false);
  expect(clean.includes('ICC_PROFILE')).toBe(true);
  expect((await pixels(clean)).equals(await pixels(painted))).toBe(true);
  expect(readImageSize(clean)).toEqual({ width: 120, height: 80 });
});

test('a JPEG keeps of its application segments only what its pixels are read with', async () => {
  const kept = [
    segment(0xe0, 'JFIF\0\x01\x01'),
    segment(0xe2, 'ICC_PROFILE\0\x01'),
    segment(0xee, 'Adobe\0'),
  ];
  const dropped = [
    segment(0xe0, `JFXX\0${SECRET}`),
    segment(0xe2, `MPF\0${SECRET}`),
    segment(0xee, `Other${SECRET}`),
    Buffer.concat([Buffer.from([0xff, 0xff]), segment(0xe1, SECRET)]),
  ];
  const [start, end] = [Buffer.from([0xff, 0xd8]), Buffer.from([0xff, 0xd9])];
  const clean = await cleaned(Buffer.concat([start, ...dropped, ...kept, ...dropped, end]));
  expect(clean.equals(Buffer.concat([start, ...kept, end]))).toBe(true);
});

test('a JPEG loses what stands between its scans and behind its end', async () => {
  const start = Buffer.from([0xff, 0xd8]);
  const scan = Buffer.concat([
    segment(0xda, 'scan'),
    // Stuffed bytes and restart marks, one of them with a fill byte, are pixels.
    Buffer.from([1, 0xff, 0x00, 2, 0xff, 0xd0, 3, 0xff, 0xff, 0xd7, 4]),
  ]);
  const table = segment(0xc4, 'table');
  const hidden = [segment(0xe1, SECRET), segment(0xfe, SECRET)];
  const end = Buffer.from([0xff, 0xd9]);
  const behind = Buffer.concat([start, segment(0xdb, SECRET), end]);
  const image = Buffer.concat([start, scan, ...hidden, table, scan, ...hidden, end, behind]);
  const clean = await cleaned(image);
  expect(clean.equals(Buffer.concat([start, scan, table, scan, end]))).toBe(true);
});

test('a JPEG with something behind its end keeps every pixel', async () => {
  const painted = await runFfmpeg([...SOURCE, '-c:v', 'mjpeg', '-f', 'image2pipe']);
  const clean = await cleaned(Buffer.concat([painted, Buffer.from(SECRET)]));
  expect(clean.includes('secret-model')).toBe(false);
  expect((await pixels(clean)).equals(await pixels(painted))).toBe(true);
});

test('a WebP loses chunks that nobody knows', async () => {
  const types = ['VP8X', 'ICCP', 'ANIM', 'ANMF', 'ALPH', 'VP8 ', 'VP8L'];
  const picture = types.map((type) => webpChunk(type, Buffer.alloc(10)));
  const secret = webpChunk('prmt', Buffer.from(SECRET));
  const clean = await cleaned(webp([...picture, secret]));
  expect(clean.equals(webp(picture))).toBe(true);
});

test('a WebP loses EXIF and XMP, in its contents and in its list of contents', async () => {
  const image = webp([
    webpChunk('VP8X', Buffer.from([0b1110, 0, 0, 0, 119, 0, 0, 79, 0, 0])),
    webpChunk('ICCP', Buffer.from('profile')),
    webpChunk('VP8L', Buffer.from([0x2f, 119, 0, 0, 0])),
    webpChunk('EXIF', Buffer.from(SECRET)),
    webpChunk('XMP ', Buffer.from(SECRET)),
  ]);
  const clean = await cleaned(image);
  expect(clean.includes('secret-model')).toBe(false);
  expect(clean.includes('profile')).toBe(true);
  expect(clean.readUInt32LE(4)).toBe(clean.length - 8);
  expect(clean[20]).toBe(0b0010);
  expect(readImageSize(clean)).toEqual({ width: 120, height: 80 });
});

test('what breaks off ends there, without its secrets', async () => {
  const image = picture();
  for (let length = 0; length < image.length; length++) {
    const clean = await cleaned(image.subarray(0, length));
    // Below eight bytes the type cannot be determined, and there is no content yet.
    expect(clean.includes('secret')).toBe(false);
  }
});

test.each([
  ['png', ['-c:v', 'png']],
  ['jpeg', ['-c:v', 'mjpeg']],
] as const)('the size of a %s is read', async (_name, codec) => {
  const image = await runFfmpeg([...SOURCE, ...codec, '-f', 'image2pipe']);
  expect(readImageSize(image)).toEqual({ width: 120, height: 80 });
  expect(readImageSize(image.subarray(0, 12))).toBeNull();
});

test('the size of each form of WebP is read', async () => {
  const lossy = Buffer.from([0, 0, 0, 0x9d, 1, 0x2a, 120, 0x40, 80, 0]);
  expect(readImageSize(webp([webpChunk('VP8 ', lossy)]))).toEqual({ width: 120, height: 80 });
  const bits = 119 | (79 << 14);
  const lossless = Buffer.alloc(12, 0x2f);
  lossless.writeUInt32LE(bits, 1);
  expect(readImageSize(webp([webpChunk('VP8L', lossless)]))).toEqual({ width: 120, height: 80 });
});

test('no size is read from what is no image', async () => {
  expect(readImageSize(Buffer.from('GIF89a, as long as a header has to be'))).toBeNull();
  expect(readImageSize(Buffer.alloc(0))).toBeNull();
});

test('the pictures of these tests are pictures', async () => {
  expect(await pixels(picture())).toHaveLength(16 * 16 * 3);
  expect(await pixels(await cleaned(picture()))).toEqual(await pixels(picture()));
  expect(png([])).toHaveLength(8);
});

/** In pieces that end anywhere. */
async function* pieces(image: Buffer, size = 7): AsyncGenerator<Buffer> {
  for (let at = 0; at < image.length; at += size) yield image.subarray(at, at + size);
}

async function cleaned(image: Buffer): Promise<Buffer> {
  const format = detectFormat(image);
  return format === null ? NOTHING : buffer(streamWithoutMetadata(pieces(image), format));
}

const NOTHING = Buffer.alloc(0);

function segment(marker: number, text: string): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(text.length + 2, 2);
  return Buffer.concat([head, Buffer.from(text, 'latin1')]);
}

function webp(chunks: readonly Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks]);
  const head = Buffer.from('RIFF\0\0\0\0');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

function webpChunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}
