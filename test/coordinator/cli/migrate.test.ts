import { openStore } from '@inference-gateway/coordinator/store/open';
import { migrationNames } from '@inference-gateway/coordinator/store/migration-files';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import {
  migrate,
  newestSchemaVersion,
} from '@inference-gateway/coordinator/store/sqlite/migrations';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';

const MIGRATIONS = fileURLToPath(
  new URL('../../../packages/coordinator/migrations/sqlite', import.meta.url),
);
const NEWEST = newestSchemaVersion();
const LAST = migrationNames(MIGRATIONS).at(-1);

test('a database that is up to date has nothing pending, also while it is in use', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  onTestFinished(() => store.close());
  const { code, stdout } = await folder.run('migrate --status --json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    schema_version: NEWEST,
    newest: NEWEST,
    pending: [],
    backups: [],
  });
  expect((await folder.alone('migrate')).code).toBe(7);
});

test('an older one has migrations pending, which migrate applies after a copy', async () => {
  const folder = await olderFolder();
  const status = await folder.run('migrate --status --json');
  expect(status.code).toBe(9);
  expect(status.stderr).toContain('1 migration is pending');
  expect(JSON.parse(status.stdout)).toEqual({
    schema_version: NEWEST - 1,
    newest: NEWEST,
    pending: [LAST],
    backups: [],
  });
  const copy = `gateway.db.schema-${NEWEST - 1}.backup`;
  const applied = { schema_version: NEWEST, applied: [LAST], backups: [copy] };
  expect(await folder.json('migrate')).toEqual(applied);
  expect(await readdir(folder.path)).toContain(copy);
  expect(await folder.json('migrate')).toEqual({ ...applied, applied: [] });
  expect((await folder.run('migrate --status')).code).toBe(0);
});

test('copies of older schemas are listed in their order', async () => {
  const folder = await dataFolder();
  await (await openStore(folder.path)).close();
  const names = [2, 10, 9].map((version) => `gateway.db.schema-${version}.backup`);
  for (const name of [...names, 'gateway.db.schema-1.backup.unfinished']) {
    await writeFile(join(folder.path, name), '');
  }
  const { backups } = (await folder.json('migrate --status')) as { backups: string[] };
  expect(backups).toEqual([names[0], names[2], names[1]]);
});

test('a newer database is told as such and left alone', async () => {
  const folder = await dataFolder();
  await (await openStore(folder.path)).close();
  const database = openDatabase(join(folder.path, 'gateway.db'));
  database.pragma('user_version = 99');
  database.close();
  const { code, stdout } = await folder.run('migrate --status --json');
  expect(code).toBe(10);
  expect(JSON.parse(stdout)).toMatchObject({ schema_version: 99, pending: [] });
  expect((await folder.alone('migrate')).code).toBe(10);
});

test('a folder without data, and a file that is no database, are told', async () => {
  const folder = await dataFolder();
  for (const command of ['migrate', 'migrate --status']) {
    expect((await folder.run(command)).code).toBe(3);
  }
  await mkdir(folder.path, { mode: 0o700 });
  await writeFile(join(folder.path, 'gateway.db'), 'x'.repeat(5_000));
  const { code, stderr } = await folder.run('migrate --status');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: cannot read the database in .*\n$/);
});

/** A data folder without the last migration. */
async function olderFolder(): Promise<DataFolder> {
  const [folder, older] = [await dataFolder(), await temporaryFolder()];
  for (const name of migrationNames(MIGRATIONS).slice(0, -1)) {
    await copyFile(join(MIGRATIONS, name), join(older, name));
  }
  await mkdir(folder.path, { mode: 0o700 });
  const database = openDatabase(join(folder.path, 'gateway.db'));
  migrate(database, older);
  database.close();
  return folder;
}
