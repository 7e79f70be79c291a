import { BODY_LIMITS, JsonScan, jsonFault } from '@inference-gateway/shared/json/scan';
import {
  MAX_DEPTH,
  MAX_NUMBERS,
  MAX_OBJECT_KEYS,
  MAX_VALUES,
} from '@inference-gateway/shared/json/scan';
import { assert, integer, jsonValue, property } from 'fast-check';
import { expect, test } from 'vitest';

const many = (count: number, item: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => item(i)).join(',');
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const keys = (count: number): string => `{${many(count, (i) => `"k${i}":""`)}}`;

// The outermost list is itself one of the values.
test.each([
  ['texts', `[${many(MAX_VALUES - 1, () => '""')}]`],
  ['objects', `[${many(MAX_VALUES - 1, () => '{}')}]`],
  ['words', `[ ${many(MAX_VALUES - 1, (i) => ['true', 'false', ' null'][i % 3] ?? '')}]`],
  ['members', `[${many((MAX_VALUES - 1) / 2, () => '{"a":"b"}')}`],
  ['numbers', `[${many(MAX_NUMBERS, (i) => ['-1.5e+3', '0', '12E-2'][i % 3] ?? '')}]`],
  ['names of one object', keys(MAX_OBJECT_KEYS)],
  ['names of many objects', `[${many(29, () => keys(MAX_OBJECT_KEYS))}]`],
  ['levels', nested(MAX_DEPTH)],
  ['brackets in a text', `"${'[{:,'.repeat(MAX_VALUES)}"`],
  ['escaped quotes', `"${'\\"\\\\'.repeat(MAX_VALUES)}"`],
])('as many %s as are allowed pass', (_what, text) => {
  expect(jsonFault(Buffer.from(text))).toBeNull();
});

test.each([
  ['texts', `[${many(MAX_VALUES, () => '""')}]`, MAX_VALUES],
  ['objects', `[${many(MAX_VALUES, () => '{}')}]`, MAX_VALUES],
  ['words', `[${many(MAX_VALUES, () => 'null')}]`, MAX_VALUES],
  ['named numbers', `[${many(31, () => keys(9_700).replaceAll('""', '1'))}]`, MAX_VALUES],
  ['numbers', `[${many(MAX_NUMBERS + 1, () => '7')}]`, MAX_NUMBERS],
  ['names of one object', keys(MAX_OBJECT_KEYS + 1), MAX_OBJECT_KEYS],
  ['names of an inner object', `{"a":[${keys(MAX_OBJECT_KEYS + 1)}]}`, MAX_OBJECT_KEYS],
  ['levels', nested(MAX_DEPTH + 1), MAX_DEPTH],
  ['levels of objects', '{"a":'.repeat(MAX_DEPTH + 1), MAX_DEPTH],
])('more %s are refused by the number of their limit', (_what, text, limit) => {
  expect(jsonFault(Buffer.from(text))).toContain(`${limit}`);
});

test('a limit is told of while most of the bytes are still to come', () => {
  const scan = new JsonScan();
  const piece = Buffer.from('{},'.repeat(20_000));
  expect(scan.add(Buffer.from('['))).toBeNull();
  let pieces = 0;
  while (scan.add(piece) === null) pieces += 1;
  expect(pieces).toBe(MAX_VALUES / 20_000);
});

test('every value is counted as often as the parser has it, however the bytes are cut', () => {
  assert(
    property(jsonValue({ maxDepth: 4 }), integer({ min: 1, max: 7 }), (value, size) => {
      const bytes = Buffer.from(JSON.stringify(value, null, size > 4 ? 1 : 0));
      const scan = new JsonScan();
      for (let at = 0; at < bytes.length; at += size) scan.add(bytes.subarray(at, at + size));
      const { values, numbers } = countOf(value);
      expect(scan.end()).toBeNull();
      expect(scan.count).toBe(values + numbers);
      const exactly = { ...BODY_LIMITS, maxValues: values, maxNumbers: numbers };
      expect(jsonFault(bytes, exactly)).toBeNull();
      if (values > 0) {
        expect(jsonFault(bytes, { ...exactly, maxValues: values - 1 })).not.toBeNull();
      }
      if (numbers > 0) {
        expect(jsonFault(bytes, { ...exactly, maxNumbers: numbers - 1 })).not.toBeNull();
      }
    }),
    { numRuns: 500 },
  );
});

/** A number that is a member of an object also counts as a value. */
function countOf(value: unknown): { values: number; numbers: number } {
  if (typeof value === 'number') return { values: 0, numbers: 1 };
  const count = { values: 1, numbers: 0 };
  if (typeof value !== 'object' || value === null) return count;
  for (const child of Object.values(value)) {
    const inside = countOf(child);
    count.values += inside.values;
    count.numbers += inside.numbers;
    if (typeof child === 'number' && !Array.isArray(value)) count.values += 1;
  }
  return count;
}

test('the bytes of a text of many lines are searched a few times at most', () => {
  const lines = `${'x'.repeat(60)}\\n`.repeat(10_000);
  const bytes = Buffer.from(JSON.stringify({ a: lines, b: `${'y'.repeat(60)}"`.repeat(1_000) }));
  // oxlint-disable-next-line typescript/unbound-method
  const { indexOf } = Buffer.prototype;
  let searched = 0;
  Buffer.prototype.indexOf = function (this: Buffer, value: number, from = 0) {
    const at: number = indexOf.call(this, value, from);
    searched += (at === -1 ? this.length : at) - from;
    return at;
  };
  try {
    expect(jsonFault(bytes)).toBeNull();
  } finally {
    Buffer.prototype.indexOf = indexOf;
  }
  expect(searched).toBeGreaterThan(0);
  expect(searched).toBeLessThan(3 * bytes.length);
});
