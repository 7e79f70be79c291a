import { newUserCode, readUserCode } from '@inference-gateway/shared/ids';
import { expect, test } from 'vitest';

test('a code is eight consonants in two halves, and no two are alike', () => {
  const codes = Array.from({ length: 500 }, newUserCode);
  for (const code of codes) {
    expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  }
  expect(new Set(codes).size).toBe(500);
  // Every letter occurs: 4,000 draws miss one of the twenty with a probability of 10^-88.
  expect(new Set(codes.join('').replaceAll('-', '')).size).toBe(20);
});

test.each(['BCDF-GHJK', 'bcdfghjk', ' bcdf ghjk', 'BC-DF-GH-JK', 'Bcdf-gHjk\n'])(
  'it is read as it is typed: %j',
  (typed) => {
    expect(readUserCode(typed)).toBe('BCDF-GHJK');
  },
);

test.each(['', 'BCDF-GHJ', 'BCDF-GHJKL', 'ABCD-EFGH', 'BCDF_GHJK', 'BCDF-GHJ0', '--------'])(
  'what can be no code is none: %j',
  (typed) => {
    expect(readUserCode(typed)).toBeNull();
  },
);
