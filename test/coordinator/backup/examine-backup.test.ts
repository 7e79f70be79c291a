import { verifyBackup } from '@inference-gateway/coordinator/backup/examine-backup';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { createHash } from 'node:crypto';
import { readFile, readdir, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { NEVER, archiveOf, change, sample, withManifest } from './archives.js';
import type { Entry } from './archives.js';

const DAMAGED = { exitCode: EXIT.checkFailed };

function verify(file: string) {
  return verifyBackup(file, NEVER);
}

test('a whole backup has no faults', async () => {
  const { backUp } = await sample();
  expect(await verify(await backUp())).toMatchObject({
    version: '1.2.3',
    assets: 3,
    asset_bytes: 700_006,
    deleted: 0,
    faults: [],
  });
});

test.each(['gateway.tar', 'gateway.tgz'])('%s is refused wherever it was cut off', async (name) => {
  const { backUp } = await sample();
  const file = await backUp(name);
  const { length } = await readFile(file);
  // The last 1,024 bytes of a tar are empty, so each cut removes more than these.
  const cuts = [0.97, 0.7, 0.4, 0.1, 0.001, 0].map((part) => Math.floor(length * part));
  for (const cut of cuts) {
    await truncate(file, cut);
    await expect(verify(file), `cut to ${cut} of ${length}`).rejects.toMatchObject(DAMAGED);
  }
});

test('a byte that has changed is found in the database, in an asset and in a header', async () => {
  const { backUp } = await sample();
  const [first] = await faultsOf(await flip(await backUp(), 'gateway.db'));
  expect(first).toMatchObject({ file: 'gateway.db', fault: 'damaged' });
  const [second, ...others] = await faultsOf(await flip(await backUp(), 'assets/'));
  expect(second).toMatchObject({
    file: expect.stringMatching(/^assets\//),
    fault: 'damaged',
    detail: expect.stringMatching(/^SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64}$/),
  });
  expect(others).toEqual([]);
  const file = await backUp();
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill(0x31, 20, 21));
  await expect(verify(file)).rejects.toMatchObject(DAMAGED);
});

test('a byte that has changed in a compressed one is found', async () => {
  const { backUp } = await sample();
  const file = await backUp('gateway.tgz');
  const bytes = await readFile(file);
  bytes[bytes.length - 6] = (bytes.at(-6) ?? 0) ^ 1;
  await writeFile(file, bytes);
  await expect(verify(file)).rejects.toMatchObject(DAMAGED);
});

test('rows without their file, shorter files and files too few are named', async () => {
  const { assets, backUp } = await sample();
  const [one, two] = assets.map(({ id }) => `assets/${id.slice(0, 2)}/${id}`);
  const file = await change(await backUp(), (entries) =>
    entries
      .filter(({ path }) => path !== one)
      .map((entry) => (entry.path === two ? { path: two, bytes: Buffer.from('tw') } : entry)),
  );
  expect((await faultsOf(file)).toSorted((a, b) => (a.detail < b.detail ? -1 : 1))).toEqual([
    { file: two, fault: 'damaged', detail: '2 bytes instead of 3' },
    { file: one, fault: 'missing', detail: '3 bytes that the database has a row of' },
    {
      file: 'manifest.json',
      fault: 'damaged',
      detail: 'it counts 3 assets, the archive holds 2',
    },
  ]);
});

test('an asset that was deleted while the backup was made is no fault', async () => {
  const { assets, backUp } = await sample();
  const id = assets[0]?.id ?? '';
  const file = await change(await backUp(), (entries) =>
    withManifest({ deleted: [id], assets: { count: 2, bytes: 700_003 } })(
      entries.filter(({ path }) => !path.endsWith(id)),
    ),
  );
  expect(await verify(file)).toMatchObject({ assets: 2, deleted: 1, faults: [] });
});

const ID = 'a'.repeat(22);

test.each<[string, Entry]>([
  ['a way out', { path: '../evil' }],
  ['a way out below assets', { path: `assets/../../${ID}` }],
  ['an absolute path', { path: '/etc/passwd' }],
  ['another name', { path: 'gateway.db-wal' }],
  ['a name of many folders', { path: `assets/${'a/'.repeat(30)}${ID}` }],
  ['an asset in the wrong folder', { path: `assets/bb/${ID}` }],
  ['a name in a dot folder', { path: './manifest.json' }],
  ['a symbolic link', { path: `assets/aa/${ID}`, type: 'SymbolicLink', linkpath: '/etc' }],
  ['a hard link', { path: `assets/aa/${ID}`, type: 'Link', linkpath: 'gateway.db' }],
  ['a folder', { path: 'assets/', type: 'Directory' }],
  ['a pipe', { path: `assets/aa/${ID}`, type: 'FIFO' }],
  ['an asset larger than any', { path: `assets/aa/${ID}`, size: 2 * 1024 ** 3 }],
  ['a database larger than any', { path: 'gateway.db', size: 2 * 1024 ** 4 }],
  ['a manifest larger than any', { path: 'manifest.json', size: 5 * 1024 ** 2 }],
])('an archive with %s is refused', async (_what, entry) => {
  const folder = await temporaryFolder();
  const file = await archiveOf(join(folder, 'evil.tar'), [entry]);
  await expect(verify(file)).rejects.toMatchObject({
    ...DAMAGED,
    message: expect.stringMatching(/which no backup does|is no file but a|more than the/),
  });
});

test('an entry that comes twice is refused', async () => {
  const { backUp } = await sample();
  for (const index of [0, 1]) {
    const file = await change(await backUp(), (all) => [...all, ...all.slice(index, index + 1)]);
    await expect(verify(file)).rejects.toThrow('twice');
  }
});

test('an archive without a manifest or without a database is refused', async () => {
  const { backUp } = await sample();
  const headless = await change(await backUp(), without('manifest.json'));
  await expect(verify(headless)).rejects.toThrow('its end is missing');
  const empty = await change(await backUp(), without('gateway.db'));
  await expect(verify(empty)).rejects.toThrow('it holds no database');
});

test.each([
  ['no JSON', [Buffer.from('{')]],
  ['a field of another type', [Buffer.from('{"format":1,"version":2}')]],
])('a manifest that is %s is refused', async (_what, [bytes = Buffer.alloc(0)]) => {
  const { backUp } = await sample();
  const file = await change(await backUp(), (all) => [
    ...all.slice(0, -1),
    { path: 'manifest.json', bytes },
  ]);
  await expect(verify(file)).rejects.toMatchObject(DAMAGED);
});

test('a newer format and a newer schema are told as such', async () => {
  const { folder, backUp } = await sample();
  const newer = await change(await backUp(), withManifest({ format: 2 }));
  await expect(verify(newer)).rejects.toMatchObject({ exitCode: EXIT.schemaNewer });
  const database = openDatabase(join(folder, 'other.db'));
  database.pragma('journal_mode = delete');
  database.exec('create table x (a)');
  database.pragma('user_version = 99');
  database.close();
  const file = await withDatabase(await backUp(), await readFile(join(folder, 'other.db')));
  await expect(verify(file)).rejects.toMatchObject({
    exitCode: EXIT.schemaNewer,
    message: expect.stringContaining('schema 99'),
  });
});

test('a database that is none, or a damaged one, is a fault', async () => {
  const { backUp } = await sample();
  const file = await withDatabase(await backUp(), Buffer.from('x'.repeat(5_000)));
  expect(await faultsOf(file)).toMatchObject([{ file: 'gateway.db', fault: 'damaged' }]);
});

test('what is no archive at all, and what is not there, are told', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'letter.txt');
  await writeFile(file, 'Dear reader, '.repeat(1_000));
  await expect(verify(file)).rejects.toMatchObject(DAMAGED);
  await expect(verify(join(folder, 'nothing.tar'))).rejects.toMatchObject({
    exitCode: EXIT.notFound,
  });
});

test('a verification that is interrupted ends, and none leaves a copy behind', async () => {
  const { backUp } = await sample();
  const file = await backUp();
  const before = (await readdir(tmpdir())).filter((name) => name.startsWith('gateway-verify-'));
  const reason = new Error('stopped');
  await expect(verifyBackup(file, AbortSignal.abort(reason))).rejects.toThrow('stopped');
  const stop = new AbortController();
  const running = verifyBackup(file, stop.signal);
  setImmediate(() => stop.abort(reason));
  await running.catch((error: Error) => expect(error.message).toContain('stopped'));
  const after = (await readdir(tmpdir())).filter((name) => name.startsWith('gateway-verify-'));
  expect(after.filter((name) => !before.includes(name))).toEqual([]);
});

/** All entries but one. */
function without(name: string): (entries: Entry[]) => Entry[] {
  return (entries) => entries.filter(({ path }) => path !== name);
}

async function faultsOf(file: string) {
  return (await verify(file)).faults;
}

/** Changes a byte in the middle of the first entry of this name. */
async function flip(file: string, start: string): Promise<string> {
  let done = false;
  return change(file, (entries) =>
    entries.map((entry) => {
      if (done || !entry.path.startsWith(start)) return entry;
      done = true;
      const bytes = Buffer.from(entry.bytes ?? []);
      const middle = Math.floor(bytes.length / 2);
      bytes[middle] = (bytes[middle] ?? 0) ^ 1;
      return { ...entry, bytes };
    }),
  );
}

/** Replaces the database, and its size and hash in the manifest. */
async function withDatabase(file: string, bytes: Buffer): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return change(file, (entries) =>
    withManifest({ database: { bytes: bytes.length, sha256 } })(
      entries.map((entry) => (entry.path === 'gateway.db' ? { ...entry, bytes } : entry)),
    ),
  );
}
