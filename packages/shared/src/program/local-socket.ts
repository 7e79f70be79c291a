/**
 * The socket between a command line and its running program on the same machine: HTTP over a Unix
 * socket that only its owner can open, or a named pipe on Windows. It is in a folder that only its
 * owner can enter, and both ends check the owner of folder and socket before they send anything: in
 * a shared folder, another user could listen at the path first. The name of a Windows pipe is known
 * only to those who can read the folder.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, lstat, mkdir, rm, stat } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { CommandError, EXIT } from './command-error.js';
import type { ExitCode } from './command-error.js';

/** Node truncates longer socket paths silently, so that two programs could meet on one socket. */
const MAX_SOCKET_PATH_BYTES = 100;
const CALL_TIMEOUT_MS = 60_000;
/** During longer work white space is sent, which is ignored before JSON. */
const STILL_AT_IT_MS = 15_000;

export interface LocalCall {
  readonly command: string;
  readonly args: unknown;
  /** The caller, for the audit log. */
  readonly by?: string;
}

type Reply = { result: unknown } | { error: { message: string; exitCode: ExitCode } };

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const OTHERS = 0o077;
const SHARED_FOLDER_PREFIX = 'inference-gateway-';

/**
 * The path of the socket of the program that owns this folder. `temporary`: the shared temporary
 * folder, used if the path is too long.
 */
export function localSocketPath(folder: string, name: string, temporary = tmpdir()): string {
  const path = join(resolve(folder), `${name}.sock`);
  if (process.platform === 'win32') return pipePath(resolve(folder), name);
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return path;
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 16);
  return join(runtimeFolder(temporary), `${hash}.sock`);
}

/** This user's folder in the shared temporary folder. */
function sharedFolderName(): string {
  return `${SHARED_FOLDER_PREFIX}${process.geteuid?.() ?? ''}`;
}

/** A folder of this user: in systemd's runtime folder, if there is one. */
function runtimeFolder(temporary: string): string {
  const user = process.geteuid?.() ?? '';
  const folder = `/run/user/${user}`;
  return join(existsSync(folder) ? folder : temporary, sharedFolderName());
}

/**
 * For Windows, where any user may create a pipe of any unused name: a random name, which is kept in
 * the folder.
 */
export function pipePath(folder: string, name: string): string {
  const file = join(folder, `${name}.pipe`);
  const drawn = randomBytes(16).toString('hex');
  try {
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
    writeFileSync(file, drawn, { flag: 'wx', mode: PRIVATE_FILE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return `\\\\.\\pipe\\${SHARED_FOLDER_PREFIX}${readFileSync(file, 'utf8').trim()}`;
}

/**
 * Answers calls on the socket. The caller must hold the folder's lock: an existing socket is
 * replaced. Throws a `CommandError` `notAuthorised` if the socket's folder belongs to another user,
 * or is open to others.
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
  if (process.platform !== 'win32') {
    await makeFolderFor(path);
    await rm(path, { force: true });
  }
  await new Promise<void>((done, failed) => server.once('error', failed).listen(path, done));
  if (process.platform !== 'win32') await chmod(path, PRIVATE_FILE);
  return server;
}

async function makeFolderFor(path: string): Promise<void> {
  const folder = dirname(path);
  if (isShared(folder)) {
    await mkdir(folder, { mode: PRIVATE_FOLDER }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
  await requirePrivate(folder);
}

/** Whether others could have created it: it is in the shared temporary folder. */
function isShared(folder: string): boolean {
  return basename(folder) === sharedFolderName();
}

/** Throws if another user could create a socket in the folder, or could have done so. */
async function requirePrivate(folder: string): Promise<void> {
  // Does not follow a symbolic link that others could have created.
  const found = await (isShared(folder) ? lstat(folder) : stat(folder));
  const user = process.geteuid?.();
  const fault = !found.isDirectory()
    ? 'is no folder'
    : found.uid !== user
      ? `belongs to another user (${found.uid})`
      : (found.mode & OTHERS) !== 0
        ? 'is open to other users'
        : null;
  if (fault === null) return;
  const remedy = isShared(folder)
    ? 'Remove it, as root where it is not yours.'
    : `Run this as its owner, and close it with: chmod 700 ${folder}`;
  throw new CommandError(
    EXIT.notAuthorised,
    `${folder}, where the socket of this program lies, ${fault}: nothing is said there. ${remedy}`,
  );
}

/** The same for an existing socket; false if there is none. */
async function isOwnSocket(path: string): Promise<boolean> {
  try {
    const found = await lstat(path);
    await requirePrivate(dirname(path));
    if (found.isSocket() && found.uid === process.geteuid?.()) return true;
    const message = `${path} is not a socket of this user: nothing is said there. Remove it.`;
    throw new CommandError(EXIT.notAuthorised, message);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
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

/**
 * Calls the running program. Returns null if none runs; throws the program's error, and
 * `notAuthorised` if another user might listen. `signal` ends the wait for the answer.
 */
export async function callLocal(
  path: string,
  call: LocalCall,
  signal?: AbortSignal,
): Promise<{ readonly result: unknown } | null> {
  if (process.platform !== 'win32' && !(await isOwnSocket(path))) return null;
  const message = await send(path, JSON.stringify(call), signal);
  if (message === null) return null;
  const body = (await json(message)) as Reply;
  if ('error' in body) throw new CommandError(body.error.exitCode, body.error.message);
  return body;
}

function send(
  path: string,
  body: string,
  signal: AbortSignal | undefined,
): Promise<IncomingMessage | null> {
  const options = { socketPath: path, method: 'POST', timeout: CALL_TIMEOUT_MS, signal };
  return new Promise((done, failed) => {
    const outgoing = request(options, done);
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
