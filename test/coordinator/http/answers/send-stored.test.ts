import { sendStored } from '@inference-gateway/coordinator/http/answers/paced-response';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { until } from '../../../support/until.js';
import { openResponse } from './raw-response.js';

const PIECE = Buffer.alloc(64 * 1024, 'x');

async function* pieces(count: number, seen = { pulled: 0 }): AsyncGenerator<Uint8Array> {
  for (; seen.pulled < count; seen.pulled++) yield PIECE;
}

test('an answer is sent whole, with its length', async () => {
  const { response, answer } = await openResponse();
  const bytes = PIECE.length * 3;
  const sent = sendStored(response, { bytes, pieces: pieces(3), stallMs: 10_000 });
  const message = await answer;
  expect(message.headers['content-length']).toBe(String(bytes));
  expect(await buffer(message)).toHaveLength(bytes);
  await sent;
});

test('no more of it is read than the caller takes', async () => {
  const { response, answer } = await openResponse();
  const seen = { pulled: 0 };
  const sent = sendStored(response, {
    bytes: PIECE.length * 10_000,
    pieces: pieces(10_000, seen),
    stallMs: 10_000,
  });
  const message = await answer;
  const later = performance.now() + 200;
  await until(() => performance.now() > later);
  expect(seen.pulled).toBeLessThan(300);
  message.destroy();
  await sent;
});

test.each([
  ['reads nothing any more', 10_000, 50],
  ['has left', 10_000, 60_000],
])('it ends where the caller %s', async (why, count, stallMs) => {
  const { response, answer } = await openResponse();
  const bytes = PIECE.length * count;
  const sent = sendStored(response, { bytes, pieces: pieces(count), stallMs });
  const message = await answer;
  if (why === 'has left') message.destroy();
  await sent;
  expect(response.destroyed).toBe(true);
});

test('what cannot be read is cut off: half of it is not taken for the whole', async () => {
  const { response, answer } = await openResponse();
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield PIECE;
    throw new Error('EIO');
  }
  const sent = sendStored(response, { bytes: PIECE.length * 2, pieces: broken(), stallMs: 10_000 });
  await expect(buffer(await answer)).rejects.toThrow('aborted');
  await sent;
});
