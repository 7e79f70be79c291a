/** Tables that leave the page for a spreadsheet. */
import { expect, test } from 'vitest';
import { toCsv } from '../../packages/coordinator/web/src/screens/usage/to-csv.js';

test('rows end as RFC 4180 has it, and null is an empty cell', () => {
  expect(
    toCsv([
      ['name', 'requests'],
      ['tiny', 3],
      [null, -1.5],
    ]),
  ).toBe('name,requests\r\ntiny,3\r\n,-1.5\r\n');
});

test.each([
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
])('%j is quoted', (text, cell) => {
  expect(toCsv([[text]])).toBe(`${cell}\r\n`);
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx'])('%j is kept from being a formula', (text) => {
  expect(toCsv([[text]])).toBe(`'${text}\r\n`);
});

test('a formula that needs quotes gets both', () => {
  expect(toCsv([['=HYPERLINK("http://x","y")']])).toBe(`"'=HYPERLINK(""http://x"",""y"")"\r\n`);
  expect(toCsv([['\r=1']])).toBe(`"'\r=1"\r\n`);
});
