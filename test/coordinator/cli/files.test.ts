/** Where generated files are: settings, checks at the start, the doctor, copies, backups. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openByteStore, FolderStore } from '@inference-gateway/coordinator/assets/folder-store';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Asset } from '@inference-gateway/coordinator/store/port';
import { describe, expect, onTestFinished, test } from 'vitest';
import { factsOf, keepBytes, openLibrary } from '../../support/open-library.js';
import { startProgram } from '../../support/program.js';
import { controlOf, useS3 } from '../../support/s3.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { contentOf, listed, put } from '../assets/byte-store-contract.js';
import { runCoordinator } from './run-coordinator.js';
import type { Run } from './run-coordinator.js';

const s3 = useS3();

interface Folder {
  readonly path: string;
  readonly assets: readonly Asset[];
  run(command: string, env?: Readonly<Record<string, string>>): Promise<Run>;
}

/** A data folder with these files. */
async function folderWith(contents: readonly string[]): Promise<Folder> {
  const open = await openLibrary();
  const assets: Asset[] = [];
  for (const bytes of contents) assets.push(await keepBytes(open, factsOf(open.anna), bytes));
  await open.close();
  const run = (command: string, env = {}): Promise<Run> => {
    const words = [...command.split(' '), '--data', open.dataDir];
    return runCoordinator(words, { env: { ...s3().env, ...env } });
  };
  return { path: open.dataDir, assets, run };
}

/** Starts a coordinator that should not come up. */
async function refused(folder: Folder, env: Readonly<Record<string, string>>): Promise<Run> {
  const run = await folder.run('start --port 0', env);
  expect(run.stdout).toBe('');
  expect(existsSync(join(folder.path, 'files-url'))).toBe(false);
  return run;
}

describe('a start', () => {
  test.each([
    ['ftp://host/files', "is 'ftp://host/files': allowed is file:///FOLDER"],
    ['s3://a', "'a' is no name of a bucket"],
    ['s3://files?endpoint=minio', "endpoint 'minio' must be as https://HOST"],
    ['s3://files?bucket=x', "'bucket' is none of endpoint, region, path_style"],
    ['s3://files?path_style=yes', "path_style is 'yes': allowed is 0 or 1"],
    ['s3://files/a%20b', "the prefix 'a%20b' may have letters"],
    ['s3://key:secret@files', "is 's3://…@files': credentials are not part of the URL"],
    ['file://host/files', 'write a folder as file:///srv'],
    ['file:///', 'name a folder'],
  ])('with %s says what is wrong, and exits 2', async (url, message) => {
    const folder = await folderWith([]);
    const { code, stderr } = await refused(folder, { GATEWAY_FILES_URL: url });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain('secret@');
    const flag = await folder.run(`start --files ${url}`);
    expect([flag.code, flag.stderr]).toEqual([2, expect.stringContaining('--files is')]);
  });

  test('without credentials, or with one in two places, says so and exits 2', async () => {
    const folder = await folderWith([]);
    const url = { GATEWAY_FILES_URL: s3().filesUrl() };
    const without = await refused(folder, { ...url, GATEWAY_FILES_SECRET_KEY: '' });
    expect([without.code, without.stderr]).toEqual([
      2,
      expect.stringContaining('GATEWAY_FILES_SECRET_KEY is not set'),
    ]);
    const twice = await refused(folder, { ...url, GATEWAY_FILES_SECRET_KEY_FILE: '/etc/hostname' });
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining('are both set')]);
  });

  test('without the bucket exits 3, and with a wrong secret 4', async () => {
    const folder = await folderWith([]);
    const missing = await refused(folder, { GATEWAY_FILES_URL: s3().filesUrl('no-such-bucket') });
    expect([missing.code, missing.stderr]).toEqual([
      3,
      expect.stringContaining('there is no bucket for s3://no-such-bucket'),
    ]);
    const url = { GATEWAY_FILES_URL: s3().filesUrl() };
    const wrong = await refused(folder, { ...url, GATEWAY_FILES_SECRET_KEY: 'guessed' });
    expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringContaining('signature')]);
    expect(wrong.stderr).not.toContain('guessed');
  });

  test('with a folder that is not mounted exits 3, and does not make it', async () => {
    const folder = await folderWith([]);
    const shared = join(await temporaryFolder(), 'missing');
    const { code, stderr } = await refused(folder, { GATEWAY_FILES_URL: `file://${shared}` });
    expect([code, stderr]).toEqual([3, expect.stringContaining(`there is no folder ${shared}`)]);
    expect(existsSync(shared)).toBe(false);
  });

  test('on a storage that is away exits 1 after its tries', async () => {
    const folder = await folderWith([]);
    const { kill, restart } = controlOf(s3());
    const url = { GATEWAY_FILES_URL: s3().filesUrl() };
    await kill();
    onTestFinished(restart);
    const { code, stderr } = await refused(folder, url);
    expect([code, stderr]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
  });

  test('where files are in the folder says how to copy them, and exits 2', async () => {
    const folder = await folderWith(['a']);
    const { code, stderr } = await refused(folder, { GATEWAY_FILES_URL: s3().filesUrl() });
    expect([code, stderr]).toEqual([2, expect.stringContaining('migrate --files s3://')]);
  });

  test('on the files of another gateway exits 2, before a sweep deletes them', async () => {
    const folder = await folderWith([]);
    const shared = await temporaryFolder();
    const files = new FolderStore(shared);
    const id = await put(files, 'of another gateway');
    const hoursAgo = Date.now() / 1_000 - 7_200;
    await utimes(files.path(id), hoursAgo, hoursAgo);
    const { code, stderr } = await refused(folder, { GATEWAY_FILES_URL: `file://${shared}` });
    expect([code, stderr]).toEqual([2, expect.stringContaining('another gateway')]);
    expect(await contentOf(files, id)).toEqual(Buffer.from('of another gateway'));
  });
});

describe('migrate --files', () => {
  test('copies to an object storage and back, and the folder knows where they are', async () => {
    const folder = await folderWith(['one', 'two', 'three']);
    const url = s3().filesUrl();
    const there = await folder.run(`migrate --files ${url} --json`);
    expect(there.code).toBe(0);
    const counts = { files: 3, bytes: 11, missing: [], damaged: [] };
    const local = join(folder.path, 'assets');
    expect(JSON.parse(there.stdout)).toEqual({ from: local, to: url, copied: 3, ...counts });
    expect(await listed(openByteStore(folder.path))).toHaveLength(3);
    const verified = await folder.run('asset verify --json', { GATEWAY_FILES_URL: url });
    expect(JSON.parse(verified.stdout)).toEqual({ checked: 3, faults: [] });
    const lost = await folder.run('asset verify');
    expect([lost.code, lost.stderr]).toEqual([2, expect.stringContaining(`its files in ${url}`)]);
    await rm(local, { recursive: true });
    const back = await folder.run('migrate --files local --json');
    expect(JSON.parse(back.stdout)).toEqual({ from: url, to: local, copied: 3, ...counts });
    expect((await folder.run('asset verify')).code).toBe(0);
    expect(existsSync(join(folder.path, 'files-url'))).toBe(false);
  });

  test('that is killed is continued, and sends no file twice', async () => {
    const folder = await folderWith(Array.from({ length: 40 }, (_, i) => `file ${i}`));
    const url = s3().filesUrl();
    const { fail, requests } = controlOf(s3());
    let arrived = 0;
    fail((request) => request.method === 'PUT' && ++arrived > 20);
    const args = ['migrate', '--files', url, '--data', folder.path];
    const copy = startProgram('gateway-coordinator', args, { env: s3().env });
    await until(() => arrived > 20);
    copy.child.kill('SIGKILL');
    await copy.finished;
    expect(existsSync(join(folder.path, 'files-url'))).toBe(false);
    fail(() => false);
    requests.splice(0);
    const { code, stdout } = await folder.run(`migrate --files ${url} --json`);
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as { files: number; copied: number };
    expect(report.files).toBe(40);
    expect(report.copied).toBeLessThan(40);
    // One is the file with which the storage is tried.
    const uploads = requests.filter((one) => one.startsWith('PUT'));
    expect(uploads).toHaveLength(report.copied + 1);
  });

  test('tells what is missing or damaged, copies the rest, and exits 9', async () => {
    const folder = await folderWith(['gone', 'damaged', 'whole']);
    const [gone, damaged] = folder.assets;
    const local = openByteStore(folder.path);
    await rm(local.path(gone?.id ?? ''));
    await writeFile(local.path(damaged?.id ?? ''), 'changed');
    const shared = await temporaryFolder();
    const { code, stdout, stderr } = await folder.run(`migrate --files file://${shared} --json`);
    expect(code).toBe(9);
    expect(stderr).toContain('2 files were not copied');
    expect(JSON.parse(stdout)).toMatchObject({
      files: 1,
      missing: [gone?.id],
      damaged: [damaged?.id],
    });
    expect(await listed(new FolderStore(shared))).toHaveLength(1);
  });

  test('replaces a file at the target that has other bytes', async () => {
    const folder = await folderWith(['right']);
    const shared = await temporaryFolder();
    const files = new FolderStore(shared);
    const id = folder.assets[0]?.id ?? '';
    await mkdir(join(shared, id.slice(0, 2)));
    await writeFile(files.path(id), 'wrong');
    expect((await folder.run(`migrate --files file://${shared}`)).code).toBe(0);
    expect(await contentOf(files, id)).toEqual(Buffer.from('right'));
  });

  test('waits for nobody: a coordinator that runs is exit 7, a wrong URL exit 2', async () => {
    const folder = await folderWith(['a']);
    expect((await folder.run('migrate --files somewhere')).code).toBe(2);
    const store = await openStore(folder.path);
    onTestFinished(() => store.close());
    expect((await folder.run(`migrate --files ${s3().filesUrl()}`)).code).toBe(7);
  });
});

test('the doctor tries the storage, and warns of a private folder beside PostgreSQL', async () => {
  const folder = await folderWith([]);
  const checkOf = async (env: Readonly<Record<string, string>>): Promise<unknown> => {
    const { stdout } = await folder.run('doctor --json', env);
    const checks = JSON.parse(stdout) as { name: string }[];
    return checks.find(({ name }) => name === 'files');
  };
  expect(await checkOf({})).toBeUndefined();
  const url = s3().filesUrl();
  expect(await checkOf({ GATEWAY_FILES_URL: url })).toMatchObject({ status: 'PASS' });
  const missing = { GATEWAY_FILES_URL: s3().filesUrl('no-such-bucket') };
  const fault = { status: 'FAIL', found: expect.stringContaining('there is no bucket') };
  expect(await checkOf(missing)).toMatchObject(fault);
  const postgres = { GATEWAY_DATABASE_URL: 'postgres://gateway@127.0.0.1:1/gateway' };
  const warning = { status: 'WARN', found: expect.stringContaining('a second coordinator') };
  expect(await checkOf(postgres)).toMatchObject(warning);
});

test('a backup has the files of the storage, and a restore puts them into the folder', async () => {
  const folder = await folderWith(['one', 'two']);
  const url = s3().filesUrl();
  await folder.run(`migrate --files ${url}`);
  await rm(join(folder.path, 'assets'), { recursive: true });
  const archive = join(await temporaryFolder(), 'gateway.tar');
  const env = { GATEWAY_FILES_URL: url };
  expect((await folder.run(`backup -o ${archive}`, env)).code).toBe(0);
  expect((await folder.run(`restore ${archive} --verify`)).code).toBe(0);
  expect((await folder.run(`restore ${archive} --yes`)).code).toBe(0);
  expect((await folder.run('asset verify')).code).toBe(0);
  expect(await readdir(folder.path)).not.toContain('files-url');
  const again = await folder.run(`migrate --files ${url} --json`);
  expect(JSON.parse(again.stdout)).toMatchObject({ files: 2, copied: 0 });
  expect(await readFile(join(folder.path, 'files-url'), 'utf8')).toBe(`${url}\n`);
});
