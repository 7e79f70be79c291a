/** Which listener a command line trusts, and which callers a listener answers. */
import {
  callLocal,
  localSocketPath,
  pipePath,
  serveLocal,
} from '@inference-gateway/shared/program/local-socket';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { chmod, chown, lstat, mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';

const CALL = { command: 'secret.tell', args: 'for the owner alone' };
const STRANGER = 65_534;
const isRoot = process.getuid?.() === 0;

/**
 * A folder with a path too long for a socket, so the socket goes to a folder where all users can
 * create files.
 */
async function deepFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), 'a'.repeat(100));
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

/** Null if systemd gives this user a private folder for sockets. */
async function pathIn(shared: string): Promise<string | null> {
  const path = localSocketPath(await deepFolder(), 'control', shared);
  return path.startsWith(shared) ? path : null;
}

async function serve(path: string): Promise<void> {
  const server = await serveLocal(path, async ({ args }) => `heard ${String(args)}`);
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
}

/** Listens on the path before the real server does, and records what callers send. */
async function squat(path: string): Promise<string[]> {
  const heard: string[] = [];
  const server: Server = createServer((socket) => {
    socket.on('data', (bytes) => void heard.push(bytes.toString())).on('error', () => {});
  });
  await new Promise<void>((done) => server.listen(path, done));
  onTestFinished(() => {
    server.close();
  });
  return heard;
}

const refused = (message: RegExp) => ({
  exitCode: EXIT.notAuthorised,
  message: expect.stringMatching(message) as string,
});

describe.runIf(process.platform !== 'win32')('a socket', () => {
  test('lies in the folder, or in one of this user alone, and is answered on', async () => {
    const short = join(await temporaryFolder(), 'data');
    await mkdir(short, { mode: 0o700 });
    expect(localSocketPath(short, 'admin')).toBe(join(short, 'admin.sock'));
    for (const folder of [short, await deepFolder()]) {
      const path = localSocketPath(folder, 'admin');
      expect(await callLocal(path, CALL)).toBeNull();
      await serve(path);
      expect(await callLocal(path, CALL)).toEqual({ result: 'heard for the owner alone' });
      expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
      expect((await lstat(path)).mode & 0o777).toBe(0o600);
    }
  });

  test('in a folder that is open to others is neither listened on nor spoken to', async () => {
    const folder = join(await temporaryFolder(), 'data');
    await mkdir(folder);
    await chmod(folder, 0o777);
    const path = localSocketPath(folder, 'admin');
    await expect(serve(path)).rejects.toMatchObject(refused(/is open to other users/));
    const heard = await squat(path);
    await expect(callLocal(path, CALL)).rejects.toMatchObject(refused(/is open to other users/));
    expect(heard).toEqual([]);
  });

  test('what is no socket is not spoken to', async () => {
    const folder = join(await temporaryFolder(), 'data');
    const path = localSocketPath(folder, 'admin');
    await mkdir(path, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    await expect(callLocal(path, CALL)).rejects.toMatchObject(refused(/is not a socket/));
  });

  describe('where all users make files', () => {
    const user = String(process.geteuid?.() ?? '');
    let shared: string;

    beforeEach(async () => {
      // A short path, with the mode of a real shared folder.
      shared = join('/tmp', `gw-${process.pid}`);
      await mkdir(shared);
      await chmod(shared, 0o1777);
    });

    afterEach(async () => {
      await rm(shared, { recursive: true, force: true });
    });

    test.runIf(isRoot)("a folder of another user's is refused at both ends", async () => {
      const path = await pathIn(shared);
      if (path === null) return;
      await mkdir(dirname(path), { mode: 0o700 });
      const heard = await squat(path);
      await chown(path, STRANGER, STRANGER);
      await chown(dirname(path), STRANGER, STRANGER);
      const message = /belongs to another user \(65534\): nothing is said there\. Remove it/;
      await expect(serve(path)).rejects.toMatchObject(refused(message));
      await expect(callLocal(path, CALL)).rejects.toMatchObject(refused(message));
      expect(heard).toEqual([]);
    });

    test.runIf(isRoot)("a socket of another user's in one's own folder is refused", async () => {
      const path = await pathIn(shared);
      if (path === null) return;
      await mkdir(dirname(path), { mode: 0o700 });
      const heard = await squat(path);
      await chown(path, STRANGER, STRANGER);
      await expect(callLocal(path, CALL)).rejects.toMatchObject(refused(/not a socket of this/));
      expect(heard).toEqual([]);
    });

    test('a link to a folder is refused at both ends, wherever it leads', async () => {
      const path = await pathIn(shared);
      if (path === null) return;
      const own = await temporaryFolder();
      await chmod(own, 0o700);
      await symlink(own, dirname(path));
      await expect(serve(path)).rejects.toMatchObject(refused(/is no folder/));
      expect(await readdir(own)).toEqual([]);
      const heard = await squat(path);
      await expect(callLocal(path, CALL)).rejects.toMatchObject(refused(/is no folder/));
      expect(heard).toEqual([]);
    });

    test('the folder is named after its user, so that no two meet in one', async () => {
      const path = await pathIn(shared);
      if (path === null) return;
      expect(dirname(path)).toBe(join(shared, `inference-gateway-${user}`));
    });
  });
});

test('a pipe has a name that only who can read the folder knows, and keeps it', async () => {
  const folder = join(await temporaryFolder(), 'data');
  const path = pipePath(folder, 'admin');
  expect(path).toMatch(/^\\\\\.\\pipe\\inference-gateway-[0-9a-f]{32}$/);
  expect(pipePath(folder, 'admin')).toBe(path);
  expect(pipePath(join(folder, 'other'), 'admin')).not.toBe(path);
});
