/**
 * A real PostgreSQL server for one file of tests: the one that the npm package brings, which all
 * files share, or, if `GATEWAY_TEST_POSTGRES_URL` names one, that one (its user may create
 * databases).
 */
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import { migratePostgres } from '@inference-gateway/coordinator/store/postgres/migrations';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { sharedPostgres, startServer } from './shared-postgres.js';

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

interface FileOptions {
  /** For tests that restart the server; costs 3 s of CPU time. */
  readonly ownServer?: boolean;
}

/** Runs from before the first test of the file until after its last one. */
export function usePostgres({ ownServer = false }: FileOptions = {}): () => TestPostgres {
  let running: (TestPostgres & { stop(): Promise<void> }) | null = null;
  beforeAll(async () => {
    const named = process.env['GATEWAY_TEST_POSTGRES_URL'];
    if (named !== undefined) running = databasesOf(named, NOT_OURS);
    else if (ownServer) running = await startOwn();
    else {
      const { adminUrl, template } = await sharedPostgres();
      running = databasesOf(adminUrl, { ...NOT_OURS, template });
    }
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

async function startOwn(): Promise<TestPostgres & { stop(): Promise<void> }> {
  const server = await startServer();
  return databasesOf(server.adminUrl, { ...server, template: null });
}

const NOT_OURS = { restart: null, stop: async () => {}, template: null };

function databasesOf(
  adminUrl: string,
  { restart, stop, template: shared }: ServerControl,
): TestPostgres & { stop(): Promise<void> } {
  const made = new Set<string>();
  let template: Promise<string> | null = shared === null ? null : Promise.resolve(shared);
  const urlOf = (name: string): string => Object.assign(new URL(adminUrl), { pathname: name }).href;
  const create = async (from: string): Promise<string> => {
    const name = `gateway_test_${randomBytes(8).toString('hex')}`;
    await onServer(adminUrl, (sql) => sql.rows(`create database ${name} template ${from}`));
    made.add(name);
    return name;
  };
  const drop = async (names: readonly string[]): Promise<void> => {
    await onServer(adminUrl, async (sql) => {
      for (const name of names) await sql.rows(`drop database if exists ${name} with (force)`);
    });
    for (const name of names) made.delete(name);
  };
  const migrated = async (): Promise<string> => {
    const name = await create('template0');
    const url = urlOf(name);
    await onConnection(url, (connection) => migratePostgres(connection, url));
    return name;
  };
  return {
    adminUrl,
    restart,
    async createDatabase({ isEmpty = false } = {}) {
      if (isEmpty) return urlOf(await create('template0'));
      template ??= migrated();
      return urlOf(await create(await template));
    },
    dropDatabase: (url) => drop([new URL(url).pathname.slice(1)]),
    async emptyDatabase(url) {
      await onServer(url, (sql) => sql.rows(EMPTY));
    },
    async stop() {
      if (restart === null) await drop([...made]);
      await stop();
    },
  };
}

interface ServerControl {
  readonly restart: (() => Promise<void>) | null;
  readonly stop: () => Promise<void>;
  /** A database with the tables; null if the file makes its own. */
  readonly template: string | null;
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
