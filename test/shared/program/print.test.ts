import {
  bytesText,
  harmlessJson,
  harmlessText,
  shorten,
  tableOf,
  widthOf,
  wrap,
} from '@inference-gateway/shared/program/print';
import { describe, expect, test } from 'vitest';

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

test('a name cannot turn the order of what follows it', () => {
  const [, line] = tableOf([{ name: 'Ben\u202e', count: 1, share: 1 }], COLUMNS);
  expect(line).toBe('Ben       1      1');
});

test.each([
  ['anna', 4],
  ['日本語', 6],
  ['한국', 4],
  ['ｱﾅ', 2],
  ['Ａb', 3],
  ['e\u0301', 1],
  ['👩‍👩‍👧', 2],
  ['\u001b[31mred\u001b[39m', 3],
])('%j takes %i columns', (text, width) => {
  expect(widthOf(text)).toBe(width);
});

test('wide names are aligned by what they take of a line', () => {
  const rows = [
    { name: '日本', count: 1, share: null },
    { name: 'anna', count: 2, share: null },
  ];
  expect(tableOf(rows, COLUMNS).slice(1)).toEqual(['日本      1      -', 'anna      2      -']);
});

describe('a table that is wider than the terminal', () => {
  const columns = {
    id: ({ id }: { id: string }) => id,
    models: ({ models }: { models: string }) => models,
    note: ({ note }: { note: string }) => note,
  };
  const row = {
    id: '01K6ZJ3V0Q8W4M2T7R5X9B1C3D',
    models: 'm'.repeat(90),
    note: '日本語 '.repeat(9),
  };

  test.each([60, 80, 120])('fits %i columns, and its id stays whole', (width) => {
    const lines = tableOf([row], columns, width);
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
    expect(lines[1]).toContain(`${row.id}  mmm`);
    expect(lines[1]).toContain('…');
  });

  test('leaves out columns without a value before it shortens', () => {
    const rows = [{ ...row, models: 'm'.repeat(40), note: '' }];
    const [head = '', line = ''] = tableOf(rows, columns, 70);
    expect(head.trim().split(/ +/)).toEqual(['ID', 'MODELS']);
    expect(line).toBe(`${row.id}  ${'m'.repeat(40)}`);
    expect(tableOf(rows, columns, 200)[0]).toContain('NOTE');
  });

  test('gives a row several lines where its texts would be cut to nothing, all of it whole', () => {
    const jobs = [
      { id: row.id, status: 'PROCESSING', model: 'slow-model', at: '2026-11-22T23:47:14.952Z' },
      { id: row.id, status: 'FAILED', model: 'tiny', at: '2026-11-22T23:47:14.952Z' },
    ];
    const told = {
      id: ({ id }: (typeof jobs)[number]) => id,
      status: ({ status }: (typeof jobs)[number]) => status,
      model: ({ model }: (typeof jobs)[number]) => model,
      'tokens in': () => 123_456_789_012,
      'tokens out': () => 7,
      since: ({ at }: (typeof jobs)[number]) => at,
    };
    expect(tableOf(jobs, told, 70)).toEqual([
      'ID                          STATUS      MODEL          TOKENS IN',
      '  TOKENS OUT  SINCE',
      `${row.id}  PROCESSING  slow-model  123456789012`,
      '           7  2026-11-22T23:47Z',
      `${row.id}  FAILED      tiny        123456789012`,
      '           7  2026-11-22T23:47Z',
    ]);
  });

  test('shows the end of an address, where its port is', () => {
    const address = 'http://127.0.0.1:34323/v1';
    const [, line = ''] = tableOf([{ ...row, models: address, note: 'x'.repeat(12) }], columns, 60);
    expect(line).toBe(`${row.id}  …27.0.0.1:34323/v1  ${'x'.repeat(12)}`);
  });

  test('tells times to the minute', () => {
    const [, line] = tableOf(['2026-10-08T18:21:02.970Z'], { at: (at: string) => at }, 80);
    expect(line).toBe('2026-10-08T18:21Z');
  });

  test('is left as it is where it fits, and in a pipe', () => {
    expect(tableOf([row], columns, 200)).toEqual(tableOf([row], columns));
    expect(tableOf([row], columns)[1]).toContain(row.models);
  });
});

test('shortened text ends in an ellipsis, and never within a character', () => {
  expect(shorten('den-pc', 6)).toBe('den-pc');
  expect(shorten('den-pc-attic', 6)).toBe('den-p…');
  expect(shorten('日本語', 4)).toBe('日…');
});

test('text is wrapped between words', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('a-word-that-is-long b', 7)).toEqual(['a-word-that-is-long', 'b']);
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1_536, '1.5 KiB'],
  [5 * 1024 ** 3, '5.0 GiB'],
])('%i bytes read %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test('nor can it in JSON, which means the same as before, or in a message', () => {
  const name = 'Ben\u001b[2J\u007f\u009b1A\u202e\u2066x';
  const json = harmlessJson({ name, lines: 'a\nb' }, 2);
  expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  expect(JSON.parse(json)).toEqual({ name, lines: 'a\nb' });
  expect(harmlessText(`no model ${name}\nsee`)).toBe('no model Ben [2J  1A  x\nsee');
});
