import { readChunks } from '@inference-gateway/agent/media/images';
import { repaintMask } from '@inference-gateway/agent/media/repaint-mask';
import { withoutMetadata } from '@inference-gateway/agent/media/without-metadata';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { chunk, png } from '../../support/pictures.js';

const MOST = 4_096;
const HEADER = chunk('IHDR', Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 6, 0, 0, 0]));
const PIXELS = chunk('IDAT', deflateSync(Buffer.alloc(2 * 9)));
const END = chunk('IEND', Buffer.alloc(0));
const EMPTY = chunk('IDAT', Buffer.alloc(0));

function stuffed(count: number): Buffer {
  return png([HEADER, Buffer.alloc(count * EMPTY.length, EMPTY), PIXELS, END]);
}

test('a PNG of too many chunks breaks off, and costs no object for each of them', async () => {
  const bomb = stuffed(1_000_000);
  const before = process.memoryUsage().heapUsed;
  expect(readChunks(bomb)).toHaveLength(MOST);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 1024 * 1024);
  expect(await repaintMask(bomb)).toEqual({ kind: 'unusable', fault: 'is a damaged PNG' });
  expect(withoutMetadata(bomb).length).toBeLessThan(MOST * EMPTY.length + HEADER.length);
});

test('as many chunks as are allowed are read', async () => {
  const image = stuffed(MOST - 3);
  expect(readChunks(image)).toHaveLength(MOST);
  expect(await repaintMask(image)).toMatchObject({ kind: 'mask' });
  expect(withoutMetadata(image).equals(image)).toBe(true);
  expect(await repaintMask(stuffed(MOST - 1))).toMatchObject({ kind: 'unusable' });
});
