import { inspectStore, openStore } from '@inference-gateway/coordinator/store/open';
import {
  openDatabase,
  openForReading,
  schemaVersion,
} from '@inference-gateway/coordinator/store/sqlite/database';
import {
  migrate,
  newestSchemaVersion,
} from '@inference-gateway/coordinator/store/sqlite/migrations';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { existsSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { startScript } from './child-script.js';

const FIRST = 'create table notes (text text not null) strict; insert into notes values (1);';
const SECOND = 'alter table notes add column at integer not null default 0;';
/** Writes about 2 GB in its transaction; no test waits for its end. */
const ENDLESS = `create table blobs (data blob not null) strict;
  insert into blobs
  with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000)
  select randomblob(1000) from n;`;

test('a new store has the newest schema and needs no backup', async () => {
  const folder = await temporaryFolder();
  await (await openStore(folder)).close();
  expect(inspectStore(folder).schemaVersion).toBe(newestSchemaVersion());
  expect((await readdir(folder)).filter((file) => file.includes('backup'))).toEqual([]);
});

test('migrations run once each, in order, and leave a backup of what was there', async () => {
  const { file, open, migrations } = await project({ '0001_notes.sql': FIRST });
  migrate(open(), migrations);
  await writeFile(join(migrations, '0002_times.sql'), SECOND);
  migrate(open(), migrations);
  migrate(open(), migrations);
  expect(open().prepare('select * from notes').all()).toEqual([{ text: '1', at: 0 }]);
  const backup = openForReading(`${file}.schema-1.backup`);
  onTestFinished(() => void backup.close());
  expect(schemaVersion(backup)).toBe(1);
  expect(backup.prepare('select * from notes').all()).toEqual([{ text: '1' }]);
});

test('a migration that fails leaves everything as it was, and can be tried again', async () => {
  const { file, open, migrations } = await project({
    '0001_notes.sql': FIRST,
    '0002_times.sql': `${SECOND} insert into nowhere values (1);`,
  });
  for (let i = 0; i < 2; i++) {
    expect(() => migrate(open(), migrations)).toThrow('nowhere');
    expect(schemaVersion(open())).toBe(1);
    expect(open().prepare('select * from notes').all()).toEqual([{ text: '1' }]);
  }
  await writeFile(join(migrations, '0002_times.sql'), SECOND);
  migrate(open(), migrations);
  expect(schemaVersion(open())).toBe(2);
  expect(existsSync(`${file}.schema-1.backup`)).toBe(true);
});

test('a migration that is killed has not happened', async () => {
  const { file, open, migrations } = await project({ '0001_notes.sql': FIRST });
  migrate(open(), migrations);
  await writeFile(join(migrations, '0002_blobs.sql'), ENDLESS);
  const migrating = startScript('migrate.js', [file, migrations]);
  const walBytes = async (): Promise<number> => (await stat(`${file}-wal`)).size;
  await until(async () => (await walBytes()) > 8 * 1024 * 1024, { timeoutMs: 15_000 });
  await migrating.kill();
  const database = open();
  expect(schemaVersion(database)).toBe(1);
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(database.prepare('select name from sqlite_master').pluck().all()).toEqual(['notes']);
});

test('a schema newer than the program is refused with its own exit code', async () => {
  const folder = await temporaryFolder();
  await (await openStore(folder)).close();
  const database = openDatabase(join(folder, 'gateway.db'));
  database.pragma('user_version = 99');
  database.close();
  await expect(openStore(folder)).rejects.toMatchObject({
    exitCode: EXIT.schemaNewer,
    message: expect.stringContaining('schema 99'),
  });
});

test('a gap in the numbers is a fault of the program', async () => {
  const { open, migrations } = await project({ '0001_notes.sql': FIRST, '0003_times.sql': SECOND });
  expect(() => migrate(open(), migrations)).toThrow('0003_times.sql is not migration 2');
});

interface Project {
  readonly file: string;
  readonly migrations: string;
  /** A connection that the test need not close. */
  readonly open: () => ReturnType<typeof openDatabase>;
}

async function project(files: Readonly<Record<string, string>>): Promise<Project> {
  const folder = await temporaryFolder();
  const migrations = join(folder, 'migrations');
  await mkdir(migrations);
  for (const [name, sql] of Object.entries(files)) await writeFile(join(migrations, name), sql);
  const file = join(folder, 'test.db');
  const open = (): ReturnType<typeof openDatabase> => {
    const database = openDatabase(file);
    onTestFinished(() => void database.close());
    return database;
  };
  return { file, migrations, open };
}
