/** Tables that leave the page for a spreadsheet. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { MAX_SAVED_ROWS, readAll } from '../../packages/coordinator/web/src/ui/table/all-rows.js';
import { CsvFile, JsonFile, toCsv } from '../../packages/coordinator/web/src/ui/text/csv.js';

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
  const file = new CsvFile();
  file.add([{ id: 'a', ok: true, tags: ['x', '=1'] }]);
  file.add([{ id: '=b', more: { n: 1 } }]);
  expect(file.text().join('')).toBe(
    `id,ok,tags,more\r\na,true,"[""x"",""=1""]",\r\n'=b,,,"{""n"":1}"\r\n`,
  );
});

test('JSON that comes in parts is one list', () => {
  const file = new JsonFile();
  expect(file.text().join('')).toBe('[]\n');
  const rows = [{ id: 'a\nb', tags: ['x'] }, { id: 'c' }];
  for (const row of rows) file.add([row]);
  expect(file.text().join('')).toBe(`${JSON.stringify(rows, null, 2)}\n`);
});

/** A list of so many rows, of which the first one is loaded. */
function listOf(count: number) {
  const rows = Array.from({ length: count }, (_, index) => ({ id: String(index) }));
  const asked: string[] = [];
  const next = (after: string, length = 1) => {
    asked.push(after);
    const from = Number(after) + 1;
    const data = rows.slice(from, from + length);
    return Promise.resolve({ data, has_more: from + length < count });
  };
  const pages = { hasMore: count > 1, after: '0', next };
  return { asked, all: { rows: rows.slice(0, 1), rowKey: ({ id }: { id: string }) => id, pages } };
}

async function read(count: number) {
  const file = new CsvFile();
  const counts: number[] = [];
  const { signal } = new AbortController();
  const { all } = listOf(count);
  const isWhole = await readAll(all, file, { signal, onRows: (rows) => counts.push(rows) });
  return { isWhole, rows: file.text().length - 1, told: counts.at(-1) };
}

test('a file has all rows of a list, and no more than the limit', async () => {
  expect(await read(1)).toEqual({ isWhole: true, rows: 1, told: 1 });
  expect(await read(1_200)).toEqual({ isWhole: true, rows: 1_200, told: 1_200 });
  const most = { rows: MAX_SAVED_ROWS, told: MAX_SAVED_ROWS };
  expect(await read(MAX_SAVED_ROWS)).toEqual({ isWhole: true, ...most });
  expect(await read(MAX_SAVED_ROWS + 1)).toEqual({ isWhole: false, ...most });
});

test('a search that stops before the end of its list goes on from there', async () => {
  const asked: string[] = [];
  const next = (after: string) => {
    asked.push(after);
    return Promise.resolve(
      after === 'x'
        ? { data: [], has_more: true, next_after: 'y' }
        : { data: [{ id: 'z' }], has_more: false },
    );
  };
  const pages = { hasMore: true, after: 'x', next };
  const file = new JsonFile();
  const { signal } = new AbortController();
  const all = { rows: [{ id: 'a' }], rowKey: ({ id }: { id: string }) => id, pages };
  expect(await readAll(all, file, { signal, onRows: () => undefined })).toBe(true);
  expect(asked).toEqual(['x', 'y']);
  expect(JSON.parse(file.text().join(''))).toEqual([{ id: 'a' }, { id: 'z' }]);
});

test('a file that is canceled reads no further page', async () => {
  const { all, asked } = listOf(5_000);
  const canceling = new AbortController();
  const onRows = (count: number) => count > 1_000 && canceling.abort();
  const { signal } = canceling;
  await expect(readAll(all, new JsonFile(), { signal, onRows })).rejects.toThrow('aborted');
  expect(asked).toEqual(['0', '500']);
});

/** Texts of the documentation, ticks to change, and a part of what the Queue screen has. */
const NO_DATA = ['docs/docs', 'docs/field-table', 'home/home', 'sharing/share-matrix'];

test('every table with data can be saved', async () => {
  const screens = fileURLToPath(
    new URL('../../packages/coordinator/web/src/screens', import.meta.url),
  );
  const files = (await readdir(screens, { recursive: true })).filter((one) => one.endsWith('.tsx'));
  const texts = await Promise.all(files.map((file) => readFile(join(screens, file), 'utf8')));
  const unsaved = files.filter((_, index) => {
    const text = texts[index] ?? '';
    const tables = text.match(/<Table\s[^]*?\/>/g) ?? [];
    return tables.some((table) => !table.includes('saveAs=')) && !text.includes('<SaveRows');
  });
  expect(unsaved.map((file) => file.replace('.tsx', '')).toSorted()).toEqual(NO_DATA);
});
