/**
 * Two users on one machine: the service's user, who owns the data folder, and root, who administers
 * it. Only root can run as both, so other users skip these tests.
 */
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readFile,
  readdir,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runAlone, startCoordinatorProcess } from './run-coordinator.js';
import type { Run } from './run-coordinator.js';

const SERVICE = 65_534;
const AS_SERVICE = {
  script: { file: new URL('../../support/as-nobody.js', import.meta.url), args: ['coordinator'] },
};

interface Stage {
  /** Owned by the service's user, inside a folder of root's. */
  readonly data: string;
  /** Only root can read it. */
  readonly vault: string;
  readonly asRoot: (command: string) => Promise<Run>;
  readonly asService: (command: string) => Promise<Run>;
}

async function openStage(): Promise<Stage> {
  const top = await temporaryFolder();
  await chmod(top, 0o711);
  const [data, vault] = [join(top, 'data'), join(top, 'vault')];
  await mkdir(data, { mode: 0o700 });
  await chown(data, SERVICE, SERVICE);
  await mkdir(vault, { mode: 0o700 });
  const words = (command: string): string[] => [...command.split(' '), '--data', data];
  return {
    data,
    vault,
    asRoot: (command) => runAlone(words(command)),
    asService: (command) => runAlone(words(command), AS_SERVICE),
  };
}

async function succeed(running: Promise<Run>): Promise<string> {
  const { code, stdout, stderr } = await running;
  expect(code, stderr).toBe(0);
  return stdout.trimEnd();
}

/** The files in the folder that others than the service's user own or can read. */
async function strangeFiles(folder: string): Promise<string[]> {
  const names = ['.', ...(await readdir(folder, { recursive: true }))];
  const described = names.map(async (name) => {
    const { uid, gid, mode } = await lstat(join(folder, name)).catch(() => GONE);
    const isPrivate = uid === SERVICE && gid === SERVICE && (mode & 0o077) === 0;
    return isPrivate ? [] : [`${name} ${uid}:${gid} ${(mode & 0o777).toString(8)}`];
  });
  return (await Promise.all(described)).flat();
}

/** SQLite may remove its write-ahead log between `readdir` and `lstat`. */
const GONE = { uid: SERVICE, gid: SERVICE, mode: 0o600 };

describe.runIf(process.getuid?.() === 0)('root and the user of the service', () => {
  test('what root does leaves nothing that is not the owner’s, running or not', async () => {
    const { data, vault, asRoot, asService } = await openStage();
    const commands = [
      'user create --email anna@example.org --name anna',
      'key create --user anna --name k',
      'stats',
      'doctor --json',
      'migrate',
      'queue pause',
      `backup -o ${join(vault, 'gateway.tar')}`,
      `backup -o ${join(data, 'gateway.tar')}`,
      'prune --dry-run',
    ];
    for (const command of commands) {
      const { code, stderr } = await asRoot(command);
      expect({ command, code }, stderr).toEqual({ command, code: 0 });
      expect(await strangeFiles(data), command).toEqual([]);
    }
    expect(await lstat(join(vault, 'gateway.tar'))).toMatchObject({ uid: 0, mode: 0o100_600 });
    // The audit log names the user who typed the command.
    expect(await succeed(asRoot('audit list --action key'))).toContain('cli:root');
    await succeed(asService('queue resume'));

    const running = await startCoordinatorProcess(['--data', data]);
    const status = await readFile(`/proc/${running.process.pid}/status`, 'utf8');
    expect(status).toMatch(new RegExp(`^Uid:\\s+${SERVICE}\\s+${SERVICE}\\s+${SERVICE}\\s`, 'm'));
    for (const command of commands.slice(1)) {
      const { code, stderr } = await asRoot(command.replace('name k', 'name m'));
      const expected = command === 'migrate' ? 7 : 0;
      expect({ command, code }, stderr).toEqual({ command, code: expected });
      expect(await strangeFiles(data), command).toEqual([]);
    }
    await succeed(asService('user list'));
    running.process.kill('SIGTERM');
    await running.ended();
    expect(await strangeFiles(data)).toEqual([]);
    await succeed(asService('user list'));
  }, 120_000);

  test('a lock that this user may not write keeps a coordinator from starting', async () => {
    const { data, asService } = await openStage();
    await succeed(asService('user create --email anna@example.org'));
    const lock = join(data, 'lock.db');
    await chown(lock, 0, 0);
    await chmod(lock, 0o644);
    const first = await asService('start --port 0');
    expect({ ...first, stderr: '' }).toEqual({ code: 4, stdout: '', stderr: '' });
    expect(first.stderr).toContain(`${lock} cannot be locked: it belongs to another user.`);
    await chown(lock, SERVICE, SERVICE);
    await chmod(lock, 0o400);
    const second = await asService('user create --email ben@example.org');
    expect({ ...second, stderr: '' }).toEqual({ code: 4, stdout: '', stderr: '' });
    expect(second.stderr).toContain(`${lock} cannot be locked: this user may not write it.`);
    await chmod(lock, 0o600);
    await succeed(asService('user create --email ben@example.org'));
  });

  test.each([
    ['root', 'asRoot'],
    ['the user of the service', 'asService'],
  ] as const)(
    'backup and restore as %s, as docs/operations has them',
    async (_, who) => {
      const { data, vault, ...stage } = await openStage();
      const run = stage[who];
      const archives = who === 'asRoot' ? vault : data;
      const file = join(archives, 'gateway.tar');
      await succeed(stage.asService('user create --email anna@example.org --name anna'));
      const running = await startCoordinatorProcess(['--data', data]);
      await succeed(run(`backup -o ${file}`));
      await succeed(run('user create --email ben@example.org --name ben'));
      const verified = await runAlone(
        ['restore', file, '--verify'],
        who === 'asRoot' ? {} : AS_SERVICE,
      );
      expect(verified.code, verified.stderr).toBe(0);
      expect((await run(`restore ${file} --yes`)).code).toBe(7);
      running.process.kill('SIGTERM');
      await running.ended();
      // A copy outside the data folder, because the restore replaces the folder's contents.
      const kept = join(archives, 'before-restore-kept.tar');
      await writeFile(kept, await readFile(file), { mode: 0o600 });
      if (who === 'asService') await chown(kept, SERVICE, SERVICE);

      expect((await run(`restore ${kept}`)).code).toBe(2);
      const restored = await run(`restore ${kept} --yes`);
      expect(restored.code, restored.stderr).toBe(0);
      // The folder above is root's, so the old contents are moved into the data folder itself.
      const [, aside = ''] = /What lay in .* is in (.*) now\./.exec(restored.stderr) ?? [];
      expect(aside).toMatch(new RegExp(`^${data}/before-restore-\\d{4}-`));
      expect(await readdir(aside)).toContain('gateway.db');
      expect(await strangeFiles(data)).toEqual([]);
      const users = await succeed(stage.asService('user list'));
      expect([users.includes('anna'), users.includes('ben')]).toEqual([true, false]);
      // A second restore over the result of the first works too, and the coordinator starts.
      expect((await run(`restore ${kept} --yes`)).code).toBe(0);
      const again = await startCoordinatorProcess(['--data', data]);
      await succeed(stage.asService('user list'));
      again.process.kill('SIGTERM');
      await again.ended();
      expect(await strangeFiles(data)).toEqual([]);
    },
    120_000,
  );

  test('a folder that is made anew belongs to whom the folder above it does', async () => {
    const { data, vault, asRoot, asService } = await openStage();
    await succeed(asRoot('user create --email anna@example.org --name anna'));
    const file = join(vault, 'gateway.tar');
    await succeed(asRoot(`backup -o ${file}`));
    const place = join(data, 'restored');
    expect((await runAlone(['restore', file, '--data', place])).code).toBe(0);
    expect(await strangeFiles(place)).toEqual([]);
    await succeed(runAlone(['user', 'list', '--data', place], AS_SERVICE));
    await succeed(asService('user list'));
  });

  test('a link among the files leads root’s backup to nothing that only root reads', async () => {
    const { data, vault, asRoot, asService } = await openStage();
    await succeed(asService('user create --email anna@example.org --name anna'));
    const secret = join(vault, 'secret');
    await writeFile(secret, 'for root alone', { mode: 0o600 });
    const id = 'a'.repeat(22);
    await mkdir(join(data, 'assets', 'aa'), { recursive: true });
    await symlink(secret, join(data, 'assets', 'aa', id));
    await chown(join(data, 'assets'), SERVICE, SERVICE);
    await chown(join(data, 'assets', 'aa'), SERVICE, SERVICE);
    const file = join(vault, 'gateway.tar');
    await asRoot(`backup -o ${file}`);
    const archive = await readFile(file).catch(() => Buffer.alloc(0));
    expect(archive.includes('for root alone')).toBe(false);
  });
});
