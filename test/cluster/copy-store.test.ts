/** Copies of a data folder from SQLite to PostgreSQL and back, as users make them. */
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { NewMemberSession, Store } from '@inference-gateway/coordinator/store/port';
import { openDatabase, openForReading } from '@inference-gateway/coordinator/store/sqlite/database';
import { existsSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dataFolder } from '../coordinator/cli/data-folder.js';
import type { DataFolder } from '../coordinator/cli/data-folder.js';
import { finishJob, NEWEST_JOBS, submitJob } from '../store/job-rows.js';
import { secondSchema } from '../store/second-schema.js';
import { NOW, randomHex, sha256 } from '../store/store-rows.js';
import { onServer, usePostgres } from '../support/postgres.js';
import { FULL } from '../support/process-stage.js';
import { startProgram } from '../support/program.js';
import { runCommand } from '../support/run-command.js';
import { until } from '../support/until.js';
import { fillStore } from './filled-store.js';

const server = usePostgres();

/** Columns with the order of rows, which SQLite has in all tables. */
const WITH_ROWID =
  'usage, webhook_deliveries, shares, invites, member_sessions, audit_log, device_logins';
/** Views on PostgreSQL. */
const COUNTED = ['queue_counts', 'asset_space'];
/** They are copied in a second or some, in which the copy is killed. */
const MANY_ROWS = FULL ? 30_000 : 15_000;
/** Tables with more rows are compared as a whole. */
const SHOWN_ROWS = 2_000;
/** Enough for something to happen meanwhile. */
const FEWER_ROWS = 12_000;

type Rows = readonly Readonly<Record<string, unknown>>[];
type Dump = Readonly<Record<string, Rows>>;

async function newDatabase(): Promise<string> {
  const url = await server().createDatabase({ isEmpty: true });
  onTestFinished(() => server().dropDatabase(url));
  return url;
}

async function inStore<T>(
  { path }: DataFolder,
  databaseUrl: string | null,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(path, { databaseUrl });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function filledFolder(): Promise<DataFolder> {
  const folder = await dataFolder();
  await inStore(folder, null, fillStore);
  return folder;
}

/** All rows of all tables, in an order that both engines have. */
function dumpOf(file: string): Dump {
  const database = openForReading(file);
  try {
    const list = `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`;
    const names = database.prepare<[], string>(list).pluck().all();
    return dumpOfTables(names, (name) => {
      const rowid = WITH_ROWID.split(', ').includes(name) ? 'rowid, ' : '';
      return database.prepare<[], Rows[number]>(`select ${rowid}* from ${name}`).all();
    });
  } finally {
    database.close();
  }
}

async function dumpOfServer(url: string): Promise<Dump> {
  return onServer(url, async (sql) => {
    const list = `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r'`;
    const tables = new Map<string, Rows>();
    for (const { name } of await sql.rows<{ name: string }>(list)) {
      if (name === 'schema_version') continue;
      tables.set(name, await sql.rows<Rows[number]>(`select * from ${name}`));
    }
    return dumpOfTables([...tables.keys()], (name) => tables.get(name) ?? []);
  });
}

function dumpOfTables(names: readonly string[], rowsOf: (name: string) => Rows): Dump {
  const entries = names.toSorted().map((name) => {
    const rows = rowsOf(name)
      .map((row) => JSON.stringify(row, asText, 1))
      .toSorted();
    // Of very many rows, a difference is told by their digest: comparing them takes seconds.
    const isLong = rows.length > SHOWN_ROWS;
    const shown = isLong ? [{ rows: rows.length, digest: sha256(rows.join()) }] : rows.map(parsed);
    return [name, shown] as const;
  });
  return Object.fromEntries(entries);
}

const parsed = (row: string): Rows[number] => JSON.parse(row) as Rows[number];

/** Whole numbers are texts with the server's library. */
function asText(_: string, value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value;
}

const without = (dump: Dump, names: readonly string[]): Dump =>
  Object.fromEntries(Object.entries(dump).filter(([name]) => !names.includes(name)));

const emptyIn = (dump: Dump): string[] =>
  Object.keys(dump).filter((name) => dump[name]?.length === 0);

test('all rows go to PostgreSQL and come back, and the store works on each side', async () => {
  const folder = await filledFolder();
  const [url, file] = [await newDatabase(), join(folder.path, 'gateway.db')];
  const before = dumpOf(file);
  expect(emptyIn(before)).toEqual([]);
  const env = { GATEWAY_DATABASE_URL: url };
  const there = await folder.run('migrate --to postgres --json', { env });
  expect([there.code, there.stderr]).toEqual([0, expect.stringContaining('stays as it was')]);
  const counts = Object.entries(without(before, COUNTED)).map(([table, { length: rows }]) => ({
    table,
    rows,
  }));
  expect(new Set(JSON.parse(there.stdout))).toEqual(new Set(counts));
  expect(await dumpOfServer(url)).toEqual(without(before, COUNTED));
  expect(dumpOf(file)).toEqual(before);

  const unset = await folder.run('user list');
  expect([unset.code, unset.stderr]).toEqual([2, expect.stringContaining('migrate --to sqlite')]);
  for (const command of ['migrate --status', `backup -o ${folder.path}.tar`]) {
    expect((await folder.run(command)).code).toBe(2);
  }
  const other = { GATEWAY_DATABASE_URL: await newDatabase() };
  const elsewhere = await folder.run('user list', { env: other });
  expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining('was copied to')]);
  await inStore(folder, url, work);

  const changed = await dumpOfServer(url);
  const back = await folder.run('migrate --to sqlite', { env });
  expect([back.code, back.stderr]).toEqual([0, expect.stringContaining('before-copy-')]);
  expect(back.stdout).toContain('job_bodies\t');
  expect(without(dumpOf(file), COUNTED)).toEqual(changed);
  const files = await readdir(folder.path);
  expect(files).not.toContain('database-url');
  expect(files.filter((name) => /unfinished/.test(name))).toEqual([]);
  const kept = files.find((name) => name.startsWith('gateway.db.before-copy-'));
  expect(dumpOf(join(folder.path, kept ?? ''))).toEqual(before);
  await inStore(folder, null, work);
});

/** Lists, takes over and ends jobs, and inserts rows where their order is counted. */
async function work(store: Store): Promise<void> {
  await store.setQueuePaused(false);
  const [member] = await store.listMembers();
  const jobs = await store.listJobs({ ...NEWEST_JOBS, statuses: ['QUEUED'] });
  expect(jobs.length).toBeGreaterThan(10);
  await finishJob(store, jobs[0]?.id ?? '');
  const { id } = await submitJob(store, member?.id ?? '');
  await finishJob(store, id);
  await store.createSession(newSession(member?.id ?? ''), NOW);
  const queues = await store.modelQueues(null);
  const queued = await store.listJobs({ ...NEWEST_JOBS, statuses: ['QUEUED'], limit: 5_000 });
  expect(queues.reduce((sum, queue) => sum + queue.queued, 0)).toBe(queued.length);
}

const newSession = (memberId: string): NewMemberSession => {
  const client = { address: '192.0.2.1', userAgent: 'Firefox' };
  return { hash: sha256(randomHex()), memberId, passwordHash: null, ...client, expiresAt: NOW + 9 };
};

test('the counts of queues and of space are the same after the way there and back', async () => {
  const folder = await filledFolder();
  const [url, file] = [await newDatabase(), join(folder.path, 'gateway.db')];
  const before = dumpOf(file);
  const env = { GATEWAY_DATABASE_URL_FILE: `${folder.path}.url` };
  await writeFile(env.GATEWAY_DATABASE_URL_FILE, url);
  expect((await folder.run(`migrate --to ${url}`)).code).toBe(0);
  expect((await folder.run('migrate --to sqlite', { env })).code).toBe(0);
  expect(dumpOf(file)).toEqual(before);
});

test('a copy that was killed is continued, and another one is refused', async () => {
  const folder = await filledFolder();
  const [url, file] = [await newDatabase(), join(folder.path, 'gateway.db')];
  addUsage(file);
  const env = { GATEWAY_DATABASE_URL: url };
  const args = ['migrate', '--to', 'postgres', '--data', folder.path];
  const copying = startProgram('gateway-coordinator', args, { env });
  const copied = (): Promise<number> => countOf(url, 'usage').catch(() => 0);
  await until(async () => (await copied()) > 0);
  copying.child.kill('SIGKILL');
  await copying.finished;
  await until(async () => (await countOf(url, USERS)) === 0);
  const rows = await copied();
  expect(rows).toBeLessThan(MANY_ROWS);
  expect(existsSync(join(folder.path, 'database-url'))).toBe(false);
  const started = await folder.run('start --port 0', { env });
  expect([started.code, started.stderr]).toEqual([2, expect.stringContaining('holds gateway.db')]);
  const other = await filledFolder();
  const refused = await other.run('migrate --to postgres', { env });
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining('other rows in')]);
  expect(await copied()).toBe(rows);
  const again = await folder.run('migrate --to postgres', { env });
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('All rows')]);
  expect(await dumpOfServer(url)).toEqual(without(dumpOf(file), COUNTED));
});

test('a copy that was changed meanwhile ends with 1, and does not count', async () => {
  const folder = await filledFolder();
  const [url, file] = [await newDatabase(), join(folder.path, 'gateway.db')];
  addUsage(file, FEWER_ROWS);
  const before = dumpOf(file);
  const env = { GATEWAY_DATABASE_URL: url };
  const args = ['migrate', '--to', 'postgres', '--data', folder.path];
  const copying = startProgram('gateway-coordinator', args, { env });
  const change = `update usage set model = 'another' where rowid = (select min(rowid) from usage)
    returning 1`;
  const isChanged = (): Promise<boolean> =>
    onServer(url, async (sql) => (await sql.rows(change)).length > 0).catch(() => false);
  await until(isChanged);
  const { code, stderr } = await copying.finished;
  expect([code, stderr]).toEqual([1, expect.stringContaining('usage')]);
  expect(stderr).toContain('differ');
  expect(existsSync(join(folder.path, 'database-url'))).toBe(false);
  expect(dumpOf(file)).toEqual(before);
  expect((await folder.run('user list')).code).toBe(0);
});

test('a copy back that was killed leaves both sides, and a later one is whole', async () => {
  const folder = await filledFolder();
  const [url, file] = [await newDatabase(), join(folder.path, 'gateway.db')];
  const env = { GATEWAY_DATABASE_URL: url };
  addUsage(file, FEWER_ROWS);
  expect((await folder.run('migrate --to postgres', { env })).code).toBe(0);
  const [there, here] = [await dumpOfServer(url), dumpOf(file)];
  const args = ['migrate', '--to', 'sqlite', '--data', folder.path];
  const copying = startProgram('gateway-coordinator', args, { env });
  const unfinished = `${file}.unfinished`;
  const copied = (): number => {
    const database = openForReading(unfinished);
    try {
      return database.prepare<[], number>('select count(*) from usage').pluck().get() ?? 0;
    } finally {
      database.close();
    }
  };
  await until(() => existsSync(unfinished));
  await until(() => attempt(copied) > 0);
  copying.child.kill('SIGKILL');
  await copying.finished;
  await until(async () => (await countOf(url, USERS)) === 0);
  expect(existsSync(join(folder.path, 'database-url'))).toBe(true);
  expect(await dumpOfServer(url)).toEqual(there);
  expect(dumpOf(file)).toEqual(here);
  const again = await folder.run('migrate --to sqlite', { env });
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('All rows')]);
  expect(without(dumpOf(file), COUNTED)).toEqual(there);
  expect(await dumpOfServer(url)).toEqual(there);
  expect(existsSync(unfinished)).toBe(false);
});

/** 0 while the tables are not there yet. */
function attempt(count: () => number): number {
  try {
    return count();
  } catch {
    return 0;
  }
}

/** A statement that a killed program has sent is carried out to its end. */
const USERS = `pg_stat_activity
  where datname = current_database() and application_name = 'inference-gateway'`;

function addUsage(file: string, rows = MANY_ROWS): void {
  const database = openDatabase(file);
  const columns = `at, member_id, key_id, provider_id, model, service_type, endpoint,
    prompt_tokens, completion_tokens, queue_ms, first_byte_ms, total_ms, attempts, outcome, source`;
  database.exec(`insert into usage (request_id, ${columns})
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
    select 'copied-' || i, ${columns} from n, (select ${columns} from usage limit 1)`);
  database.close();
}

async function countOf(url: string, table: string): Promise<number> {
  const count = `select count(*)::int as count from ${table}`;
  const [row] = await onServer(url, (sql) => sql.rows<{ count: number }>(count));
  return row?.count ?? 0;
}

test('nothing is copied while a coordinator runs, on either side', async () => {
  const folder = await filledFolder();
  const url = await newDatabase();
  const env = { GATEWAY_DATABASE_URL: url };
  await inStore(folder, null, async () => {
    expect((await folder.alone('migrate --to postgres', { env })).code).toBe(7);
  });
  const other = await dataFolder();
  await inStore(other, url, async (store) => {
    const refused = await folder.run('migrate --to postgres', { env });
    expect([refused.code, refused.stderr]).toEqual([
      7,
      expect.stringContaining('a coordinator uses'),
    ]);
    await store.startNode(1);
  });
  const before = await dumpOfServer(url);
  const refused = await folder.run('migrate --to postgres', { env });
  expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining('neither empty')]);
  expect(await dumpOfServer(url)).toEqual(before);
  expect((await folder.run('user list')).code).toBe(0);
});

test('a text that PostgreSQL cannot store is named, and nothing counts as copied', async () => {
  const folder = await filledFolder();
  const file = join(folder.path, 'gateway.db');
  const change = (sql: string): void => {
    const database = openDatabase(file);
    database.exec(sql);
    database.close();
  };
  change("update batches set label = 'a' || char(0) || 'b' where label is not null");
  const env = { GATEWAY_DATABASE_URL: await newDatabase() };
  const { code, stdout, stderr } = await folder.run('migrate --to postgres', { env });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/batches, row id "\w{26}", column label: .* NUL character/);
  expect(existsSync(join(folder.path, 'database-url'))).toBe(false);
  expect((await folder.run('user list')).code).toBe(0);
  change("update batches set label = 'ab' where label is not null");
  expect((await folder.run('migrate --to postgres', { env })).code).toBe(0);
});

test('a source of an older version is migrated first', async () => {
  const [data, url] = [await secondSchema(), await newDatabase()];
  const env = { GATEWAY_DATABASE_URL: url };
  const args = ['migrate', '--to', 'postgres', '--data', data];
  const { code, stderr } = await runCommand('gateway-coordinator', args, { env });
  expect([code, stderr]).toEqual([0, expect.stringContaining('up to date first')]);
  expect(await dumpOfServer(url)).toEqual(without(dumpOf(join(data, 'gateway.db')), COUNTED));
});

test('the target and the source are named, and a password never in an argument', async () => {
  const folder = await filledFolder();
  const url = 'postgres://gateway@127.0.0.1:9/none';
  const env = { GATEWAY_DATABASE_URL: url };
  const usage = async (command: string, variables = {}): Promise<string> => {
    const { code, stderr } = await folder.run(command, { env: variables });
    expect(code).toBe(2);
    return stderr;
  };
  expect(await usage('migrate --to postgres')).toContain('set GATEWAY_DATABASE_URL');
  expect(await usage('migrate --to sqlite')).toContain('set GATEWAY_DATABASE_URL');
  expect(await usage('migrate --to mysql')).toContain('--to is not usable');
  const secret = url.replace('gateway@', 'gateway:secret@');
  const told = await usage(`migrate --to ${secret}`);
  expect(told).toContain('--to has a password');
  expect(told).not.toContain('secret');
  expect(await usage(`migrate --to ${url} --database ${url}`)).toContain('leave one out');
  expect(await usage('migrate --to postgres --status', env)).toContain('cannot be used with');
  expect((await folder.run('migrate --to sqlite', { env })).code).toBe(3);
  await writeFile(join(folder.path, 'database-url'), 'postgres://gateway@127.0.0.1:9/other\n');
  expect(await usage('migrate --to sqlite', env)).toContain('keeps its data in');
  expect(await readFile(join(folder.path, 'database-url'), 'utf8')).toContain('other');
});
