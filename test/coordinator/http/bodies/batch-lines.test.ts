import { linesOf } from '@inference-gateway/coordinator/http/bodies/batch-lines';
import type { Line } from '@inference-gateway/coordinator/http/bodies/batch-lines';
import { array, assert, asyncProperty, constantFrom, integer } from 'fast-check';
import { expect, test } from 'vitest';

const MAX_BYTES = 40;

async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (let i = 0; from < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

async function read(bytes: Buffer, sizes: readonly number[]): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of linesOf(inPieces(bytes, sizes), MAX_BYTES)) lines.push(line);
  return lines;
}

const text = array(constantFrom('{"a":1}', 'ü', '', ' ', '\r', '\t \r', 'x'.repeat(MAX_BYTES)), {
  maxLength: 12,
}).chain((lines) => constantFrom('\n', '').map((end) => lines.join('\n') + end));
const sizes = array(integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });

test('lines do not depend on the pieces in which they arrive', async () => {
  await assert(
    asyncProperty(text, sizes, async (given, pieces) => {
      const lines = await read(Buffer.from(given), pieces);
      const expected = given
        .split('\n')
        .map((line, i) => [i + 1, line] as const)
        .filter(([, line]) => !/^[ \t\r]*$/.test(line));
      expect(lines.map(({ number, bytes }) => [number, bytes.toString()])).toEqual(expected);
    }),
  );
});

test('reading goes on after the end of any line', async () => {
  await assert(
    asyncProperty(text, sizes, async (given, pieces) => {
      const bytes = Buffer.from(given);
      const lines = await read(bytes, pieces);
      for (const [i, { end }] of lines.entries()) {
        const rest = await read(bytes.subarray(end), pieces);
        expect(rest.map((line) => line.bytes)).toEqual(
          lines.slice(i + 1).map((line) => line.bytes),
        );
      }
    }),
  );
});

test.each([[[1_000]], [[7]], [[1]]])(
  'a line that is too long is named, in pieces of %j',
  async (of) => {
    const bytes = Buffer.from(`a\n\n${'x'.repeat(MAX_BYTES + 1)}\nb`);
    await expect(read(bytes, of)).rejects.toMatchObject({
      code: 'invalid_item',
      param: 'line 3',
      message: expect.stringContaining(`${MAX_BYTES} bytes`),
    });
  },
);
