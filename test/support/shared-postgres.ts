/**
 * One PostgreSQL server for a run of vitest, because a start takes 3 s of CPU time. It starts when
 * the first test file asks for it, and stops after the run.
 */
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import { migratePostgres } from '@inference-gateway/coordinator/store/postgres/migrations';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../../bench/subjects/postgres-server.js';
import type { PostgresServer } from '../../bench/subjects/postgres-server.js';

/** In the environment of the processes that run tests: where the main process answers them. */
const PORT = 'TESTS_POSTGRES_PORT';

/** The address of a running server, and the name of a database with the tables. */
export interface SharedPostgres {
  readonly adminUrl: string;
  readonly template: string;
}

/** A crash of the machine may lose the data: it ends the tests, too. */
const FAST = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '64MB',
  max_connections: 500,
};
const CERTIFICATE = fileURLToPath(new URL('certificates/good.pem', import.meta.url));
const TEMPLATE = 'gateway_template';

export function startServer(): Promise<PostgresServer> {
  return startPostgres({ settings: FAST, certificate: CERTIFICATE });
}

/** For vitest, before a run. */
export async function setup(): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | null = null;
  const listener = createServer((socket) => {
    socket.on('error', () => {});
    server ??= startWithTemplate();
    server.then(
      ({ adminUrl }) => socket.end(JSON.stringify({ adminUrl, template: TEMPLATE })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  process.env[PORT] = String((listener.address() as AddressInfo).port);
  return async () => {
    listener.close();
    await (await server?.catch(() => null))?.stop();
  };
}

async function startWithTemplate(): Promise<PostgresServer> {
  const server = await startServer();
  const url = Object.assign(new URL(server.adminUrl), { pathname: TEMPLATE }).href;
  await onConnection(server.adminUrl, (connection) =>
    connection.query({ text: `create database ${TEMPLATE} template template0` }),
  );
  await onConnection(url, (connection) => migratePostgres(connection, url));
  return server;
}

/** For the processes that run tests. */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const answer = JSON.parse(await text(connect(Number(process.env[PORT]), '127.0.0.1'))) as
    SharedPostgres | { readonly error: string };
  if ('error' in answer) throw new Error(`PostgreSQL does not start: ${answer.error}`);
  return answer;
}
