/**
 * Makes a backup of a data folder while the coordinator may write to it. The database is copied
 * before the files, so every file that the copy names existed at that moment. It is in the archive
 * unless it was deleted since.
 */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { actAsOwnerOf } from '@inference-gateway/shared/program/owner';
import type { FileHandle } from 'node:fs/promises';
import { open, rm, rename, stat } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { randomId } from '@inference-gateway/shared/ids';
import { syncFolder } from '@inference-gateway/shared/program/disk';
import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { callbackify } from 'node:util';
import type { ByteStore } from '../assets/byte-store.js';
import { assetsAmong, copyStore } from '../store/open.js';
import type { DatabaseCopy } from '../store/open.js';
import { writeArchive } from './write-archive.js';
import type { ArchiveOutcome, ArchiveSource } from './write-archive.js';

const PRIVATE_FILE = 0o600;

export interface BackupRequest {
  readonly dataDir: string;
  readonly files: ByteStore;
  /** A path, or `-` for stdout. */
  readonly output: string;
  /** The program's version. */
  readonly version: string;
  readonly onAsset: ArchiveSource['onAsset'];
  /** On abort, deletes the unfinished backup and rejects with the reason. */
  readonly signal: AbortSignal;
}

export async function createBackup(request: BackupRequest): Promise<ArchiveOutcome> {
  const target = await openTarget(request.output);
  try {
    const outcome = await writeTo(target, request);
    await target.commit();
    return outcome;
  } catch (error) {
    // Discards data that a broken pipe or a full disk does not accept. Else the process would wait.
    target.stream.destroy();
    throw request.signal.aborted ? request.signal.reason : asCommandError(error, request.output);
  } finally {
    await target.discard();
  }
}

async function writeTo(target: Target, request: BackupRequest): Promise<ArchiveOutcome> {
  const { dataDir, files, output, version, onAsset, signal } = request;
  const createdAt = SYSTEM_CLOCK.now();
  const { copy, database } = await copyDatabase(dataDir, target.scratch);
  try {
    const stillStored = (ids: readonly string[]) => assetsAmong(dataDir, ids);
    const parts = { database, copy, files, version, createdAt, stillStored, onAsset };
    const archive = remember(writeArchive(parts));
    const zip = /\.(gz|tgz)$/.test(output) ? [createGzip()] : [];
    // Files are read as the folder's owner. A symbolic link that the owner made cannot reach files
    // that only root can read.
    const becomeRoot = actAsOwnerOf(dataDir);
    try {
      await pipeline([Readable.from(archive.pieces), ...zip, target.stream], { signal });
    } finally {
      becomeRoot();
    }
    return archive.outcome();
  } finally {
    await database.close();
  }
}

/** The copy is unlinked once it is open, so it disappears when the process ends. */
async function copyDatabase(
  dataDir: string,
  scratch: string,
): Promise<{ readonly copy: DatabaseCopy; readonly database: FileHandle }> {
  try {
    // SQLite writes into an empty file and keeps its mode. The copy holds hashes and prompts.
    await (await open(scratch, 'wx', PRIVATE_FILE)).close();
    const copy = copyStore(dataDir, scratch);
    return { copy, database: await open(scratch, 'r') };
  } finally {
    await rm(scratch, { force: true });
  }
}

/** `pipeline` consumes what a generator yields and drops its return value, so it is kept here. */
function remember(archive: AsyncGenerator<Buffer, ArchiveOutcome, undefined>): {
  readonly pieces: AsyncIterable<Buffer>;
  readonly outcome: () => ArchiveOutcome;
} {
  let outcome: ArchiveOutcome | null = null;
  async function* pieces(): AsyncGenerator<Buffer> {
    outcome = yield* archive;
  }
  return {
    pieces: pieces(),
    outcome: () => {
      if (outcome === null) throw new Error('the archive ended before its end');
      return outcome;
    },
  };
}

function asCommandError(error: unknown, output: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof CommandError || code === undefined || syscall === undefined) return error;
  const message = `cannot write the backup to ${output}: ${(error as Error).message}`;
  return new CommandError(EXIT.failure, `${message}. Nothing is left of it.`, { cause: error });
}

// The target of a backup: a file that appears only when complete, a device, or stdout.

export const STDOUT = '-';

const TARGET_MODE = 0o600;

interface Target {
  readonly stream: Writable;
  /**
   * A path next to the target, for a temporary file of the database's size. No file exists there.
   */
  readonly scratch: string;
  /** Flushes the data to disk and renames the file to its final path. */
  commit(): Promise<void>;
  /** Deletes the unfinished file. Does nothing after `commit`. */
  discard(): Promise<void>;
}

/** Throws a `CommandError` if the target cannot be written. */
async function openTarget(output: string): Promise<Target> {
  try {
    if (output === STDOUT) return stream(process.stdout);
    const found = await stat(output).catch(() => null);
    if (found?.isDirectory() === true) {
      throw new CommandError(EXIT.usage, `${output} is a folder: name a file in it.`);
    }
    // A device or a named pipe cannot be replaced by a rename.
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
  // Deletes files that a killed backup left here.
  for (const left of [unfinished, scratch]) await rm(left, { force: true });
  const handle = await open(unfinished, 'wx', TARGET_MODE);
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

/** Keeps the handle open, because the caller still has to sync it. */
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
