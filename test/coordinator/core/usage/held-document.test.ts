import { JsonGrammar } from '@inference-gateway/coordinator/core/usage/held-document';
import {
  array,
  assert,
  constantFrom,
  double,
  integer,
  jsonValue,
  nat,
  oneof,
  property,
  string,
  tuple,
} from 'fast-check';
import { expect, test } from 'vitest';

function isObject(text: string, size = 1_000): boolean {
  const grammar = new JsonGrammar();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) grammar.add(bytes.subarray(at, at + size));
  return grammar.fault === null;
}

/** Whether `JSON.parse` reads an object. */
function isParsedObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

test('what the parser takes for an object is one, however it is cut', () => {
  assert(
    property(jsonValue({ maxDepth: 5 }), nat(8), string(), (value, size, blank) => {
      const text = JSON.stringify({ value, [blank]: [value] }, null, size % 3);
      expect(isObject(text, size + 1)).toBe(true);
      expect(isObject(`${text} \n`, size + 1)).toBe(true);
      expect(isObject(text.slice(0, -1))).toBe(false);
    }),
    { numRuns: 300 },
  );
});

const PIECES = [
  ...'{ } [ ] , : " "a" "b": {"a": true false null tru 0 - 1 .5 e E+ -1.5e-3 01 2e7 0.25 -0'.split(
    ' ',
  ),
  ...' |\n|\\|\\u00|"\\u00e9"|"\\x"|"\t"|é|\ufeff|"é"|{}|[]|\u0000'.split('|'),
];

test('they agree on any text of pieces of JSON', () => {
  const piece = constantFrom(...PIECES);
  let objects = 0;
  assert(
    property(array(piece, { maxLength: 7 }), (pieces) => {
      const own = pieces.join('');
      const listed = `{"x":[${pieces.join(',')}]}`;
      for (const text of [own, `{"x":${own}}`, `{"x":[${own}]}`, listed, `{${own}}`]) {
        if (isParsedObject(text)) objects += 1;
        expect(`${isObject(text, 2)} ${text}`).toBe(`${isParsedObject(text)} ${text}`);
      }
    }),
    { numRuns: 5_000 },
  );
  expect(objects).toBeGreaterThan(100);
});

const deep = (depth: number): string => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;

test('what is nested without end is none', () => {
  expect(isObject(deep(100))).toBe(true);
  expect(isObject(deep(100_000))).toBe(false);
});

test('they agree on vectors, whole or with one character changed, however they are cut', () => {
  const blank = constantFrom('', '', ' ', '\n  ');
  const number = oneof(double({ noNaN: true, noDefaultInfinity: true }), integer()).map(String);
  const written = oneof(number, number, constantFrom('-0', '0.5E+3', '1e-7', '0', '-12.25e10'));
  const item = tuple(blank, written, blank).map((parts) => parts.join(''));
  const vector = array(item, { minLength: 1, maxLength: 40 });
  const changed = tuple(nat(), constantFrom(...'0-+.eE, ]"x:?/\n'.split(''), ''));
  let faults = 0;
  assert(
    property(vector, changed, integer({ min: 1, max: 400 }), (items, [place, other], size) => {
      const list = `[${items.join(',')}]`;
      const at = place % list.length;
      for (const text of [list, list.slice(0, at) + other + list.slice(at + 1)]) {
        const document = `{"data":[{"index":0,"embedding":${text}}]}`;
        const isParsed = isParsedObject(document);
        if (!isParsed) faults += 1;
        expect(`${isObject(document, size)} ${document}`).toBe(`${isParsed} ${document}`);
      }
    }),
    { numRuns: 3_000 },
  );
  expect(faults).toBeGreaterThan(300);
});
