/**
 * Every exit code of every command. Codes that take more than one command are tested elsewhere: 1
 * in doctor.test.ts and backup.test.ts, 9 in doctor, assets, restore and migrate.test.ts, and 130
 * in backup.test.ts and test/e2e.
 */
import { openStore } from '@inference-gateway/coordinator/store/open';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { exampleOf, leafCommands } from '../../support/command-tree.js';
import { runCommand } from '../../support/run-command.js';
import { usageErrors } from '../../support/usage-errors.js';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import type { Failure } from './expect-failures.js';
import { WHERE } from './jobs-in-store.js';
import { UNKNOWN, WRONG, conflicts, fillForRefusals } from './refusals.js';
import { serveAdminOn } from './running-admin.js';

const PROGRAM = 'gateway-coordinator';
const LEAVES = leafCommands(PROGRAM);

/** Commands that need no data, or create it. */
const NEED_NO_DATA = [
  'start',
  'user create',
  'restore',
  'doctor',
  'version',
  'complete',
  'logs',
  ...['install', 'uninstall', 'start', 'stop', 'status'].map((verb) => `service ${verb}`),
];
/** Those of them to which the version of the tables matters all the same. */
const READ_TABLES = ['start', 'user create'];

test('whatever is left out, unknown or too much exits 2, in every command', async () => {
  const folder = await dataFolder();
  const env = { GATEWAY_DATA: folder.path };
  const errors = usageErrors(PROGRAM);
  expect(errors.length).toBeGreaterThan(LEAVES.length * 3);
  for (const { words, says } of errors) {
    const line = words.join(' ');
    const { code, stdout, stderr } = await runCommand(PROGRAM, words, { env });
    expect({ line, code, stdout }, stderr).toEqual({ line, code: 2, stdout: '' });
    expect(stderr, line).toContain(says);
  }
});

describe.each(WHERE)('%s', (_, prepare) => {
  test('what is unknown exits 3, and what is so already 7', async () => {
    const folder = await dataFolder();
    const refused = await prepare(folder, fillForRefusals);
    await expectExits(folder, [...UNKNOWN, ...conflicts(refused)]);
  }, 60_000);
});

test('what cannot be meant exits 2, before anything is looked up', async () => {
  const folder = await dataFolder();
  await fillForRefusals((await serveAdminOn(folder.path)).store);
  await expectExits(folder, WRONG);
});

test('each command that names something has a row that names what is not there', () => {
  const references = /^(member|key|provider|network|job|batch|invite|id|code|member\|session)$/;
  for (const { name, command } of LEAVES) {
    const rows = UNKNOWN.map(([line]) => line).filter((line) => line.startsWith(`${name} `));
    const named = command.registeredArguments.filter((one) => references.test(one.name()));
    const options = ['--user', '--owner', '--network', '--replace', '--share', '--password-file'];
    // Without a value, --user is about a service of the operating system.
    const valued = command.options.filter(({ required }) => required);
    const flags = valued.flatMap(({ long }) => long ?? []);
    for (const flag of flags.filter((one) => options.includes(one))) {
      expect(
        rows.some((line) => line.includes(flag)),
        `${name} ${flag}`,
      ).toBe(true);
    }
    expect(rows.length, name).toBeGreaterThanOrEqual(named.length);
  }
});

test('a folder without data exits 3, and a newer database 10, whatever the command', async () => {
  const [empty, newer] = [await dataFolder(), await dataFolder()];
  await makeNewer(newer);
  const password = join(newer.path, 'password');
  await writeFile(password, 'correct horse battery');
  for (const leaf of LEAVES) {
    const words = exampleWords(exampleOf(leaf)).map((word) => (word === '-' ? password : word));
    const needsData = !NEED_NO_DATA.includes(leaf.name);
    const on = (folder: DataFolder) => runCommand(PROGRAM, [...words, '--data', folder.path]);
    if (needsData) {
      expect(await on(empty), leaf.name).toEqual({
        code: 3,
        stdout: '',
        stderr: expect.stringContaining(`no coordinator's data in ${empty.path}`),
      });
    }
    if (!READ_TABLES.includes(leaf.name) && !needsData) continue;
    // A backup copies the newer tables; restore reports their version.
    if (leaf.name === 'backup') continue;
    const { code, stderr } = await on(newer);
    expect({ name: leaf.name, code }, stderr).toEqual({ name: leaf.name, code: 10 });
    expect(stderr, leaf.name).toMatch(/schema \d+/);
  }
});

test('a folder that another process holds exits 7, for reads and for writes', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  onTestFinished(() => store.close());
  const lines = ['user create --email anna@example.org', 'stats', 'queue pause'];
  for (const { code, stdout, stderr } of await Promise.all(
    lines.map((line) => folder.alone(line)),
  )) {
    expect({ code, stdout }, stderr).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain(`${folder.path} is in use by another process`);
  }
});

test('a named file that is missing exits 3', async () => {
  const folder = await dataFolder();
  await (await openStore(folder.path)).close();
  await expectExits(folder, [
    ['start --config /nowhere/config.json', 3, '/nowhere/config.json'],
    ['restore /nowhere/gateway.tar', 3, '/nowhere/gateway.tar'],
    ['restore /nowhere/gateway.tar --verify', 3, '/nowhere/gateway.tar'],
  ]);
});

test.each([
  ['folder', openAndClose],
  ['coordinator', ({ path }: DataFolder) => serveAdminOn(path)],
])("another user's %s exits 4, whatever is asked of it", async (_, prepare) => {
  const folder = await dataFolder();
  await prepare(folder);
  // Root may open everything, so a test that runs as root changes to another user first.
  await chmod(folder.path, process.getuid?.() === 0 ? 0o700 : 0o000);
  onTestFinished(() => chmod(folder.path, 0o700));
  const file = new URL('../../support/as-nobody.js', import.meta.url);
  const script = { file, args: ['coordinator'] };
  const asked = ['user list', 'user create --email anna@example.org', 'queue pause'];
  const opened = ['start --port 0', 'migrate', 'backup -o gateway.tar'];
  const failures = await Promise.all(
    [...asked, ...opened].map(async (line) => ({ line, ...(await folder.run(line, { script })) })),
  );
  for (const { line, code, stdout, stderr } of failures) {
    expect({ line, code, stdout }, stderr).toEqual({ line, code: 4, stdout: '' });
    expect(stderr, line).toMatch(/^error: the (data folder|coordinator on) .* another user: .*\n$/);
  }
});

test('a coordinator that does not answer exits 8', async () => {
  const folder = await dataFolder();
  await mkdir(folder.path, { mode: 0o700 });
  // It reads, so that it notices when the caller hangs up, but never answers.
  const silent = createServer((socket) => void socket.resume());
  await new Promise<void>((done) => silent.listen(join(folder.path, 'admin.sock'), done));
  onTestFinished(() => void silent.close());
  const script = { file: new URL('slow-answers.js', import.meta.url), args: [] };
  const { code, stdout, stderr } = await folder.run('user list', { script });
  expect({ code, stdout }, stderr).toEqual({ code: 8, stdout: '' });
  expect(stderr).toContain('no answer on');
});

/** The words of the help's example, without its data folder. */
function exampleWords(line: string): string[] {
  return line.replace(/ --data \S+/, '').split(' ');
}

async function openAndClose({ path }: DataFolder): Promise<void> {
  await (await openStore(path)).close();
}

async function makeNewer(folder: DataFolder): Promise<void> {
  await openAndClose(folder);
  const database = openDatabase(join(folder.path, 'gateway.db'));
  database.pragma('user_version = 99');
  database.close();
}

/** Runs all of them in one process; PASSWORD and SHORT are names of files. */
async function expectExits(folder: DataFolder, failures: readonly Failure[]): Promise<void> {
  const files = { PASSWORD: 'correct horse battery', SHORT: 'eleven-char' };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  for (const [line, exitCode, reason] of failures) {
    const words = line
      .split(' ')
      .map((word) => (Object.hasOwn(files, word) ? join(folder.path, word) : word));
    const { code, stdout, stderr } = await runCommand(PROGRAM, [...words, '--data', folder.path]);
    expect({ line, code, stdout }, stderr).toEqual({ line, code: exitCode, stdout: '' });
    expect(stderr, line).toContain(reason);
  }
}
