/** `backup --folder`: what is written, verified and removed, with real archives. */
import { assetsFolder } from '@inference-gateway/coordinator/assets/folder-store';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sample } from '../backup/archives.js';
import { startProgram } from '../../support/program.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { runCoordinator } from './run-coordinator.js';

const NAME = /^gateway-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar$/;
const UNVERIFIED = 'gateway-unverified.tar';
/** Names as earlier backups have them, oldest first, and some that only look similar. */
const OLD = [1, 2, 3, 4].map((day) => `gateway-2026-01-0${day}T03-30-00Z.tar`);
const OTHERS = ['gateway-2026-01-01.tar', 'gateway-2026-01-01T03-30-00Z.tgz', 'notes.txt'];

/** Verifying takes some hundred milliseconds, in which the test reacts. */
const VERIFIED_BYTES = 64 * 1024 ** 2;
/** A busy disk. */
const PATIENT = { timeoutMs: 50_000 };

interface Stage {
  readonly dataDir: string;
  readonly folder: string;
  readonly assets: readonly { readonly id: string }[];
  readonly words: readonly string[];
}

/** A data folder with three assets, and a folder with four old archives and other files. */
async function stage(): Promise<Stage> {
  const prepared = await sample();
  await prepared.close();
  const { dataDir, assets } = prepared;
  const folder = await temporaryFolder();
  for (const name of [...OLD, ...OTHERS]) await writeFile(join(folder, name), 'old');
  const words = ['backup', '--folder', folder, '--data', dataDir];
  return { dataDir, folder, assets, words };
}

/** Sorted; the new archive, whose name is the time, is `new`. */
async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.map((name) => (NAME.test(name) && !OLD.includes(name) ? 'new' : name)).toSorted();
}

function sorted(...names: readonly string[]): string[] {
  return names.toSorted();
}

test('it writes and verifies an archive, and keeps the newest; other files stay', async () => {
  const { folder, words } = await stage();
  const { code, stdout, stderr } = await runCoordinator([...words, '--keep', '3', '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const told = JSON.parse(stdout) as { file: string };
  expect(told).toMatchObject({
    file: expect.stringContaining(join(folder, 'gateway-')),
    assets: 3,
    missing: 0,
    removed: OLD.slice(0, 2).map((name) => join(folder, name)),
    faults: [],
  });
  expect(await namesIn(folder)).toEqual(sorted('new', ...OLD.slice(2), ...OTHERS));
  expect((await stat(told.file)).mode & 0o777).toBe(0o600);
  expect((await runCoordinator(['restore', told.file, '--verify'])).code).toBe(0);
});

test('without --keep fourteen stay, with the new one', async () => {
  const { folder, words } = await stage();
  for (let day = 10; day < 22; day++) {
    await writeFile(join(folder, `gateway-2026-01-${day}T03-30-00Z.tar`), 'old');
  }
  expect((await runCoordinator(words)).code).toBe(0);
  const archives = (await readdir(folder)).filter((name) => NAME.test(name)).toSorted();
  expect(archives).toHaveLength(14);
  expect(archives[0]).toBe(OLD[3]);
});

test('the new one stays although others seem to come from the future', async () => {
  const { folder, words } = await stage();
  const future = ['gateway-2126-01-01T03-30-00Z.tar', 'gateway-2126-01-02T03-30-00Z.tar'];
  for (const name of future) await writeFile(join(folder, name), 'old');
  const { stdout } = await runCoordinator([...words, '--keep', '1', '--json']);
  const { file } = JSON.parse(stdout) as { file: string };
  expect((await readdir(folder)).toSorted()).toEqual(
    sorted(...OTHERS, file.slice(folder.length + 1)),
  );
});

test('one with a fault removes nothing, exits 9, and is replaced by the next one', async () => {
  const { dataDir, folder, assets, words } = await stage();
  const id = assets[2]?.id ?? '';
  const path = join(assetsFolder(dataDir), id.slice(0, 2), id);
  const bytes = await readFile(path);
  await writeFile(path, Buffer.concat([Buffer.from('y'), bytes.subarray(1)]));
  const broken = await runCoordinator([...words, '--keep', '1']);
  expect(broken).toMatchObject({ code: 9, stdout: expect.stringContaining('damaged') });
  expect(broken.stderr).toContain('Nothing was removed: the older archives stay.');
  expect(await namesIn(folder)).toEqual(sorted(UNVERIFIED, ...OLD, ...OTHERS));
  // It would not be known as a backup.
  const audit = await runCoordinator(['audit', 'list', '--action', 'backup', '--data', dataDir]);
  expect(audit).toMatchObject({ code: 0, stdout: '' });

  await writeFile(path, bytes);
  expect((await runCoordinator([...words, '--keep', '1'])).code).toBe(0);
  expect(await namesIn(folder)).toEqual(sorted('new', ...OTHERS));
});

test('one that is killed removes nothing, and the next one replaces what it left', async () => {
  const { dataDir, folder, words } = await stage();
  const large = join(assetsFolder(dataDir), 'aa', 'a'.repeat(22));
  await mkdir(join(large, '..'), { recursive: true });
  await writeFile(large, randomBytes(1_000_000));
  await truncate(large, 512 * 1024 ** 2);
  const running = startProgram('gateway-coordinator', [...words, '--keep', '1']);
  const unfinished = join(folder, `${UNVERIFIED}.unfinished`);
  await until(async () => existsSync(unfinished) && (await stat(unfinished)).size > 1_000_000);
  running.child.kill('SIGKILL');
  await running.finished;
  expect(await namesIn(folder)).toEqual(sorted(`${UNVERIFIED}.unfinished`, ...OLD, ...OTHERS));

  // The next one is killed while it verifies: it is complete then, but has no name yet.
  await truncate(large, VERIFIED_BYTES);
  const second = startProgram('gateway-coordinator', [...words, '--keep', '1']);
  await until(() => existsSync(join(folder, UNVERIFIED)), PATIENT);
  second.child.kill('SIGKILL');
  await second.finished;
  expect(await namesIn(folder)).toEqual(sorted(UNVERIFIED, ...OLD, ...OTHERS));

  await truncate(large, 10);
  expect((await runCoordinator([...words, '--keep', '2'])).code).toBe(0);
  expect(await namesIn(folder)).toEqual(sorted('new', ...OLD.slice(3), ...OTHERS));
});

test('SIGTERM while it verifies leaves nothing of it', async () => {
  const { dataDir, folder, words } = await stage();
  const large = join(assetsFolder(dataDir), 'aa', 'a'.repeat(22));
  await mkdir(join(large, '..'), { recursive: true });
  await writeFile(large, '');
  await truncate(large, VERIFIED_BYTES);
  const running = startProgram('gateway-coordinator', [...words, '--keep', '1']);
  await until(() => existsSync(join(folder, UNVERIFIED)), PATIENT);
  running.child.kill('SIGTERM');
  expect(await running.finished).toMatchObject({ code: 130 });
  expect(await namesIn(folder)).toEqual(sorted(...OLD, ...OTHERS));
});

test('the finished one is in the audit log', async () => {
  const { dataDir, words } = await stage();
  const { stdout } = await runCoordinator([...words, '--json']);
  const { file } = JSON.parse(stdout) as { file: string };
  const audit = await runCoordinator(['audit', 'list', '--action', 'backup', '--data', dataDir]);
  expect(audit.stdout).toContain(file);
});

test('wrong use is told: with -o, --keep alone, a folder that is missing', async () => {
  const { folder, dataDir, words } = await stage();
  const file = join(folder, 'x.tar');
  expect((await runCoordinator([...words, '-o', file])).code).toBe(2);
  const alone = ['backup', '-o', file, '--keep', '3', '--data', dataDir];
  expect(await runCoordinator(alone)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--folder'),
  });
  const nowhere = ['backup', '--folder', join(folder, 'nowhere'), '--data', dataDir];
  expect(await runCoordinator(nowhere)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('there is no folder'),
  });
  expect(await namesIn(folder)).toEqual(sorted(...OLD, ...OTHERS));
});
