import { tableOf } from '@inference-gateway/shared/program/print';
import { expect, test } from 'vitest';

interface Row {
  readonly name: string | null;
  readonly count: number;
  readonly share: number | null;
}

const COLUMNS = {
  name: ({ name }: Row) => name,
  count: ({ count }: Row) => count,
  share: ({ share }: Row) => share,
};

test('a table is aligned: text at its start, numbers at their end', () => {
  const rows = [
    { name: 'anna', count: 7, share: 0.5 },
    { name: null, count: 12_345, share: null },
  ];
  expect(tableOf(rows, COLUMNS)).toEqual([
    'NAME  COUNT  SHARE',
    'anna      7    0.5',
    '-     12345      -',
  ]);
});

test('a line break or tab in a value cannot break a row', () => {
  const [, line, ...more] = tableOf([{ name: 'a\n\tb', count: 1, share: 1 }], COLUMNS);
  expect(line).toBe('a b       1      1');
  expect(more).toEqual([]);
});

test('a name that somebody else chose cannot steer the terminal', () => {
  const [, line] = tableOf([{ name: 'Ben\u001b[2J\u009b1A', count: 1, share: 1 }], COLUMNS);
  expect(line).not.toMatch(/\p{Cc}/u);
  expect(line).toContain('Ben [2J 1A');
});
