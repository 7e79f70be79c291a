/** The commands that scripts rely on exist, explain themselves, and are each run by a test. */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { describe, expect, test } from 'vitest';
import { exampleOf, leafCommands, nounCommands } from '../../support/command-tree.js';
import { runCommand } from '../../support/run-command.js';
import { runProgram } from '../../support/program.js';
import { dataFolder } from './data-folder.js';

const LEAVES = leafCommands('gateway-coordinator');

/** Scripts call these names, so a name in this list never changes. */
const FIXED = Object.entries({
  start: '',
  service: 'install uninstall start stop status',
  logs: '',
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
  ['service install', '--user', '--system', '--run-as', '--backup-folder'],
  ['backup', '--output', '--folder', '--keep'],
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

/** Files that only list commands do not test what a command does. */
const LISTS = ['refusals.ts', 'exit-codes.test.ts', 'commands.test.ts', 'command-tree.ts'];

async function commandLinesOfTests(): Promise<string> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  // Other people's packages are in a folder of their own, with ten thousand files.
  const folders = (await readdir(root, { withFileTypes: true })).filter(
    (one) => one.isDirectory() && one.name !== 'node_modules',
  );
  const found = await Promise.all(
    folders.map(async ({ name }) =>
      (await readdir(join(root, name), { recursive: true })).map((file) => join(name, file)),
    ),
  );
  const files = found
    .flat()
    .filter((name) => name.endsWith('.ts') && !LISTS.some((one) => name.endsWith(one)));
  const text = files.map((name) => readFileSync(`${root}/${name}`, 'utf8')).join('\n');
  // The title of a test runs nothing.
  return text.replaceAll(/^ *(test|describe)\(.*/gm, '');
}

describe.each(['gateway-coordinator', 'gateway-agent'] as const)('%s', (program) => {
  test('tells its version at -v, -V and --version', async () => {
    const told = { ...(await runCommand(program, ['version'])), code: 0 };
    expect(told.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    for (const flag of ['-v', '-V', '--version'])
      expect(await runCommand(program, [flag]), flag).toEqual(told);
  });

  test('prints its help and exits 0 where a command is bare, and lists what there is', async () => {
    for (const name of ['', ...nounCommands(program).map((noun) => noun.name)]) {
      const words = name === '' ? [] : name.split(' ');
      const { code, stdout, stderr } = await runCommand(program, words);
      expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: ${[program, name].join(' ').trim()} `);
      expect(stdout).toContain('Commands:');
    }
  });
});

test('colours are for terminals, and for whom FORCE_COLOR asks; never in JSON', async () => {
  const folder = await dataFolder();
  await (await openStore(folder.path)).close();
  const run = async (line: string, env: Record<string, string> = {}): Promise<string> => {
    const words = [...line.split(' '), '--data', folder.path];
    return (await runProgram('gateway-coordinator', words, { env })).stdout;
  };
  await run('user create --email anna@example.org');
  const green = '\u001b[32mactive\u001b[39m';
  expect(await run('user list')).toContain('\tactive\t');
  expect(await run('user list', { FORCE_COLOR: '1' })).toContain(`\t${green}\t`);
  expect(await run('user list', { FORCE_COLOR: '0' })).toContain('\tactive\t');
  expect(await run('user list --json', { FORCE_COLOR: '1' })).not.toContain('\u001b');
}, 60_000);
