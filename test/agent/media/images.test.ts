import { readChunks } from '@inference-gateway/agent/media/images';
import { repaintMask } from '@inference-gateway/agent/media/repaint-mask';
import { streamWithoutMetadata } from '@inference-gateway/agent/media/stream-without-metadata';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { chunk, png } from '../../support/pictures.js';

const MOST = 4_096;
const HEADER = chunk('IHDR', Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 6, 0, 0, 0]));
const PIXELS = chunk('IDAT', deflateSync(Buffer.alloc(2 * 9)));
const END = chunk('IEND', Buffer.alloc(0));
const SMALL = chunk('IDAT', Buffer.alloc(8_192));
const EMPTY = chunk('IDAT', Buffer.alloc(0));

function stuffed(count: number): Buffer {
  return png([HEADER, Buffer.alloc(count * EMPTY.length, EMPTY), PIXELS, END]);
}

function cleaned(image: Buffer): Promise<Buffer> {
  return buffer(streamWithoutMetadata(Readable.from([image]), 'png'));
}

test('a PNG of many chunks is passed on in large pieces', async () => {
  const image = png([HEADER, ...Array.from({ length: 100 }, () => SMALL), END]);
  const sizes: number[] = [];
  for await (const piece of streamWithoutMetadata(Readable.from([image]), 'png')) {
    sizes.push(piece.length);
  }
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(image.length);
  expect(sizes.length).toBeLessThanOrEqual(Math.ceil(image.length / (56 * 1024)));
});

test('a PNG of too many chunks breaks off, and costs no object for each of them', async () => {
  const bomb = stuffed(1_000_000);
  const before = process.memoryUsage().heapUsed;
  expect(readChunks(bomb)).toHaveLength(MOST);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 1024 * 1024);
  expect(await repaintMask(bomb)).toEqual({ kind: 'unusable', fault: 'is a damaged PNG' });
  expect((await cleaned(bomb)).length).toBeLessThan(MOST * EMPTY.length + HEADER.length);
});

test('as many chunks as are allowed are read', async () => {
  const image = stuffed(MOST - 3);
  expect(readChunks(image)).toHaveLength(MOST);
  expect(await repaintMask(image)).toMatchObject({ kind: 'mask' });
  expect((await cleaned(image)).equals(image)).toBe(true);
  expect(await repaintMask(stuffed(MOST - 1))).toMatchObject({ kind: 'unusable' });
});
