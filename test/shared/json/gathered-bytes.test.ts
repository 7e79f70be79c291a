import { GatheredPieces } from '@inference-gateway/shared/json/gathered-bytes';
import { array, assert, constantFrom, nat, oneof, property } from 'fast-check';
import { expect, test } from 'vitest';

const CHUNK_BYTES = 64 * 1024;

/** The end of a socket's 64 KiB, whose other bytes stay in memory with it. */
function pieceOf(size: number): Buffer {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = CHUNK_BYTES - size; at < CHUNK_BYTES; at++) chunk[at] = (at * size) % 251;
  return chunk.subarray(CHUNK_BYTES - size);
}

test('pieces of any size stay in order, are few, and keep little more than their bytes', () => {
  const size = oneof(constantFrom(1, 100, 32 * 1024 - 1, 32 * 1024, CHUNK_BYTES), nat(CHUNK_BYTES));
  assert(
    property(array(size, { maxLength: 40 }), (sizes) => {
      const sent = sizes.map(pieceOf);
      const gathered = new GatheredPieces();
      for (const piece of sent) gathered.append(piece);
      const whole = Buffer.concat(sent);
      expect(gathered.length).toBe(whole.length);
      expect(gathered.bytes.equals(whole)).toBe(true);
      expect(Buffer.concat(gathered.pieces).equals(whole)).toBe(true);
      const blocks = new Set(gathered.pieces.map(({ buffer }) => buffer));
      const heldBytes = [...blocks].reduce((sum, { byteLength }) => sum + byteLength, 0);
      expect(heldBytes).toBeLessThanOrEqual(2 * whole.length + 2 * CHUNK_BYTES);
      expect(gathered.pieces.length).toBeLessThanOrEqual(2 + whole.length / (16 * 1024));
      gathered.clear();
      expect(gathered.bytes.length).toBe(0);
    }),
    { numRuns: 200 },
  );
});
