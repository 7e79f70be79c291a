import { LocalFailure } from '@inference-gateway/agent/backends/backend';
import { sizedWav } from '@inference-gateway/agent/backends/sound-answer';
import { expect, test } from 'vitest';
import { unsizedWav } from '../../support/local-servers/spoken.js';
import { silentWav, tone } from '../../support/sound.js';

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function wholeOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

test.each([1, 37, 100_000])('all ones become true lengths, in pieces of %i bytes', async (size) => {
  const made = unsizedWav(0.25);
  const sized = await wholeOf(sizedWav(inPieces(made, size)));
  expect(sized.length).toBe(made.length);
  expect(sized.readUInt32LE(4)).toBe(made.length - 8);
  const dataAt = sized.indexOf('data');
  expect(sized.readUInt32LE(dataAt + 4)).toBe(made.length - dataAt - 8);
  // Nothing but the lengths is touched.
  expect(sized.subarray(dataAt + 8).equals(made.subarray(dataAt + 8))).toBe(true);
});

test('zeros become true lengths', async () => {
  const made = silentWav(1, { riffBytes: 0, dataBytes: 0 });
  expect((await wholeOf(sizedWav(inPieces(made, 1_000)))).equals(silentWav(1))).toBe(true);
});

test('what tells its length is passed on as it comes', async () => {
  let taken = 0;
  const wav = tone(1);
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of inPieces(wav, 100)) {
      taken += piece.length;
      yield piece;
    }
  }
  const pieces = sizedWav(counted());
  const first = await pieces.next();
  expect(first.done).toBe(false);
  expect(taken).toBe(100);
  const rest = await wholeOf(pieces);
  expect(rest.length).toBe(wav.length - 100);
});

test('an end that is too far away is not waited for', async () => {
  const piece = Buffer.alloc(8 * 1024 * 1024);
  let sent = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield unsizedWav(0.1);
    for (;;) {
      sent += piece.length;
      yield piece;
    }
  }
  await expect(wholeOf(sizedWav(endless()))).rejects.toBeInstanceOf(LocalFailure);
  expect(sent).toBeLessThanOrEqual(72 * 1024 * 1024);
});
