import { createAdminAssets } from '@inference-gateway/coordinator/assets/admin-assets';
import { appendFile, rm, utimes, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { DAY_MS, factsOf, filesBelow, keepBytes, openLibrary } from '../../support/open-library.js';
import type { OpenLibrary } from '../../support/open-library.js';

const TWO_HOURS_MS = 7_200_000;

async function orphan({ files }: OpenLibrary, bytes: number): Promise<string> {
  const draft = files.draft();
  await draft.write(Buffer.alloc(bytes));
  await draft.commit();
  const then = (Date.now() - TWO_HOURS_MS) / 1000;
  await utimes(files.path(draft.id), then, then);
  return draft.id;
}

test('a folder in order has no faults', async () => {
  const open = await openLibrary();
  await keepBytes(open, factsOf(open.anna), 'one');
  await keepBytes(open, factsOf(open.ben), 'two');
  const admin = createAdminAssets(() => open.files, open.store);
  expect(await admin.verify(Date.now())).toEqual({ checked: 2, faults: [] });
});

test('an empty folder, and none at all, have nothing to check', async () => {
  const open = await openLibrary();
  const admin = createAdminAssets(() => open.files, open.store);
  expect(await admin.verify(Date.now())).toEqual({ checked: 0, faults: [] });
  expect(await admin.prune(Date.now(), false)).toEqual({ expired: 0, orphans: 0, bytes: 0 });
});

test('what is missing, cut off, changed or without a row is told by its id', async () => {
  const open = await openLibrary();
  const assets: string[] = [];
  for (const bytes of ['whole', 'missing', 'longer', 'changed']) {
    assets.push((await keepBytes(open, factsOf(open.anna), bytes)).id);
  }
  const [, missing = '', longer = '', changed = ''] = assets;
  await rm(open.files.path(missing));
  await appendFile(open.files.path(longer), '!');
  await writeFile(open.files.path(changed), 'CHANGED');
  const lost = await orphan(open, 5);
  const { checked, faults } = await createAdminAssets(() => open.files, open.store).verify(
    Date.now(),
  );
  expect(checked).toBe(4);
  const told = new Map(faults.map(({ id, fault, detail }) => [id, `${fault}: ${detail}`]));
  expect(told.size).toBe(4);
  expect(told.get(missing)).toMatch(/^missing: no file at/);
  expect(told.get(longer)).toBe('damaged: 7 bytes instead of 6');
  expect(told.get(changed)).toMatch(/^damaged: SHA-256 [0-9a-f]{64} instead of [0-9a-f]{64}$/);
  expect(told.get(lost)).toBe('orphan: 5 bytes that no row names');
});

test('more than one page of rows is checked', async () => {
  const open = await openLibrary();
  const makeTen = () =>
    Promise.all(Array.from({ length: 10 }, () => keepBytes(open, factsOf(open.anna), 'x')));
  for (let i = 0; i < 51; i++) await makeTen();
  const admin = createAdminAssets(() => open.files, open.store);
  expect(await admin.verify(Date.now())).toEqual({ checked: 510, faults: [] });
});

test('pruning counts what it would delete, deletes as much, and then finds nothing', async () => {
  const open = await openLibrary();
  await keepBytes(open, factsOf(open.anna), Buffer.alloc(100));
  await keepBytes(open, factsOf(open.anna), Buffer.alloc(10));
  await orphan(open, 1_000);
  const admin = createAdminAssets(() => open.files, open.store);
  const now = Date.now() + DAY_MS;
  const report = { expired: 2, orphans: 1, bytes: 1_110 };
  expect(await admin.prune(now, true)).toEqual(report);
  expect(await filesBelow(open.dataDir)).toHaveLength(3);
  expect(await admin.prune(now, false)).toEqual(report);
  expect(await filesBelow(open.dataDir)).toEqual([]);
  expect(await admin.prune(now, false)).toEqual({ expired: 0, orphans: 0, bytes: 0 });
});

test('pruning leaves alone what has not expired and what may be about to get its row', async () => {
  const open = await openLibrary();
  await keepBytes(open, factsOf(open.anna), 'kept');
  const young = open.files.draft();
  await young.write(Buffer.from('x'));
  await young.commit();
  const admin = createAdminAssets(() => open.files, open.store);
  expect(await admin.prune(Date.now(), false)).toEqual({ expired: 0, orphans: 0, bytes: 0 });
  expect(await filesBelow(open.dataDir)).toHaveLength(2);
});
