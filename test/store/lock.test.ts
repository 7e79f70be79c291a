import { lockFolder } from '@inference-gateway/coordinator/store/sqlite/lock';
import { hasStore, openStore } from '@inference-gateway/coordinator/store/open';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { startScript } from './child-script.js';

test('a folder that another process has is refused until that one is killed', async () => {
  const folder = await temporaryFolder();
  const holder = startScript('hold-lock.js', [folder]);
  await holder.line('locked');
  const refused = { exitCode: EXIT.conflict, message: expect.stringContaining(folder) };
  await expect(openStore(folder)).rejects.toMatchObject(refused);
  await holder.kill();
  const store = await openStore(folder);
  await store.close();
});

test('a folder that this process has is refused as well, and free once it is closed', async () => {
  const folder = await temporaryFolder();
  const store = await openStore(folder);
  await expect(openStore(folder)).rejects.toMatchObject({ exitCode: EXIT.conflict });
  expect(await store.isWritable()).toBe(true);
  await store.close();
  lockFolder(folder).release();
});

test('a store that cannot be opened gives the lock free', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'gateway.db'), 'this is no database, though it is long enough');
  await expect(openStore(folder)).rejects.toMatchObject({
    exitCode: EXIT.failure,
    message: expect.stringContaining('SQLITE_NOTADB'),
  });
  lockFolder(folder).release();
});

test('a missing folder is created for its owner alone, with those above it', async () => {
  const folder = join(await temporaryFolder(), 'a', 'data');
  lockFolder(folder).release();
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect(hasStore({ dataDir: folder, databaseUrl: null })).toBe(false);
});

test('an empty folder, and one of ours, is closed to other users', async () => {
  const folder = join(await temporaryFolder(), 'data');
  await mkdir(folder);
  for (let i = 0; i < 2; i++) {
    await chmod(folder, 0o755);
    lockFolder(folder).release();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
  }
});

test('a folder with other things in it keeps its mode, and is refused while open', async () => {
  const folder = join(await temporaryFolder(), 'home');
  await mkdir(folder);
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'letter.txt'), 'dear');
  expect(() => lockFolder(folder)).toThrow(`chmod 700 ${folder}`);
  expect((await stat(folder)).mode & 0o777).toBe(0o755);
});

test('a file in the place of the folder is refused with its name', async () => {
  const file = join(await temporaryFolder(), 'file');
  await writeFile(file, '');
  expect(() => lockFolder(file)).toThrow(file);
});
