/** Tables that leave the page for a spreadsheet. */
import { expect, test } from 'vitest';
import { recordsToCsv, toCsv } from '../../packages/coordinator/web/src/ui/text/csv.js';

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

test('a column for each field of any row; what is no text or number is JSON', () => {
  const rows = [
    { id: 'a', ok: true, tags: ['x', '=1'] },
    { id: '=b', more: { n: 1 } },
  ];
  expect(recordsToCsv(rows)).toBe(
    `id,ok,tags,more\r\na,true,"[""x"",""=1""]",\r\n'=b,,,"{""n"":1}"\r\n`,
  );
});
