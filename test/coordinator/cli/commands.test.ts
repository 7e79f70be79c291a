/** The commands that scripts rely on are there, explain themselves, and are each run by a test. */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { exampleOf, leafCommands } from '../../support/command-tree.js';

const LEAVES = leafCommands('gateway-coordinator');

/** Called exactly so by others: a name that is here never changes. */
const FIXED = Object.entries({
  start: '',
  user: 'create list show disable enable',
  key: 'create list disable enable rename rotate revoke',
  token: 'create',
  network: 'create add remove list',
  provider: 'list show approve drain resume kick share unshare remove',
  job: 'list show cancel retry',
  batch: 'list show cancel',
  queue: 'summary pause resume requeue-stuck',
  limit: 'set show clear',
  stats: '',
  audit: 'list',
  asset: 'list verify',
  device: 'approve',
  backup: '',
  restore: '',
  migrate: '',
  prune: '',
  doctor: '',
}).flatMap(([noun, verbs]) =>
  verbs === '' ? [noun] : verbs.split(' ').map((verb) => `${noun} ${verb}`),
);

const FIXED_OPTIONS: readonly (readonly [command: string, ...options: string[]])[] = [
  ['start', '--data', '--host', '--port', '--public-url', '--config', '--demo'],
  ['user create', '--email', '--name', '--admin', '--password-file', '--json'],
  ['key create', '--user', '--name', '--expires'],
  ['key list', '--user', '--json'],
  ['token create', '--owner', '--name', '--expires'],
  ['network create', '--owner'],
  ['provider share', '--service', '--model', '--network'],
  ['device approve', '--owner'],
  ['backup', '--output'],
  ['restore', '--verify'],
  ['migrate', '--status'],
  ['prune', '--dry-run'],
];

test('every command that is fixed is there, with its options', () => {
  const names = LEAVES.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(FIXED));
  for (const [name, ...options] of FIXED_OPTIONS) {
    expect(optionsOf(name), name).toEqual(expect.arrayContaining(options));
  }
});

test('every command takes --data, but for those that open no data', () => {
  const without = LEAVES.filter(({ name }) => !optionsOf(name).includes('--data'));
  expect(without.map(({ name }) => name)).toEqual(['version', 'complete']);
});

test('every command says what it does, and its help has an example of it', () => {
  for (const leaf of LEAVES) {
    expect(leaf.command.description(), leaf.name).toMatch(/^\S.{8,}[^.]$/);
    expect(exampleOf(leaf), leaf.name).toMatch(new RegExp(`^${leaf.name}( |$)`));
    for (const one of leaf.command.options) expect(one.description, leaf.name).not.toBe('');
    for (const one of leaf.command.registeredArguments) {
      expect(one.description, `${leaf.name} <${one.name()}>`).not.toBe('');
    }
  }
});

test('docs/cli.md shows every command with every option', () => {
  const text = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
  const [, synopsis = ''] = /## gateway-coordinator\n\n```\n([^`]+)```/.exec(text) ?? [];
  const lines = synopsis.replaceAll(/\n +/g, ' ').split('\n');
  for (const { name } of LEAVES) {
    const [noun = '', verb] = name.split(' ');
    const own = lines.filter((line) => {
      const [, first, second = ''] = line.split(' ');
      return first === noun && (verb === undefined || second.split('|').includes(verb));
    });
    const shown = own.join(' ');
    expect(shown, name).not.toBe('');
    for (const option of optionsOf(name)) {
      expect(
        shown.includes(option) || (option === '--output' && shown.includes(' -o ')),
        option,
      ).toBe(true);
    }
  }
});

test('every command is run by a test, beside those in which all of them fail', async () => {
  const lines = await commandLinesOfTests();
  const untested = LEAVES.filter(({ name }) => {
    const [words, apart] = [name, name.split(' ').join("',\\s*'")];
    return !new RegExp(`['"\`(]${words}(?![\\w-])|'${apart}'`).test(lines);
  });
  expect(untested.map(({ name }) => name)).toEqual([]);
});

function optionsOf(name: string): string[] {
  const leaf = LEAVES.find((one) => one.name === name);
  return leaf?.command.options.flatMap(({ long }) => long ?? []) ?? [];
}

/** Where each command is but listed, nothing shows that it does what it says. */
const LISTS = ['refusals.ts', 'exit-codes.test.ts', 'commands.test.ts', 'command-tree.ts'];

async function commandLinesOfTests(): Promise<string> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const names = await readdir(root, { recursive: true });
  const files = names.filter(
    (name) => name.endsWith('.ts') && !LISTS.some((one) => name.endsWith(one)),
  );
  const text = files.map((name) => readFileSync(`${root}/${name}`, 'utf8')).join('\n');
  // What a test is called runs nothing.
  return text.replaceAll(/^ *(test|describe)\(.*/gm, '');
}
