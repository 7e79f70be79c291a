import {
  RawJson,
  readSparse,
  sparseBody,
  toSparse,
  writeSparse,
} from '@inference-gateway/shared/json/sparse';
import {
  array,
  assert,
  constantFrom,
  dictionary,
  jsonValue,
  oneof,
  property,
  string,
} from 'fast-check';
import { expect, test } from 'vitest';

const long = 'x'.repeat(5_000);
const kept = new Set(['options', 'n']);
const parsed = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString());

test('a body is written as it was, whatever of it is bytes, and however often it is read', () => {
  const value = oneof(
    jsonValue({ maxDepth: 2 }),
    constantFrom(long, [long, 'y', long], { a: long }, [[1, 2], long], '\n', 1e308),
  );
  const name = oneof(string(), constantFrom('prompt', 'options', '1', '0', '__proto__'));
  assert(
    property(dictionary(name, value, { noNullPrototype: true }), array(value), (body, prompt) => {
      const whole = { ...body, prompt };
      const written = writeSparse(toSparse(whole, kept));
      expect(parsed(written)).toEqual(JSON.parse(JSON.stringify(whole)));
      expect(writeSparse(readSparse(written)).equals(written)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('a field is changed without the large ones being parsed', () => {
  const messages = [{ role: 'user', content: long }];
  const written = writeSparse(toSparse({ model: 'm', messages, max_tokens: 9 }, kept));
  const read = readSparse(written);
  expect(read['messages']).toBeInstanceOf(RawJson);
  expect(read).toMatchObject({ model: 'm', max_tokens: 9 });
  expect(parsed(writeSparse({ ...read, max_tokens: 5 }))).toEqual({
    model: 'm',
    messages,
    max_tokens: 5,
  });
});

test('what is not changed is not written again', () => {
  const written = writeSparse(toSparse({ model: 'm', prompt: long, stream: true }, kept));
  const body = sparseBody(written);
  expect(writeSparse(body).buffer).toBe(written.buffer);
  const { stream: _stream, ...rest } = body;
  expect(parsed(writeSparse(rest))).toEqual({ model: 'm', prompt: long });
});

test('prompts stay countable, and what is kept stays a value', () => {
  const options = { num_predict: 9, stop: long };
  const read = readSparse(writeSparse(toSparse({ prompt: [long, 'b', long], options }, kept)));
  expect(read['prompt']).toHaveLength(3);
  expect(read['options']).toEqual(options);
});

test('many small fields are not all values', () => {
  const many = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`f${i}`, 'x'.repeat(2_000)]),
  );
  const values = Object.values(toSparse(many, kept));
  expect(values.filter((value) => value instanceof RawJson).length).toBeGreaterThan(60);
  expect(parsed(writeSparse(toSparse(many, kept)))).toEqual(many);
});
