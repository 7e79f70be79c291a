import { openStore } from '@inference-gateway/coordinator/store/open';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startScript } from '../../store/child-script.js';
import { createMember } from '../../store/store-rows.js';
import { programFile } from '../../support/bundled-programs.js';
import { startProgram } from '../../support/program.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { runCoordinator } from './run-coordinator.js';

const BACKUPS = 4;

test.each([
  ['are kept', 86_400_000],
  ['expire at once', 20],
])(
  'while another process writes assets that %s, every backup is whole',
  async (_what, retentionMs) => {
    const { dataDir, folder, memberId } = await prepared();
    const keeper = startScript('../faults/asset-keeper.js', [
      dataDir,
      memberId,
      String(retentionMs),
    ]);
    for (let i = 1; i <= BACKUPS; i++) {
      await until(() => keeper.lines().length > 40 * i, { timeoutMs: 30_000 });
      const file = join(folder, `${i}.tar`);
      const args = ['backup', '-o', file, '--data', dataDir, '--json'];
      const { code, stdout, stderr } = await runCoordinator(args);
      // The keeper holds the folder's lock, but has no admin socket.
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(/^The backup is whole, .*\n$/),
      });
      expect(JSON.parse(stdout)).toMatchObject({ file, missing: 0 });
      const verified = await runCoordinator(['restore', file, '--verify', '--json']);
      expect(verified).toMatchObject({ code: 0 });
      expect(JSON.parse(verified.stdout)).toMatchObject({ faults: [] });
    }
  },
  60_000,
);

test('without --json, a backup prints what is in it', async () => {
  const { dataDir, folder } = await prepared();
  const file = join(folder, 'gateway.tar');
  const { stdout } = await runCoordinator(['backup', '-o', file, '--data', dataDir]);
  expect(stdout).toMatch(/^file +\S+gateway\.tar\n/);
  expect(stdout).toMatch(/^assets +0$/m);
});

test('a backup that is killed leaves no file, and the next one replaces what it left', async () => {
  const { dataDir, folder, output, running } = await longBackup();
  running.child.kill('SIGKILL');
  await running.finished;
  expect(await readdir(folder)).toEqual(['gateway.tgz.unfinished']);
  await truncate(largeFile(dataDir), 10);
  const again = await runCoordinator(['backup', '-o', output, '--data', dataDir]);
  expect(again.code).toBe(0);
  expect(await readdir(folder)).toEqual(['gateway.tgz']);
  expect((await runCoordinator(['restore', output, '--verify'])).code).toBe(0);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a backup, which tidies up', async (signal) => {
  const { folder, running } = await longBackup();
  running.child.kill(signal);
  const { code, stderr } = await running.finished;
  expect({ code, stderr }).toEqual({
    code: 130,
    stderr: 'error: interrupted: nothing is left of it.\n',
  });
  expect(await readdir(folder)).toEqual([]);
});

test('a full disk fails a backup, to a file as to stdout', async () => {
  const { dataDir } = await prepared();
  const file = await runCoordinator(['backup', '-o', '/dev/full', '--data', dataDir]);
  expect(file).toMatchObject({ code: 1, stdout: '' });
  expect(file.stderr).toMatch(/^error: cannot write the backup to \/dev\/full: ENOSPC.*\n$/);
  const { code, stderr } = await backUpInto('/dev/full', dataDir);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: cannot write the backup to stdout: ENOSPC.*\n$/);
  expect((await stat('/dev/full')).isCharacterDevice()).toBe(true);
});

test('stdout gets the archive and nothing else', async () => {
  const { dataDir, folder } = await prepared();
  const file = join(folder, 'piped.tar');
  await writeFile(file, '');
  expect(await backUpInto(file, dataDir)).toEqual({ code: 0, stderr: '' });
  expect((await runCoordinator(['restore', file, '--verify'])).code).toBe(0);
});

test('a reader of stdout that leaves fails the backup', async () => {
  const { dataDir } = await prepared();
  const running = startProgram('gateway-coordinator', ['backup', '-o', '-', '--data', dataDir]);
  running.child.stdout?.destroy();
  const { code, stderr } = await running.finished;
  expect(code).toBe(1);
  expect(stderr).toContain('cannot write the backup to stdout');
});

test('wrong use is told: no -o, --json beside an archive, a folder without data', async () => {
  const { dataDir, folder } = await prepared();
  expect((await run('--data', dataDir)).code).toBe(2);
  expect((await run('-o', '-', '--json', '--data', dataDir)).code).toBe(2);
  expect((await run('-o', folder, '--data', dataDir)).code).toBe(2);
  const nowhere = await run('-o', join(folder, 'x.tar'), '--data', join(folder, 'nowhere'));
  expect(nowhere.code).toBe(3);
  expect(await readdir(folder)).toEqual([]);
});

function run(...args: string[]) {
  return runCoordinator(['backup', ...args]);
}

interface Prepared {
  readonly dataDir: string;
  /** An empty folder for archives. */
  readonly folder: string;
  readonly memberId: string;
}

async function prepared(): Promise<Prepared> {
  const dataDir = join(await temporaryFolder(), 'data');
  const store = await openStore(dataDir);
  const { id: memberId } = await createMember(store, 'anna');
  await store.close();
  return { dataDir, folder: await temporaryFolder(), memberId };
}

/** A running backup of half a gigabyte, most of it zeros. */
async function longBackup() {
  const { dataDir, folder } = await prepared();
  await mkdir(join(largeFile(dataDir), '..'), { recursive: true });
  await writeFile(largeFile(dataDir), randomBytes(1_000_000));
  await truncate(largeFile(dataDir), 512 * 1024 ** 2);
  const output = join(folder, 'gateway.tgz');
  const args = ['backup', '-o', output, '--data', dataDir];
  const running = startProgram('gateway-coordinator', args);
  const unfinished = `${output}.unfinished`;
  await until(async () => existsSync(unfinished) && (await stat(unfinished)).size > 1_000_000);
  return { dataDir, folder, output, running };
}

function largeFile(dataDir: string): string {
  return join(dataDir, 'assets', 'aa', 'a'.repeat(22));
}

/** Runs `backup -o -` with stdout in a file or device. */
async function backUpInto(path: string, dataDir: string) {
  const out = openSync(path, 'w');
  const args = [programFile('gateway-coordinator'), 'backup', '-o', '-', '--data', dataDir];
  const child = spawn(process.execPath, args, { stdio: ['ignore', out, 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  closeSync(out);
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}
