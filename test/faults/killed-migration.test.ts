import {
  openDatabase,
  openForReading,
  schemaVersion,
} from '@inference-gateway/coordinator/store/sqlite/database';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { appendFile, copyFile, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startScript } from '../store/child-script.js';
import { ANNA, MIGRATIONS, secondSchema } from '../store/second-schema.js';
import { runProgram, startProgram } from '../support/program.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/** Follows what the third migration does: far more than a test lets it. */
const ENDLESS = `
  create table blobs (data blob not null) strict;
  insert into blobs
  with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000)
  select randomblob(1000) from n;`;
const JOBS = '0003_jobs.sql';

test('the migration to jobs, killed, has not happened, and happens at the next start', async () => {
  const dataDir = await secondSchema();
  const file = join(dataDir, 'gateway.db');
  const migrating = startScript('migrate.js', [file, await endlessMigrations()]);
  const walBytes = () =>
    stat(`${file}-wal`).then(
      ({ size }) => size,
      () => 0,
    );
  await until(async () => (await walBytes()) > 8 * 1024 * 1024);
  await migrating.kill();
  const killed = openForReading(file);
  onTestFinished(() => void killed.close());
  expect(schemaVersion(killed)).toBe(2);
  expect(killed.pragma('integrity_check', { simple: true })).toBe('ok');
  const program = startProgram('gateway-coordinator', ['start', '--data', dataDir, '--port', '0']);
  await program.printed(/listening on (\S+)/);
  expect((await run(dataDir, 'queue', 'summary')).code).toBe(0);
  expect((await run(dataDir, 'user', 'list')).stdout).toContain(ANNA);
  expect(await readdir(dataDir)).toContain('gateway.db.schema-2.backup');
});

test('a coordinator does not start on a newer schema, and leaves it as it is', async () => {
  const dataDir = await secondSchema();
  const database = openDatabase(join(dataDir, 'gateway.db'));
  database.pragma('user_version = 99');
  database.close();
  const refused = await run(dataDir, 'start', '--port', '0');
  expect(refused.code).toBe(EXIT.schemaNewer);
  expect(EXIT.schemaNewer).toBe(10);
  expect(refused.stderr).toContain('schema 99');
  const untouched = openForReading(join(dataDir, 'gateway.db'));
  onTestFinished(() => void untouched.close());
  expect(schemaVersion(untouched)).toBe(99);
});

function run(dataDir: string, ...args: string[]) {
  return runProgram('gateway-coordinator', [...args, '--data', dataDir]);
}

/** The program's own, of which the third does not end. */
async function endlessMigrations(): Promise<string> {
  const folder = join(await temporaryFolder(), 'migrations');
  await mkdir(folder);
  const names = await readdir(MIGRATIONS);
  for (const name of names.filter((one) => one <= JOBS)) {
    await copyFile(join(MIGRATIONS, name), join(folder, name));
  }
  await appendFile(join(folder, JOBS), ENDLESS);
  return folder;
}
