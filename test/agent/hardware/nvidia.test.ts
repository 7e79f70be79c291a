import { expect, test } from 'vitest';
import { parseCard, ProcessRows } from '@inference-gateway/agent/hardware/nvidia';

test.each([
  ['0, 37, 8123, 214.56, 71', [37, 8123, 71, 214.56]],
  ['1, 0, 1, 8, 0', [0, 1, 0, 8]],
  ['0, 99, 21455, 714.83, 53', [99, 21_455, 53, 714.83]],
  ['0, [N/A], [N/A], [N/A], [N/A]', [null, null, null, null]],
  ['0, 5, [Not Supported], [Unknown Error], 41', [5, null, 41, null]],
])('the card of %j', (line, figures) => {
  const [usePercent, memoryUsedMib, temperatureC, powerWatts] = figures;
  expect(parseCard(line)?.load).toEqual({ usePercent, memoryUsedMib, temperatureC, powerWatts });
});

test.each([
  ['an error', 'NVIDIA-SMI has failed because it could not talk to the driver.'],
  ['a header', 'index, utilization.gpu [%], memory.used [MiB], power.draw [W], temperature.gpu'],
  ['fewer fields', '0, 37, 8123, 214.56'],
  ['nothing', ''],
])('%s is no card', (_, line) => {
  expect(parseCard(line)).toBeNull();
});

/** The forms of drivers 390, 470 and 570, and the same process in each. */
const HEADERS: readonly (readonly [string, string])[] = [
  [
    '# gpu        pid  type    fb    sm   mem   enc   dec   command',
    '    0       4810     G   743    31     2     -     -   game.x86_64',
  ],
  [
    '# gpu        pid  type    sm   mem   enc   dec    fb   command',
    '    0       4810     G    31     2     -     -   743   game.x86_64     ',
  ],
  [
    '# gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command ',
    '    0       4810      G     31      2      -      -      -      -    743      0   game.x86_64',
  ],
];

test.each(HEADERS)('the columns are those that the header names: %s', (header, line) => {
  const rows = new ProcessRows();
  expect(rows.parse(header)).toBeNull();
  expect(rows.parse('# Idx          #   C/G    MB     %     %     %     %   name')).toBeNull();
  const process = { pid: 4810, name: 'game.x86_64', usePercent: 31, memoryMib: 743 };
  expect(rows.parse(line)).toEqual({ key: '0 4810', process });
});

/** What driver 580 prints on an H100: a model server, idle and at work, and what draws. */
const H100 = [
  '    0       1256     C      -      -      -      -      -      -   5742      0    llama-server ',
  '    0       1375     C     82     43      -      -      -      -   5776      0    llama-server ',
  '    0       1386     G     99      0      -      -      -      -   3095      0    python3 ',
  '    0          -     -      -      -      -      -      -      -      -      -    - ',
];

test('an H100 tells of each process what it computes and holds', () => {
  const rows = new ProcessRows();
  rows.parse(
    '# gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command ',
  );
  rows.parse(
    '# Idx           #    C/G      %      %      %      %      %      %     MB     MB    name ',
  );
  const server = { pid: 1256, name: 'llama-server', usePercent: null, memoryMib: 5742 };
  expect(H100.map((line) => rows.parse(line)?.process)).toEqual([
    server,
    { ...server, pid: 1375, usePercent: 82, memoryMib: 5776 },
    { pid: 1386, name: 'python3', usePercent: 99, memoryMib: 3095 },
    null,
  ]);
});

test('what is not told is null, and a name may hold spaces', () => {
  const rows = new ProcessRows();
  rows.parse('# gpu        pid  type    fb    sm   mem   enc   dec   command');
  const process = { pid: 8617, name: 'chrome --type=g', usePercent: null, memoryMib: null };
  expect(
    rows.parse('    1       8617   C+G     -     -     -     -     -   chrome --type=g'),
  ).toEqual({
    key: '1 8617',
    process,
  });
  expect(
    rows.parse('    1       8617     G     -     -     -     -     -   -')?.process?.name,
  ).toBeNull();
});

test('a card without processes is told as such', () => {
  const rows = new ProcessRows();
  rows.parse('# gpu        pid  type    fb    sm   mem   enc   dec   command');
  expect(rows.parse('    0          -     -     -     -     -     -     -   -')).toEqual({
    key: '0 -',
    process: null,
  });
});

test('before its header, and among other text, a line says nothing', () => {
  const rows = new ProcessRows();
  expect(rows.parse('    0       4810     G   743    31     2     -     -   game')).toBeNull();
  rows.parse('# gpu        pid  type    fb    sm   mem   enc   dec   command');
  expect(rows.parse('Not supported on the device(s)')).toBeNull();
  expect(rows.parse('')).toBeNull();
});
