/** Where a backup goes: a file that is there when it is whole, a device, or stdout. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { randomId } from '@inference-gateway/shared/ids';
import { syncFolder } from '@inference-gateway/shared/program/disk';
import { createWriteStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { callbackify } from 'node:util';

export const STDOUT = '-';
const PRIVATE_FILE = 0o600;

export interface Target {
  readonly stream: Writable;
  /** A path beside it, for a file of some size; nothing lies there. */
  readonly scratch: string;
  /** Puts what was written in its place, on the disk. */
  commit(): Promise<void>;
  /** Leaves nothing of it. After `commit` it does nothing. */
  discard(): Promise<void>;
}

/** Throws a `CommandError` where nothing can be written there. */
export async function openTarget(output: string): Promise<Target> {
  try {
    if (output === STDOUT) return stream(process.stdout);
    const found = await stat(output).catch(() => null);
    if (found?.isDirectory() === true) {
      throw new CommandError(EXIT.usage, `${output} is a folder: name a file in it.`);
    }
    // A device or a named pipe has no place to rename something to.
    if (found !== null && !found.isFile()) return stream(createWriteStream(output));
    return await unfinishedFile(output);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const message = `cannot write to ${output}: ${(error as Error).message}`;
    throw new CommandError(EXIT.failure, message, { cause: error });
  }
}

function stream(writable: Writable): Target {
  return {
    stream: writable,
    scratch: join(tmpdir(), `gateway-backup-${randomId()}.db.unfinished`),
    commit: async () => {},
    discard: async () => {},
  };
}

async function unfinishedFile(path: string): Promise<Target> {
  const unfinished = `${path}.unfinished`;
  const scratch = `${path}.db.unfinished`;
  // What a backup that was killed has left here.
  for (const left of [unfinished, scratch]) await rm(left, { force: true });
  const handle = await open(unfinished, 'wx', PRIVATE_FILE);
  const { ino } = await handle.stat();
  const isOurs = async (): Promise<boolean> =>
    (await stat(unfinished).catch(() => null))?.ino === ino;
  let isCommitted = false;
  return {
    stream: writableOf(handle),
    scratch,
    commit: async () => {
      await handle.sync();
      if (!(await isOurs())) throw takenOver(path);
      await handle.close();
      await rename(unfinished, path);
      isCommitted = true;
      await syncFolder(dirname(path));
    },
    discard: async () => {
      if (isCommitted) return;
      if (await isOurs()) await rm(unfinished, { force: true });
      await handle.close();
    },
  };
}

/** Leaves the handle open: what was written is still to be put on the disk. */
function writableOf(handle: FileHandle): Writable {
  const append = callbackify(async (piece: Buffer): Promise<void> => {
    for (let from = 0; from < piece.length;) {
      from += (await handle.write(piece, from)).bytesWritten;
    }
  });
  return new Writable({ write: (piece: Buffer, _encoding, done) => append(piece, done) });
}

function takenOver(path: string): CommandError {
  const message = `another backup to ${path} began before this one had ended. Let one run at once.`;
  return new CommandError(EXIT.conflict, message);
}
