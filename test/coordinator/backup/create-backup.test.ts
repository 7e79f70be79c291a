import { FolderStore, assetsFolder } from '@inference-gateway/coordinator/assets/folder-store';
import { verifyBackup } from '@inference-gateway/coordinator/backup/examine-backup';
import { writeArchive } from '@inference-gateway/coordinator/backup/write-archive';
import { newestSchemaVersion } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NEVER, back, entriesOf, sample } from './archives.js';

test('an archive holds the database, then every asset, then the manifest', async () => {
  const { assets, backUp, files } = await sample();
  const file = await backUp();
  const entries = await entriesOf(file);
  const places = assets.map(({ id }) => `assets/${id.slice(0, 2)}/${id}`);
  expect(entries[0]?.path).toBe('gateway.db');
  expect(entries.at(-1)?.path).toBe('manifest.json');
  expect(
    entries
      .slice(1, -1)
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(places.toSorted());
  for (const { path, bytes } of entries.slice(1, -1)) {
    expect(bytes).toEqual(await readFile(files.path(path.slice(-22))));
  }
  expect(JSON.parse(String(entries.at(-1)?.bytes))).toEqual({
    format: 1,
    version: '1.2.3',
    schema_version: newestSchemaVersion(),
    created_at: expect.closeTo(Date.now(), -5),
    database: { bytes: entries[0]?.bytes?.length, sha256: sha256(entries[0]?.bytes) },
    assets: { count: 3, bytes: 700_006 },
    deleted: [],
  });
});

test('only its owner can read it, and nothing else is left', async () => {
  const { folder, backUp } = await sample();
  const file = await backUp();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['gateway.tar']);
});

test.each(['gateway.tar.gz', 'gateway.tgz'])('%s is compressed', async (name) => {
  const { backUp } = await sample();
  const file = await backUp(name);
  expect((await readFile(file)).readUInt16BE(0)).toBe(0x1f8b);
  expect((await stat(file)).size).toBeLessThan(100_000);
  expect(await entriesOf(file)).toHaveLength(5);
  expect((await verifyBackup(file, NEVER)).faults).toEqual([]);
});

test('drafts, uploads, locks and sockets stay out of it', async () => {
  const { dataDir, library, backUp } = await sample();
  const draft = library.draft();
  await draft.write(Buffer.from('unfinished'));
  onTestFinished(() => draft.discard());
  await mkdir(join(dataDir, 'uploads'));
  await writeFile(join(dataDir, 'uploads', 'one'), 'a question');
  await writeFile(join(dataDir, 'assets', 'notes.txt'), 'not ours');
  expect(await readdir(dataDir)).toContain('lock.db');
  expect(await entriesOf(await backUp())).toHaveLength(5);
});

test('what is committed and not yet checkpointed is in it, and the writer goes on', async () => {
  const { dataDir, store, backUp } = await sample();
  expect((await stat(join(dataDir, 'gateway.db-wal'))).size).toBeGreaterThan(0);
  const late = { email: 'late@example.org', name: 'late', passwordHash: null } as const;
  await store.createMember({ ...late, role: 'member' }, Date.now());
  const writes = Array.from({ length: 50 }, (_, i) =>
    store.createMember({ ...late, role: 'member', email: `${i}@x.org`, name: `m${i}` }, 1),
  );
  const [database] = await entriesOf(await backUp());
  await Promise.all(writes);
  expect(database?.bytes?.includes('late@example.org')).toBe(true);
});

test('an asset that is deleted during the backup is told apart from a lost one', async () => {
  const { dataDir, files, library, assets, anna, folder } = await sample();
  const [kept, deleted, lost] = await archiveOrder(files);
  await rm(files.path(lost));
  const output = join(folder, 'gateway.tar');
  let asset = 0;
  const outcome = await back({
    dataDir,
    output,
    // The first asset is archived by now; the deletion ends long before the next folder is listed.
    onAsset: () => {
      asset += 1;
      if (asset === 1) removeNow(deleted);
    },
  });
  function removeNow(id: string): void {
    void library.remove(id, anna);
  }
  expect(assets.map(({ id }) => id).toSorted()).toEqual([kept, deleted, lost].toSorted());
  expect(outcome).toMatchObject({ missing: 1 });
  const { faults } = await verifyBackup(output, NEVER);
  expect(faults).toEqual([
    { file: expect.stringContaining(lost), fault: 'missing', detail: expect.any(String) },
  ]);
});

test('a file that goes between the list and its turn is skipped and counted', async () => {
  const { dataDir, files, assets, folder, store } = await sample();
  const [first, gone] = await archiveOrder(files);
  const bytesOf = new Map(assets.map(({ id, bytes }) => [id, bytes]));
  class Listed extends FolderStore {
    override async *list(): AsyncIterable<{ id: string; bytes: number; modifiedAt: number }> {
      for (const id of [first, gone]) yield { id, bytes: bytesOf.get(id) ?? 0, modifiedAt: 0 };
    }
  }
  await store.deleteAsset(gone, null);
  await rm(files.path(gone));
  const database = await open(join(folder, 'copy'), 'w+');
  onTestFinished(() => database.close());
  const archive = writeArchive({
    database,
    copy: { schemaVersion: 2, assetIds: new Set([first, gone]) },
    files: new Listed(assetsFolder(dataDir)),
    version: '1',
    createdAt: 0,
    stillStored: () => [],
    onAsset: () => {},
  });
  let step = await archive.next();
  while (step.done !== true) step = await archive.next();
  expect(step.value).toMatchObject({ skipped: 1, missing: 0, manifest: { deleted: [gone] } });
  expect(step.value.manifest.assets.count).toBe(1);
  expect(assets).toHaveLength(3);
});

test('an interrupted backup leaves nothing, and an older one as it was', async () => {
  const { dataDir, folder, backUp } = await sample();
  const output = await backUp();
  const before = await readFile(output);
  const stop = new AbortController();
  const reason = new Error('stopped');
  const interrupted = back({
    dataDir,
    output,
    onAsset: () => stop.abort(reason),
    signal: stop.signal,
  });
  await expect(interrupted).rejects.toBe(reason);
  expect(await readdir(folder)).toEqual(['gateway.tar']);
  expect(await readFile(output)).toEqual(before);
});

test('what a killed backup left is replaced', async () => {
  const { folder, backUp } = await sample();
  for (const name of ['gateway.tar.unfinished', 'gateway.tar.db.unfinished']) {
    await writeFile(join(folder, name), 'half of it');
  }
  const file = await backUp();
  expect(await readdir(folder)).toEqual(['gateway.tar']);
  expect((await verifyBackup(file, NEVER)).faults).toEqual([]);
});

test('of two backups to one file at once, the one that came second is whole', async () => {
  const { dataDir, folder } = await sample();
  const output = join(folder, 'gateway.tar');
  const second: Promise<unknown>[] = [];
  const onAsset = (): void => {
    if (second.length === 0) second.push(back({ dataDir, output }));
  };
  const first = back({ dataDir, output, onAsset });
  await expect(first).rejects.toMatchObject({ exitCode: EXIT.conflict });
  await Promise.all(second);
  expect(second).toHaveLength(1);
  expect((await verifyBackup(output, NEVER)).faults).toEqual([]);
  expect(await readdir(folder)).toEqual(['gateway.tar']);
});

test('a folder that is missing, or that is named as the file, is told', async () => {
  const { dataDir, folder } = await sample();
  await expect(back({ dataDir, output: folder })).rejects.toMatchObject({ exitCode: EXIT.usage });
  const nowhere = join(folder, 'nowhere', 'gateway.tar');
  await expect(back({ dataDir, output: nowhere })).rejects.toMatchObject({
    exitCode: EXIT.failure,
    message: expect.stringContaining(`cannot write to ${nowhere}`),
  });
});

/** The assets in the order in which a backup reads them. */
async function archiveOrder(files: FolderStore): Promise<[string, string, string]> {
  const ids: string[] = [];
  for await (const { id } of files.list()) ids.push(id);
  const [first = '', second = '', third = ''] = ids;
  return [first, second, third];
}

function sha256(bytes: Buffer = Buffer.alloc(0)): string {
  return createHash('sha256').update(bytes).digest('hex');
}
