import { Pool } from '@inference-gateway/coordinator/store/postgres/connection';
import { openPostgres } from '@inference-gateway/coordinator/store/postgres/engine';
import { inspectServer } from '@inference-gateway/coordinator/store/postgres/inspect';
import { migratePostgres } from '@inference-gateway/coordinator/store/postgres/migrations';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { onServer, usePostgres } from '../support/postgres.js';
import { freePort } from '../support/process-gateway.js';
import { until } from '../support/until.js';

const server = usePostgres();

const FOLDER = fileURLToPath(
  new URL('../../packages/coordinator/migrations/postgres', import.meta.url),
);

test('an empty database gets the tables', async () => {
  const url = await newDatabase();
  const before = await inspectServer(url);
  expect(before.migrations.schemaVersion).toBe(0);
  expect(before.migrations.pending).toContain('0001_initial.sql');
  expect(await tablesOf(url)).toEqual([]);
  await migrate(poolOf(url), url);
  const { migrations } = await inspectServer(url);
  expect(migrations).toMatchObject({ pending: [], newestSchemaVersion: migrations.schemaVersion });
  expect(migrations.schemaVersion).toBe(before.migrations.pending.length);
  expect(namesIn(await tablesOf(url))).toEqual(
    expect.arrayContaining(['members', 'jobs', 'usage', 'audit_log', 'schema_version']),
  );
});

test('migrating again changes nothing', async () => {
  const url = await newDatabase();
  await migrate(poolOf(url), url);
  await addMember(url);
  const before = await tablesOf(url);
  await migrate(poolOf(url), url);
  expect(await tablesOf(url)).toEqual(before);
  expect(await rowsOf(url, 'select name from members')).toEqual([{ name: 'anna' }]);
});

test('programs that start at once migrate once', async () => {
  const url = await newDatabase();
  const pools = Array.from({ length: 4 }, () => poolOf(url));
  // Connected before, so that none is late.
  await Promise.all(pools.map((pool) => pool.query('select 1')));
  await Promise.all(pools.map((pool) => migrate(pool, url)));
  const { migrations } = await inspectServer(url);
  expect(migrations).toMatchObject({ pending: [], newestSchemaVersion: migrations.schemaVersion });
  expect(await rowsOf(url, 'select version from schema_version')).toHaveLength(1);
});

/** The next one waits for the table of jobs. */
const OLD_VERSION = 4;

/** As an older program leaves a database. */
async function migrateTo(url: string, version: number): Promise<void> {
  const names = (await readdir(FOLDER)).toSorted().slice(0, version);
  for (const name of names) await rowsOf(url, await readFile(join(FOLDER, name), 'utf8'));
  await rowsOf(url, 'create table schema_version (version integer not null)');
  await rowsOf(url, `insert into schema_version (version) values (${version})`);
}

test('a migration that waits for a table lets callers pass, and tries again', async () => {
  const url = await newDatabase();
  const { newestSchemaVersion: newest } = (await inspectServer(url)).migrations;
  await migrateTo(url, OLD_VERSION);
  await onServer(url, async (sql) => {
    await sql.rows('begin');
    await sql.rows('lock table jobs in access share mode');
    const migrating = migrate(poolOf(url), url);
    const waiting = `select 1 from pg_locks
      where relation = 'jobs'::regclass and mode = 'AccessExclusiveLock' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
    await until(async () => (await rowsOf(url, waiting)).length === 1);
    // Behind it in the queue for the table; the one who holds the table is still there.
    expect(await rowsOf(url, 'select count(*)::int as jobs from jobs')).toEqual([{ jobs: 0 }]);
    await sql.rows('commit');
    await migrating;
  });
  expect((await inspectServer(url)).migrations).toMatchObject({
    schemaVersion: newest,
    pending: [],
  });
});

test('a database that a newer program has migrated is refused, and left alone', async () => {
  const url = await server().createDatabase();
  onTestFinished(() => server().dropDatabase(url));
  const { schemaVersion: newest } = (await inspectServer(url)).migrations;
  await rowsOf(url, 'update schema_version set version = 123');
  const refused = await refusalOf(openPostgres({ url, nodeId: 'local' }));
  expect(refused.exitCode).toBe(EXIT.schemaNewer);
  expect(refused.message).toMatch(new RegExp(`\\bschema 123\\b.*\\bup to ${newest}\\b`));
  expect((await inspectServer(url)).migrations).toMatchObject({ schemaVersion: 123, pending: [] });
});

test("another program's tables are refused, and left alone", async () => {
  const url = await newDatabase();
  await rowsOf(url, 'create table members (id integer)');
  const before = await tablesOf(url);
  const refused = await refusalOf(openPostgres({ url, nodeId: 'local' }));
  expect(refused.exitCode).toBe(EXIT.conflict);
  expect(await refusalOf(inspectServer(url))).toMatchObject({ exitCode: EXIT.conflict });
  expect(await tablesOf(url)).toEqual(before);
});

test.skipIf(process.env['GATEWAY_TEST_POSTGRES_URL'] !== undefined)(
  'a wrong password is told as such, without the password',
  async () => {
    await demandPassword('guarded', 'right');
    const username = 'guarded';
    const right = await inspectServer(urlWith({ username, password: 'right' }));
    expect(right.migrations.schemaVersion).toBe(0);
    const refused = await expectRefusal(urlWith({ username, password: 'a-secret' }));
    expect(refused).toMatchObject({ exitCode: EXIT.notAuthorised });
    expect(refused.message).toContain('password authentication failed');
  },
);

test('an unknown database is told as such, without the password', async () => {
  const refused = await expectRefusal(urlWith({ password: 'a-secret', pathname: 'nothing' }));
  expect(refused).toMatchObject({ exitCode: EXIT.notFound });
  expect(refused.message).toContain('"nothing" does not exist');
});

test('a port where nobody listens is told as such, without the password', async () => {
  const port = String(await freePort());
  const refused = await expectRefusal(urlWith({ password: 'a-secret', port }));
  expect(refused).toMatchObject({ exitCode: EXIT.failure });
  expect(refused.message).toContain('ECONNREFUSED');
});

/** Both ways to open it tell the URL, except for the password. */
async function expectRefusal(url: string): Promise<CommandError> {
  const refused = await refusalOf(openPostgres({ url, nodeId: 'local' }));
  const { username, host, pathname } = new URL(url);
  for (const { message } of [refused, await refusalOf(inspectServer(url))]) {
    expect(message).toContain(` postgres://${username}@${host}${pathname}:`);
    expect(message).not.toContain('a-secret');
  }
  return refused;
}

async function refusalOf(attempt: Promise<unknown>): Promise<CommandError> {
  const [outcome] = await Promise.allSettled([attempt]);
  const reason: unknown = outcome.status === 'rejected' ? outcome.reason : 'it was opened';
  if (reason instanceof CommandError) return reason;
  throw new Error('not refused by a CommandError', { cause: reason });
}

async function newDatabase(): Promise<string> {
  const url = await server().createDatabase({ isEmpty: true });
  onTestFinished(() => server().dropDatabase(url));
  return url;
}

function poolOf(url: string): Pool {
  const pool = new Pool(url, { max: 1 });
  onTestFinished(() => pool.close());
  return pool;
}

function migrate(pool: Pool, url: string): Promise<void> {
  return pool.use((connection) => migratePostgres(connection, url));
}

function urlWith(parts: Partial<URL>): string {
  return Object.assign(new URL(server().adminUrl), parts).href;
}

interface Table {
  readonly name: string;
  /** Another one if the table was made anew. */
  readonly oid: string;
}

function tablesOf(url: string): Promise<Table[]> {
  return rowsOf<Table>(
    url,
    `select relname as name, oid::text as oid from pg_class
     where relnamespace = 'public'::regnamespace order by relname`,
  );
}

function namesIn(tables: readonly Table[]): string[] {
  return tables.map(({ name }) => name);
}

function addMember(url: string): Promise<unknown> {
  return rowsOf(
    url,
    `insert into members (id, email, name, role, created_at)
     values ('${'0'.repeat(26)}', 'anna@example.org', 'anna', 'member', 1)`,
  );
}

/** The test's own server trusts everybody else. */
async function demandPassword(user: string, password: string): Promise<void> {
  const { adminUrl } = server();
  const lines = [`host all ${user} all scram-sha-256`, 'host all all all trust'];
  const [file] = await rowsOf<{ path: string }>(
    adminUrl,
    "select current_setting('hba_file') as path",
  );
  await rowsOf(adminUrl, `create role ${user} login password '${password}'`);
  await rowsOf(adminUrl, `copy (select unnest(array['${lines.join("', '")}'])) to '${file?.path}'`);
  const before = await loadTime(adminUrl);
  await rowsOf(adminUrl, 'select pg_reload_conf()');
  // A new connection tells what the server has read.
  await until(async () => (await loadTime(adminUrl)) !== before);
}

async function loadTime(url: string): Promise<string | undefined> {
  const [row] = await rowsOf<{ at: string }>(url, 'select pg_conf_load_time()::text as at');
  return row?.at;
}

async function rowsOf<Row extends object>(url: string, text: string): Promise<Row[]> {
  return onServer(url, (sql) => sql.rows<Row>(text));
}
