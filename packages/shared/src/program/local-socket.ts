/**
 * The socket through which a command line speaks to its running program on the same machine: HTTP
 * over a Unix socket that only its owner can open, or a named pipe on Windows.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { CommandError, EXIT } from './command-error.js';
import type { ExitCode } from './command-error.js';

/** Node truncates longer socket paths silently, so that two programs could meet on one socket. */
const MAX_SOCKET_PATH_BYTES = 100;
const CALL_TIMEOUT_MS = 60_000;
/** Work that takes longer is told to be under way: white space before JSON means nothing. */
const STILL_AT_IT_MS = 15_000;

export interface LocalCall {
  readonly command: string;
  readonly args: unknown;
  /** Who calls, for those who keep account of it. */
  readonly by?: string;
}

type Reply = { result: unknown } | { error: { message: string; exitCode: ExitCode } };

/** Where the socket of the program that owns this folder lies. */
export function localSocketPath(folder: string, name: string): string {
  const path = join(resolve(folder), `${name}.sock`);
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 32);
  if (process.platform === 'win32') return `\\\\.\\pipe\\inference-gateway-${hash}`;
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return path;
  return join(runtimeFolder(), `inference-gateway-${hash}.sock`);
}

/** The folder for sockets that systemd gives each user, where there is one. */
function runtimeFolder(): string {
  const folder = `/run/user/${process.getuid?.() ?? ''}`;
  return existsSync(folder) ? folder : tmpdir();
}

/**
 * Answers calls on the socket. The caller must hold the folder's lock: a socket left behind is
 * replaced.
 */
export async function serveLocal(
  path: string,
  answer: (call: LocalCall) => Promise<unknown>,
): Promise<Server> {
  const server = createServer((message, response) => {
    response.setHeader('content-type', 'application/json');
    const stillAtIt = setInterval(() => response.write(' '), STILL_AT_IT_MS);
    void reply(message, answer).then((body) => {
      clearInterval(stillAtIt);
      response.end(JSON.stringify(body));
    });
  });
  if (process.platform !== 'win32') await rm(path, { force: true });
  await new Promise<void>((done, failed) => server.once('error', failed).listen(path, done));
  if (process.platform !== 'win32') await chmod(path, 0o600);
  return server;
}

async function reply(
  message: IncomingMessage,
  answer: (call: LocalCall) => Promise<unknown>,
): Promise<Reply> {
  try {
    const result = await answer((await json(message)) as LocalCall);
    return { result: result ?? null };
  } catch (error) {
    const exitCode = error instanceof CommandError ? error.exitCode : EXIT.failure;
    return { error: { message: (error as Error).message, exitCode } };
  }
}

/** Calls the running program. Returns null where none runs; throws what the program refused. */
export async function callLocal(
  path: string,
  call: LocalCall,
): Promise<{ readonly result: unknown } | null> {
  const message = await send(path, JSON.stringify(call));
  if (message === null) return null;
  const body = (await json(message)) as Reply;
  if ('error' in body) throw new CommandError(body.error.exitCode, body.error.message);
  return body;
}

function send(path: string, body: string): Promise<IncomingMessage | null> {
  return new Promise((done, failed) => {
    const outgoing = request({ socketPath: path, method: 'POST', timeout: CALL_TIMEOUT_MS }, done);
    outgoing.on('timeout', () => {
      outgoing.destroy(
        new CommandError(EXIT.timeout, `no answer on ${path} within ${CALL_TIMEOUT_MS / 1000} s.`),
      );
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const nobodyListens = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
      if (nobodyListens) done(null);
      else failed(error);
    });
    outgoing.end(body);
  });
}
