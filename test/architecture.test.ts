/**
 * Holds the code to its import table and its budgets, and shows of every rule that it can be
 * broken.
 */
import { describe, expect, test } from 'vitest';
import { functionFaults, textFaults } from './architecture/budgets.js';
import { importCycles } from './architecture/cycles.js';
import { NOTE_WORDS, nameFaults, noteFaults, ruleFaults } from './architecture/forbidden.js';
import { importFaults, tableFaults } from './architecture/import-faults.js';
import { readArchitecture, readTable } from './architecture/import-table.js';
import { missingPaths } from './architecture/named-paths.js';
import { allFiles, parse, productFiles } from './architecture/source-file.js';
import type { SourceFile } from './architecture/source-file.js';

const product = productFiles();
const all = allFiles();
const architecture = readArchitecture();
const table = readTable(architecture);
const CORE = 'packages/coordinator/src/core/routing/match.ts';
const HTTP = 'packages/coordinator/src/http/edge/app.ts';

describe('the repository', () => {
  test('is read: each package has files and so has the code around them', () => {
    for (const folder of ['shared', 'coordinator', 'agent']) {
      expect(product.filter(({ path }) => path.startsWith(`packages/${folder}/`))).not.toEqual([]);
    }
    expect(all.map(({ path }) => path)).toContain('test/architecture.test.ts');
  });

  test('has an import table in ARCHITECTURE.md that can be read', () => {
    expect(table.faults).toEqual([]);
  });

  test('imports only along the table', () => {
    expect(product.flatMap((file) => importFaults(file, table))).toEqual([]);
  });

  test('has nothing in the table that no file needs, and no rows that import each other', () => {
    expect(tableFaults(table, product)).toEqual([]);
  });

  test('has every path that ARCHITECTURE.md names in backticks', () => {
    const rows = table.rows.map(({ path }) => path);
    expect(missingPaths(architecture).filter((path) => !rows.includes(path))).toEqual([]);
  });

  test('has an ARCHITECTURE.md of at most 250 lines', () => {
    expect(architecture.trimEnd().split('\n').length).toBeLessThanOrEqual(250);
  });

  test('has no import cycle', () => {
    expect(importCycles(all)).toEqual([]);
  });

  test('keeps files to 500 lines and lines to 100 columns', () => {
    expect(all.flatMap(textFaults)).toEqual([]);
  });

  test('keeps functions to 100 lines, three parameters and a nesting of three', () => {
    expect(product.flatMap(functionFaults)).toEqual([]);
  });

  test('does without what its style leaves out', () => {
    expect(all.flatMap(ruleFaults)).toEqual([]);
  });

  test('leaves no notes to oneself', () => {
    expect(all.flatMap(noteFaults)).toEqual([]);
  });

  test('names its files in kebab-case after what they hold', () => {
    expect(all.flatMap(({ path }) => nameFaults(path))).toEqual([]);
  });
});

describe('the import table refuses', () => {
  test.each([
    [
      'a neighbour that the row leaves out',
      HTTP,
      `import { x } from '../../links/link-server.js';`,
    ],
    ['a re-export of one', HTTP, `export { x } from '../../links/link-server.js';`],
    ['a dynamic import of one', HTTP, `const x = await import('../../links/link-server.js');`],
    ['a type of one', HTTP, `import type { X } from '../../links/link-server.js';`],
    ['a value where the row allows types', HTTP, `import { x } from '../../store/port.js';`],
    ['a package outside its home', CORE, `import { WebSocket } from 'ws';`],
    ['a part of a package outside its home', CORE, `import Koa from 'koa/lib/application';`],
    ['node: in pure rules', CORE, `import { readFile } from 'node:fs';`],
    [
      'the program parts in pure rules',
      CORE,
      `import { x } from '@inference-gateway/shared/program/print';`,
    ],
    ['a value of config', HTTP, `import { load } from '../../config/config.js';`],
    [
      'the coordinator in the agent',
      'packages/agent/src/agent.ts',
      `import { x } from '@inference-gateway/coordinator/config/config';`,
    ],
    [
      'a program in shared',
      'packages/shared/src/ids.ts',
      `import { x } from './program/print.js';`,
    ],
    ['node: in shared', 'packages/shared/src/ids.ts', `import { x } from 'node:crypto';`],
    ['a folder without a row', 'packages/agent/src/misc/x.ts', ``],
    ['a folder of shared without a row', 'packages/shared/src/misc/x.ts', ``],
    [
      'an import of such a folder',
      'packages/agent/src/agent.ts',
      `import { x } from './misc/x.js';`,
    ],
  ])('%s', (_, path, text) => {
    expect(importFaults(parse(path, text), table)).toHaveLength(1);
  });

  test('nothing that the row allows', () => {
    const allowed = [
      `import Router from '@koa/router';`,
      `import { createServer } from 'node:http';`,
      `import type { Store } from '../../store/port.js';`,
      `import type { Config } from '../../config/config.js';`,
      `import { match } from '../../core/routing/match.js';`,
      `import { ApiError } from '@inference-gateway/shared/errors';`,
      `import { x } from './errors.js';`,
    ];
    expect(importFaults(parse(HTTP, allowed.join('\n')), table)).toEqual([]);
  });
});

describe('the table of ARCHITECTURE.md is refused for', () => {
  const run = parse(
    'packages/agent/src/work/run.ts',
    `import { x } from '../state/x.js';
    import type { Y } from '../hardware/y.js';
    import { readFile } from 'node:fs';`,
  );
  const state = parse('packages/agent/src/state/x.ts', `import * as z from 'zod';`);
  const hardware = parse('packages/agent/src/hardware/y.ts', ``);
  const SOUND = [
    '| `agent/src/work` | one run | state; types of hardware |',
    '| `agent/src/state` | files | zod; no node: |',
    '| `agent/src/hardware` | cards | no node: |',
  ];

  test('nothing that is right', () => {
    expect(faultsOf(SOUND)).toEqual([]);
  });

  test.each([
    ['a row that is not a row', '| agent/src/work | one run | state |', 'cannot be read'],
    ['a row without its third cell', '| `agent/src/daemon` | a service |', 'cannot be read'],
    ['an unknown folder', '| `agent/src/work` | one run | sate |', '"sate" is neither'],
    ['an unknown type', '| `agent/src/work` | one run | types of sate |', '"sate" is neither'],
    ['an empty cell', '| `agent/src/work` | one run | |', 'write "nothing more"'],
    ['a name after the last comma', '| `agent/src/work` | one run | state, |', 'a name is missing'],
  ])('%s', (_, row, fault) => {
    const { faults } = readTable(tableOf(changed(SOUND, row)));
    expect(faults).toEqual([expect.stringContaining(fault)]);
  });

  test('two rows for one folder', () => {
    const { faults } = readTable(tableOf([...SOUND, '| `agent/src/state` | x | zod |']));
    expect(faults).toEqual([expect.stringContaining('has two rows')]);
  });

  test('another head', () => {
    const { faults } = readTable(tableOf(SOUND).replace('Holds', 'Has'));
    expect(faults).toEqual([expect.stringContaining('write a table')]);
  });

  test('a name that is a row and a package', () => {
    const rows = ['| `agent/src/zod` | x | nothing more |', '| `agent/src/work` | x | zod |'];
    expect(readTable(tableOf(rows)).faults).toEqual([expect.stringContaining('agent/src/zod')]);
  });

  test.each([
    ['a row without files', '| `agent/src/wrok` | one run | no node: |', 'no such file'],
    ['a value where types are imported', '| `agent/src/work` | x | state, hardware |', 'types of'],
    ['an unused row', '| `agent/src/hardware` | x | state; no node: |', 'needs agent/src/state'],
    ['an unused package', '| `agent/src/state` | files | zod, ws; no node: |', 'needs ws'],
    ['an unused type', '| `agent/src/hardware` | x | types of zod; no node: |', 'needs zod'],
    [
      'a type that is allowed already',
      '| `agent/src/work` | x | state; types of state, hardware |',
      'needs agent/src/state',
    ],
    ['node: that nothing uses', '| `agent/src/hardware` | cards | nothing more |', 'no node:'],
  ])('%s', (_, row, fault) => {
    expect(faultsOf(changed(SOUND, row))).toEqual([expect.stringContaining(fault)]);
  });

  test('rows that import each other', () => {
    const back = parse(
      'packages/agent/src/state/back.ts',
      `import type { R } from '../work/r.js';`,
    );
    const rows = changed(SOUND, '| `agent/src/state` | x | types of work; zod; no node: |');
    const cycle = 'agent/src/work → agent/src/state → agent/src/work';
    expect(faultsOf(rows, back)).toEqual([expect.stringContaining(cycle)]);
  });

  test('paths that are not there', () => {
    const page = 'As `agent/src/main.ts`, `core/*`, `core/gone.ts`, `agent/src/gone*.ts`, `/v1/x`.';
    expect(missingPaths(page)).toEqual(['core/gone.ts', 'agent/src/gone*.ts']);
  });

  function faultsOf(rows: readonly string[], ...files: SourceFile[]): string[] {
    const read = readTable(tableOf(rows));
    expect(read.faults).toEqual([]);
    return tableFaults(read, [run, state, hardware, ...files]);
  }
});

function tableOf(rows: readonly string[]): string {
  const head = ['## Folders, and which way imports point', '', '| Folder | Holds | May import |'];
  return [...head, '| --- | --- | --- |', ...rows].join('\n');
}

/** The rows with one of them replaced by another for its folder, or with one more. */
function changed(rows: readonly string[], row: string): string[] {
  return [...rows.filter((one) => folderOf(one) !== folderOf(row)), row];
}

function folderOf(row: string): string | undefined {
  return row.split('|')[1]?.replaceAll('`', '');
}

describe('the rules refuse', () => {
  test.each([
    ['any', HTTP, 'const x: any = 1;'],
    ['an enum', HTTP, 'enum X { A }'],
    ['a namespace', HTTP, 'namespace X { export const a = 1; }'],
    ['a non-null assertion', HTTP, 'const x = y!;'],
    ['a default export', HTTP, 'export default 1;'],
    ['the environment outside config', HTTP, 'const x = process.env.HOME;'],
    ['the environment by its string key', HTTP, `const x = process['env'];`],
    ['the environment taken apart', HTTP, 'const { env } = process;'],
    ['the environment by import', HTTP, `import { env } from 'node:process';`],
    ['the console', HTTP, `console.error('x');`],
    ['the wall clock in core', CORE, 'const x = Date.now();'],
    ['a new Date in core', CORE, 'const x = new Date();'],
    ['the wall clock', HTTP, 'const x = Date.now();'],
    ['the wall clock as a function', HTTP, 'const now = Date.now;'],
    ['a new Date', HTTP, 'const x = new Date();'],
    ["the system's clock", HTTP, 'const x = SYSTEM_CLOCK.now();'],
    ['a timer in core', CORE, 'setTimeout(f, 1);'],
    ['the network in core', CORE, 'await fetch(url);'],
  ])('%s', (_, path, text) => {
    expect(ruleFaults(parse(path, text))).toHaveLength(1);
  });

  test.each([
    ['the environment in config', 'packages/agent/src/config/config.ts', 'const x = process.env;'],
    ['the console in a script', 'scripts/quickstart.js', `console.log('x');`],
    ['a clock of durations', HTTP, 'const x = performance.now();'],
    ['a given time in core', CORE, 'const x = new Date(now);'],
    ['the words any and enum in text', HTTP, `const x = 'any enum'; // any console.log`],
  ])('nothing of %s', (_, path, text) => {
    expect(ruleFaults(parse(path, text))).toEqual([]);
  });

  test.each(NOTE_WORDS)('the note %s', (word) => {
    expect(noteFaults(parse('a.ts', `f(); // ${word}: later`))).toHaveLength(1);
  });

  test.each(['src/fooBar.ts', 'src/string-utils.ts', 'src/base.ts', 'src/user-service.test.ts'])(
    'the file name %s',
    (path) => expect(nameFaults(path)).toHaveLength(1),
  );

  test.each(['src/services.ts', 'src/database.ts', 'src/run-program.test.ts'])(
    'no such file name as %s',
    (path) => expect(nameFaults(path)).toEqual([]),
  );
});

describe('the budgets refuse', () => {
  test.each([
    ['a file of 501 lines', 'x;\n'.repeat(501)],
    ['a line of 101 columns', `//${'x'.repeat(99)}`],
  ])('%s', (_, text) => {
    expect(textFaults(parse('a.ts', text))).toHaveLength(1);
  });

  test.each([
    ['a file of 500 lines', 'x;\n'.repeat(500)],
    ['a line of 100 columns', `//${'ä'.repeat(98)}`],
  ])('not %s', (_, text) => {
    expect(textFaults(parse('a.ts', text))).toEqual([]);
  });

  test.each([
    ['a function of 101 lines', `function f() {\n${'x;\n'.repeat(99)}}`],
    ['a method of 101 lines', `class A { f() {\n${'x;\n'.repeat(99)}} }`],
    ['an arrow function of four parameters', 'const f = (a, b, c, d) => a;'],
    ['a constructor of four parameters', 'class A { constructor(a, b, c, d) {} }'],
    ['a nesting of four', 'for (;;) { while (a) { if (b) { try { c; } catch { d; } } } }'],
    ['a deep block under else if', 'if (a) {} else if (b) { for (;;) { if (c) { if (d) {} } } }'],
  ])('%s', (_, text) => {
    expect(functionFaults(parse('a.ts', text))).toHaveLength(1);
  });

  test.each([
    ['a function of 100 lines', `function f() {\n${'x;\n'.repeat(98)}}`],
    ['three parameters and this', 'function f(this: X, a, b, c) {}'],
    ['a chain of else if', 'if (a) {} else if (b) {} else if (c) {} else if (d) {} else if (e) {}'],
    ['three levels twice', 'for (;;) if (a) { g(() => { for (;;) { if (b) { if (c) {} } } }); }'],
  ])('not %s', (_, text) => {
    expect(functionFaults(parse('a.ts', text))).toEqual([]);
  });
});

test('a cycle is found through types and re-exports, and told once', () => {
  const files = [
    parse('src/a.ts', `import type { B } from './b.js';`),
    parse('src/b.ts', `export * from './c.js';`),
    parse('src/c.ts', `import { a } from './a.js';`),
  ];
  expect(importCycles(files)).toEqual(['src/a.ts → src/b.ts → src/c.ts → src/a.ts']);
  expect(importCycles(files.slice(0, 2))).toEqual([]);
});
