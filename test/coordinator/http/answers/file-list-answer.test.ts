import {
  base64Length,
  toBase64,
} from '@inference-gateway/coordinator/http/answers/file-list-answer';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';

const BYTES = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 251));

async function encode(bytes: Buffer, pieceBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    pieces.push(bytes.subarray(at, at + pieceBytes));
  }
  const encoded: Buffer[] = [];
  for await (const piece of toBase64(Readable.from(pieces))) encoded.push(piece);
  return Buffer.concat(encoded).toString();
}

test.each([1, 2, 3, 4, 64, 999, 1_000])(
  'in pieces of %i bytes it is what it is as a whole',
  async (pieceBytes) => {
    for (const length of [0, 1, 2, 3, 997, 998, 999, 1_000]) {
      const bytes = BYTES.subarray(0, length);
      const encoded = await encode(bytes, pieceBytes);
      expect(encoded).toBe(bytes.toString('base64'));
      expect(base64Length(length)).toBe(encoded.length);
    }
  },
);
