/**
 * A backup of a data folder, taken beside the coordinator that writes to it. The database is copied
 * first and the files after it: whatever a row of the copy names was there at that moment, and is
 * in the archive unless it was deleted since.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { actAsOwnerOf } from '@inference-gateway/shared/program/owner';
import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { AssetFiles, assetsFolder } from '../assets/asset-files.js';
import { assetsAmong, copyStore } from '../store/open.js';
import type { DatabaseCopy } from '../store/open.js';
import { openTarget } from './target.js';
import type { Target } from './target.js';
import { writeArchive } from './write-archive.js';
import type { ArchiveOutcome, ArchiveSource } from './write-archive.js';

const PRIVATE_FILE = 0o600;

export interface BackupRequest {
  readonly dataDir: string;
  /** A path, or `-` for stdout. */
  readonly output: string;
  /** Of the program. */
  readonly version: string;
  readonly onAsset: ArchiveSource['onAsset'];
  /** Aborted, the backup leaves nothing behind, and rejects with the reason. */
  readonly signal: AbortSignal;
}

export async function createBackup(request: BackupRequest): Promise<ArchiveOutcome> {
  const target = await openTarget(request.output);
  try {
    const outcome = await writeTo(target, request);
    await target.commit();
    return outcome;
  } catch (error) {
    // Nobody is to wait for what a broken pipe or a full disk does not take.
    target.stream.destroy();
    throw request.signal.aborted ? request.signal.reason : asCommandError(error, request.output);
  } finally {
    await target.discard();
  }
}

async function writeTo(target: Target, request: BackupRequest): Promise<ArchiveOutcome> {
  const { dataDir, output, version, onAsset, signal } = request;
  const createdAt = Date.now();
  const { copy, database } = await copyDatabase(dataDir, target.scratch);
  try {
    const files = new AssetFiles(assetsFolder(dataDir));
    const stillStored = (ids: readonly string[]) => assetsAmong(dataDir, ids);
    const parts = { database, copy, files, version, createdAt, stillStored, onAsset };
    const archive = remember(writeArchive(parts));
    const zip = /\.(gz|tgz)$/.test(output) ? [createGzip()] : [];
    // A link that the owner has made among the files leads root to nothing that only root may read.
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

/** The copy is only ever open: it has no name any more, and goes with the process. */
async function copyDatabase(
  dataDir: string,
  scratch: string,
): Promise<{ readonly copy: DatabaseCopy; readonly database: FileHandle }> {
  try {
    // SQLite writes into an empty file and keeps its mode: the copy holds hashes and prompts.
    await (await open(scratch, 'wx', PRIVATE_FILE)).close();
    const copy = copyStore(dataDir, scratch);
    return { copy, database: await open(scratch, 'r') };
  } finally {
    await rm(scratch, { force: true });
  }
}

/** A pipeline takes what a generator yields and drops what it returns. */
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
