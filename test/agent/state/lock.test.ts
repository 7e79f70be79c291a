import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { askAgent, openControl } from '@inference-gateway/agent/state/control';
import type { ControlTable } from '@inference-gateway/agent/state/control';
import { temporaryFolder } from '../../support/temporary-folder.js';

const NO_COMMANDS: ControlTable = {};
/** Above every process id that Linux and macOS give. */
const DEAD_PID = 0x7ffffff0;

async function open(folder: string, table = NO_COMMANDS) {
  const control = await openControl(folder, table);
  onTestFinished(() => control.close());
  return control;
}

test('the folder is its owner’s alone, and so are lock and socket', async () => {
  const folder = join(await temporaryFolder(), 'state');
  await open(folder);
  expect(await modeOf(folder)).toBe('700');
  for (const name of await readdir(folder)) expect(await modeOf(join(folder, name))).toBe('600');
});

test('a second agent on the folder is refused with exit 7 while the first lives', async () => {
  const folder = await temporaryFolder();
  const first = await open(folder);
  await expect(open(folder)).rejects.toMatchObject({ exitCode: 7 });
  await expect(open(folder)).rejects.toThrow(`process ${process.pid}`);
  await first.close();
  await open(folder);
});

test.each([
  ['a dead process', `${DEAD_PID} x\n`],
  ['a process of this id in an earlier container', `${process.pid} x\n`],
])('what %s left behind is replaced', async (_, left) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'lock'), left);
  await writeFile(join(folder, 'control.sock'), '');
  await open(folder);
  expect(await askAgent(folder, 'none').catch((error: Error) => error.message)).toContain('none');
  expect((await readdir(folder)).toSorted()).toEqual(['control.sock', 'lock']);
});

test('a lock whose process is another program by now is replaced after a moment', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'lock'), `${process.ppid} x\n`);
  await open(folder);
  expect(await readFile(join(folder, 'lock'), 'utf8')).toMatch(new RegExp(`^${process.pid} `));
});

test('the running agent answers by its table, and refuses what is not in it', async () => {
  const folder = await temporaryFolder();
  expect(await askAgent(folder, 'echo')).toBeNull();
  await open(folder, { echo: (args) => ({ args }) });
  expect(await askAgent(folder, 'echo', { args: [1] })).toEqual({ result: { args: [1] } });
  await expect(askAgent(folder, 'toString')).rejects.toMatchObject({ exitCode: 2 });
});

test('a folder whose path is too long for a socket works all the same', async () => {
  const folder = join(await temporaryFolder(), 'x'.repeat(120));
  await mkdir(folder);
  await open(folder, { ping: () => 'pong' });
  expect(await askAgent(folder, 'ping')).toEqual({ result: 'pong' });
});

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}
