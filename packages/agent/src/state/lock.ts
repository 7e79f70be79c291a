/**
 * One agent per configuration. Node has no file lock that the kernel releases, so three things
 * together replace one: a file created exclusively with the owner's process id, that process being
 * alive, and its control socket accepting connections, which ends with the process in any case.
 */
import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';

/**
 * The limit between an owner's write of the file and its listening: after it, the process id
 * belongs to another process.
 */
const LISTEN_GRACE_MS = 2_000;
const POLL_MS = 50;
/** Longer than another process that found the same dead owner needs to move its file away. */
const SETTLE_MS = 100;
const MAX_ATTEMPTS = 5;

export interface StateLock {
  release(): Promise<void>;
}

/**
 * Locks the folder, which is created with mode 0700. The caller must listen on the socket at once.
 * Throws with exit code 7 if another agent has the lock.
 */
export async function lockState(folder: string, socketPath: string): Promise<StateLock> {
  await prepare(folder);
  const file = join(folder, 'lock');
  const mark = `${process.pid} ${randomBytes(8).toString('hex')}\n`;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (await create(file, mark)) return { release: () => release(file, mark) };
    const held = await read(file);
    if (held !== null && (await isRunning(file, socketPath))) throw taken(folder, held);
    if (held !== null) await removeStale(file, held);
    if (await create(file, mark)) {
      await delay(SETTLE_MS);
      if ((await read(file)) === mark) return { release: () => release(file, mark) };
    }
  }
  throw taken(folder, await read(file));
}

async function prepare(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  } catch (cause) {
    throw unwritable(folder, cause);
  }
}

async function create(file: string, mark: string): Promise<boolean> {
  try {
    await writeFile(file, mark, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw unwritable(dirname(file), error);
  }
}

/** Null if there is no lock. */
function read(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}

/** Null if its owner has not written it yet. */
function ownerOf(held: string): number | null {
  const pid = Number.parseInt(held, 10);
  return Number.isInteger(pid) && pid > 0 ? pid : null;
}

/**
 * Whether the owner is an agent: process ids are reused, in a container often the very same one.
 */
async function isRunning(file: string, socketPath: string): Promise<boolean> {
  const giveUpAt = performance.now() + LISTEN_GRACE_MS;
  do {
    if (await takesConnections(socketPath)) return true;
    const held = await read(file);
    if (held === null) return false;
    const pid = ownerOf(held);
    if (pid !== null && (pid === process.pid || !isAlive(pid))) return false;
    await delay(POLL_MS);
  } while (performance.now() < giveUpAt);
  return false;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists, under another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function takesConnections(socketPath: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}

/**
 * Moves the file before removing it: of two processes that found the same dead owner, only one
 * succeeds.
 */
async function removeStale(file: string, stale: string): Promise<void> {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  await rename(file, aside).catch(() => undefined);
  // A faster process has taken the lock meanwhile: its file is restored.
  const moved = await read(aside);
  if (moved !== null && moved !== stale) await link(aside, file).catch(() => undefined);
  await rm(aside, { force: true });
}

async function release(file: string, mark: string): Promise<void> {
  if ((await read(file)) === mark) await rm(file, { force: true });
}

/** Owned by another user, read-only, or on a full disk. */
function unwritable(folder: string, cause: unknown): CommandError {
  const message =
    `cannot write to ${folder}, where the agent keeps its state: ${(cause as Error).message}. ` +
    'Make room and let this user write there, or name another configuration with --config.';
  return new CommandError(EXIT.failure, message, { cause });
}

function taken(folder: string, held: string | null): CommandError {
  const pid = ownerOf(held ?? '');
  const owner = pid === null ? 'another agent' : `another agent (process ${pid})`;
  return new CommandError(
    EXIT.conflict,
    `${owner} already runs on this configuration: ${folder} is locked. ` +
      'Stop it, or start this one with another --config.',
  );
}
