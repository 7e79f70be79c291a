/**
 * Holds the code to its import table and its budgets, and shows of every rule that it can be
 * broken.
 */
import { describe, expect, test } from 'vitest';
import { functionFaults, textFaults } from './architecture/budgets.js';
import { importCycles } from './architecture/cycles.js';
import { NOTE_WORDS, nameFaults, noteFaults, ruleFaults } from './architecture/forbidden.js';
import { importFaults } from './architecture/import-faults.js';
import { allFiles, parse, productFiles } from './architecture/source-file.js';

const product = productFiles();
const all = allFiles();
const CORE = 'packages/coordinator/src/core/routing/match.ts';
const HTTP = 'packages/coordinator/src/http/edge/app.ts';

describe('the repository', () => {
  test('is read: each package has files and so has the code around them', () => {
    for (const folder of ['shared', 'coordinator', 'agent']) {
      expect(product.filter(({ path }) => path.startsWith(`packages/${folder}/`))).not.toEqual([]);
    }
    expect(all.map(({ path }) => path)).toContain('test/architecture.test.ts');
  });

  test('imports only along the table', () => {
    expect(product.flatMap(importFaults)).toEqual([]);
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
    ['a neighbour that the row leaves out', HTTP, `import { x } from '../links/server.js';`],
    ['a re-export of one', HTTP, `export { x } from '../links/server.js';`],
    ['a dynamic import of one', HTTP, `const x = await import('../links/server.js');`],
    ['a type of one', HTTP, `import type { X } from '../links/server.js';`],
    ['a package outside its home', CORE, `import { WebSocket } from 'ws';`],
    ['a part of a package outside its home', CORE, `import Koa from 'koa/lib/application';`],
    ['node: in pure rules', CORE, `import { readFile } from 'node:fs';`],
    [
      'the program parts in pure rules',
      CORE,
      `import { x } from '@inference-gateway/shared/program/print';`,
    ],
    ['a value of config', HTTP, `import { load } from '../config.js';`],
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
    [
      'an import of such a folder',
      'packages/agent/src/agent.ts',
      `import { x } from './misc/x.js';`,
    ],
  ])('%s', (_, path, text) => {
    expect(importFaults(parse(path, text))).toHaveLength(1);
  });

  test('nothing that the row allows', () => {
    const allowed = [
      `import Router from '@koa/router';`,
      `import { createServer } from 'node:http';`,
      `import type { Config } from '../config.js';`,
      `import { match } from '../core/match.js';`,
      `import { ApiError } from '@inference-gateway/shared/errors';`,
      `import { x } from './errors.js';`,
    ];
    expect(importFaults(parse(HTTP, allowed.join('\n')))).toEqual([]);
  });
});

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
    ['a timer in core', CORE, 'setTimeout(f, 1);'],
    ['the network in core', CORE, 'await fetch(url);'],
  ])('%s', (_, path, text) => {
    expect(ruleFaults(parse(path, text))).toHaveLength(1);
  });

  test.each([
    ['the environment in config', 'packages/agent/src/config.ts', 'const x = process.env;'],
    ['the console in a script', 'scripts/quickstart.js', `console.log('x');`],
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
