/**
 * A real PostgreSQL server for one file of tests: the one that the npm package brings, or, if
 * `GATEWAY_TEST_POSTGRES_URL` names one, that one (its user may create databases).
 */
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import { migratePostgres } from '@inference-gateway/coordinator/store/postgres/migrations';
import { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { startPostgres } from '../../bench/subjects/postgres-server.js';
import { certificateFile } from './tls-front.js';

export interface TestPostgres {
  /** Of the database that every user has, for statements about the server. */
  readonly adminUrl: string;
  /** A database with the tables, or with `isEmpty` without; returns its URL. */
  createDatabase(options?: { readonly isEmpty?: boolean }): Promise<string>;
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
  const certificate = certificateFile('good');
  const server = await startPostgres({ settings: FAST, certificate });
  return databasesOf(server.adminUrl, server);
}

/** What is lost with the machine may be lost: it goes with the tests. */
const FAST = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_connections: 200,
};

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
    async createDatabase({ isEmpty = false } = {}) {
      if (isEmpty) return create('template0');
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

/** What a server that the tests started is ended by. */
interface ServerControl {
  readonly restart: (() => Promise<void>) | null;
  readonly stop: () => Promise<void>;
}

/** A connection of a test's own, besides the product's. */
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
  update epochs set value = value + 1;
  commit`;
