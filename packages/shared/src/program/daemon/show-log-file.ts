/** Shows the end of a log file, and follows it. */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError, EXIT } from '../command-error.js';
import type { LogQuery } from './daemon.js';

/** The last lines are searched in this part of the file's end. */
const MAX_TAIL_BYTES = 4 * 1024 * 1024;
const LOOK_MS = 500;

/** Writes to stdout. Throws with exit code 3 if the file does not exist yet. */
export async function showLogFile(file: string, { lines, follow }: LogQuery): Promise<void> {
  let seen = await showEnd(file, lines);
  if (!follow) return;
  for (;;) {
    await pause(LOOK_MS);
    seen = await showAdded(file, seen);
  }
}

/** Returns the size of the part that was read. */
async function showEnd(file: string, lines: number): Promise<number> {
  const handle = await opened(file);
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - MAX_TAIL_BYTES);
    const text = await read(handle, start, size);
    const all = text.trimEnd().split('\n').slice(-lines);
    process.stdout.write(`${all.join('\n')}\n`);
    return size;
  } finally {
    await handle.close();
  }
}

/** A file that is shorter than before is a new one. */
async function showAdded(file: string, seen: number): Promise<number> {
  const handle = await opened(file).catch(() => null);
  if (handle === null) return 0;
  try {
    const { size } = await handle.stat();
    if (size !== seen) process.stdout.write(await read(handle, size < seen ? 0 : seen, size));
    return size;
  } finally {
    await handle.close();
  }
}

async function read(handle: FileHandle, from: number, to: number): Promise<string> {
  const length = Math.min(to - from, MAX_TAIL_BYTES);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
  return buffer.toString('utf8', 0, bytesRead);
}

async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file);
  } catch (cause) {
    const message = `there is no log at ${file} yet: has the service been started?`;
    throw new CommandError(EXIT.notFound, message, { cause });
  }
}
