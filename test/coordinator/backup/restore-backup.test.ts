import { createAdminAssets } from '@inference-gateway/coordinator/assets/admin-assets';
import { openByteStore } from '@inference-gateway/coordinator/assets/folder-store';
import { restoreBackup } from '@inference-gateway/coordinator/backup/restore-backup';
import type { RestoreRequest } from '@inference-gateway/coordinator/backup/restore-backup';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { mkdir, readFile, readdir, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow } from '../../support/open-library.js';
import { NEVER, archiveOf, change, sample } from './archives.js';
import type { Sample } from './archives.js';

type Options = Partial<RestoreRequest>;

function restore(file: string, dataDir: string, options: Options = {}) {
  const usual = { replace: false, partial: false, signal: NEVER };
  return restoreBackup({ file, dataDir, ...usual, ...options });
}

/** A backup, and a path for a new data folder inside an empty folder. */
async function prepared(): Promise<Sample & { file: string; parent: string; place: string }> {
  const made = await sample();
  const parent = join(made.folder, 'restored');
  await mkdir(parent);
  return { ...made, file: await made.backUp(), parent, place: join(parent, 'data') };
}

test('a new folder holds all that was backed up, and only its owner can read it', async () => {
  const { file, parent, place, assets, files } = await prepared();
  const outcome = await restore(file, place);
  expect(outcome).toMatchObject({ restored: true, movedTo: null, report: { faults: [] } });
  expect(await readdir(parent)).toEqual(['data']);
  expect((await stat(place)).mode & 0o777).toBe(0o700);
  const store = await openStore(place);
  try {
    expect(await createAdminAssets(() => openByteStore(place), store).verify(Date.now())).toEqual({
      checked: 3,
      faults: [],
    });
    expect((await store.findMember('ben@example.org'))?.name).toBe('ben');
  } finally {
    await store.close();
  }
  for (const { id } of assets) {
    const path = join(place, 'assets', id.slice(0, 2), id);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path)).toEqual(await readFile(files.path(id)));
  }
});

test('an empty folder is used, also where only a lock was in it', async () => {
  const { file, parent, place } = await prepared();
  await mkdir(place);
  await writeFile(join(place, 'lock.db'), '');
  expect(await restore(file, place)).toMatchObject({ restored: true, movedTo: null });
  expect(await readdir(parent)).toEqual(['data']);
});

test('folders above a new one are made', async () => {
  const { file, parent } = await prepared();
  const deep = join(parent, 'a', 'b', 'data');
  expect(await restore(file, deep)).toMatchObject({ restored: true });
  expect(await readdir(deep)).toContain('gateway.db');
});

test('a folder with data is left alone, and moved aside when asked for', async () => {
  const { file, parent, place } = await prepared();
  await restore(file, place);
  await (await openStore(place)).close();
  await writeFile(join(place, 'mine'), 'precious');
  await expect(restore(file, place)).rejects.toMatchObject({ exitCode: EXIT.usage });
  expect(await readdir(parent)).toEqual(['data']);
  const { movedTo } = await restore(file, place, { replace: true });
  expect(movedTo).toMatch(/data\.before-restore-\d{4}-/);
  expect(await readFile(join(movedTo ?? '', 'mine'), 'utf8')).toBe('precious');
  expect(await readdir(movedTo ?? '')).toContain('gateway.db');
  expect(await readdir(place)).not.toContain('mine');
});

test("somebody else's folder gets no lock file, and a file is no folder", async () => {
  const { file, place } = await prepared();
  await mkdir(place, { mode: 0o700 });
  await writeFile(join(place, 'letter'), 'Dear …');
  await expect(restore(file, place)).rejects.toMatchObject({ exitCode: EXIT.usage });
  expect(await readdir(place)).toEqual(['letter']);
  const inFile = restore(file, join(place, 'letter'));
  await expect(inFile).rejects.toMatchObject({ exitCode: EXIT.usage });
});

test('a folder that a coordinator has is refused, whatever was asked for', async () => {
  const { file, dataDir } = await prepared();
  for (const replace of [false, true]) {
    const refused = restore(file, dataDir, { replace });
    await expect(refused).rejects.toMatchObject({ exitCode: EXIT.conflict });
  }
});

test('behind a link, the folder is exchanged and the link stays', async () => {
  const { file, parent, place } = await prepared();
  await mkdir(join(parent, 'real'), { mode: 0o700 });
  await symlink(join(parent, 'real'), place);
  await restore(file, place);
  expect(await readdir(join(parent, 'real'))).toContain('gateway.db');
  expect((await readdir(parent)).toSorted()).toEqual(['data', 'real']);
});

test('nothing is touched where the backup is missing, cut off or hostile', async () => {
  const { file, parent, place } = await prepared();
  await restore(file, place);
  const before = await stat(place);
  const missing = restore(join(parent, 'nothing.tar'), place, { replace: true });
  await expect(missing).rejects.toMatchObject({ exitCode: EXIT.notFound });
  const evil = await archiveOf(`${file}.evil.tar`, [{ path: '../../evil' }]);
  await expect(restore(evil, place, { replace: true })).rejects.toThrow('no backup');
  await truncate(file, (await stat(file)).size - 2_000);
  await expect(restore(file, place, { replace: true })).rejects.toThrow('damaged');
  const newPlace = join(parent, 'new');
  await expect(restore(file, newPlace)).rejects.toThrow('damaged');
  expect(await readdir(parent)).toEqual(['data']);
  expect((await stat(place)).ino).toBe(before.ino);
});

test('a backup with faulty assets is restored only when asked for, and without them', async () => {
  const { file, parent, place, assets } = await prepared();
  const [lost, changed, kept] = assets.map(({ id }) => id);
  const faulty = await change(file, (entries) =>
    entries
      .filter((entry) => entry.path !== assetPath(lost))
      .map((entry) =>
        entry.path === assetPath(changed) ? { ...entry, bytes: Buffer.from('TWO') } : entry,
      ),
  );
  expect(await restore(faulty, place)).toMatchObject({ restored: false });
  expect(await readdir(parent)).toEqual([]);
  const { restored, report } = await restore(faulty, place, { partial: true });
  expect({ restored, faults: report.faults.length }).toEqual({ restored: true, faults: 3 });
  expect(await filesBelow(place)).toEqual([kept]);
});

test('a damaged database is never restored', async () => {
  const { file, parent, place } = await prepared();
  const faulty = await change(file, ([first, ...others]) => {
    const bytes = Buffer.from(first?.bytes ?? []);
    bytes.fill(0xff, 5_000, 6_000);
    return [{ path: 'gateway.db', bytes }, ...others];
  });
  const { restored, report } = await restore(faulty, place, { partial: true });
  expect({ restored, file: report.faults[0]?.file }).toEqual({
    restored: false,
    file: 'gateway.db',
  });
  expect(await readdir(parent)).toEqual([]);
});

test('an interrupted restore leaves nothing', async () => {
  const { file, parent, place } = await prepared();
  const stop = new AbortController();
  setImmediate(() => stop.abort(new Error('stopped')));
  await expect(restore(file, place, { signal: stop.signal })).rejects.toThrow('stopped');
  expect(await readdir(parent)).toEqual([]);
});

function assetPath(id = ''): string {
  return `assets/${id.slice(0, 2)}/${id}`;
}
