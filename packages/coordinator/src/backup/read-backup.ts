/** Reads a whole backup and extracts the requested files. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { once } from 'node:events';
import { Parser } from 'tar';
import type { ReadEntry } from 'tar';
import type { EntryKind, Manifest } from './archive-entry.js';
import { decodeManifest, MAX_ARCHIVE_ENTRIES, kindOf } from './archive-entry.js';

const PRIVATE_FOLDER = 0o700;

const PRIVATE_FILE = 0o600;

export interface FileFacts {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** The contents of an archive. */
export interface BackupContents {
  readonly manifest: Manifest;
  readonly database: FileFacts;
  /** By asset id. */
  readonly assets: ReadonlyMap<string, FileFacts>;
}

/** Where to write a file; null to skip it. */
export type Place = (kind: EntryKind) => string | null;

/** Throws a `CommandError` if the file is not a complete backup. */
export async function readBackup(
  file: ArchiveFile,
  place: Place,
  signal: AbortSignal,
): Promise<BackupContents> {
  let manifest: Manifest | null = null;
  let database: FileFacts | null = null;
  const assets = new Map<string, FileFacts>();
  const take = async ({ kind, pieces }: ArchiveEntry): Promise<void> => {
    if (kind.kind === 'manifest') {
      manifest = decodeManifest(await textOf(pieces));
      return;
    }
    const facts = await store(pieces, place(kind));
    if (kind.kind === 'asset') assets.set(kind.id, facts);
    else database = facts;
  };
  await readArchive(file, take, signal);
  return whole(file.path, { manifest, database, assets });
}

type Found = {
  [Key in keyof BackupContents]: BackupContents[Key] | null;
};

/** The manifest is the last entry, so a truncated archive has none. */
function whole(file: string, { manifest, database, assets }: Found): BackupContents {
  if (manifest === null || database === null || assets === null) {
    const missing = database === null ? 'it holds no database' : 'its end is missing';
    throw damaged(file, new Error(missing));
  }
  return { manifest, database, assets };
}

async function store(pieces: AsyncIterable<Buffer>, path: string | null): Promise<FileFacts> {
  if (path === null) return measure(pieces, async () => {});
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
  const handle = await open(path, 'wx', PRIVATE_FILE);
  try {
    const facts = await measure(pieces, (piece) => writeAll(handle, piece));
    await handle.sync();
    return facts;
  } finally {
    await handle.close();
  }
}

async function measure(
  pieces: AsyncIterable<Buffer>,
  write: (piece: Buffer) => Promise<void>,
): Promise<FileFacts> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    bytes += piece.length;
    await write(piece);
  }
  return { bytes, sha256: hash.digest('hex') };
}

async function writeAll(handle: FileHandle, piece: Buffer): Promise<void> {
  for (let from = 0; from < piece.length;) {
    from += (await handle.write(piece, from)).bytesWritten;
  }
}

/** The size is limited by the check of the entry's header. */
async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString();
}

// Reads the entries of an archive one after the other and extracts nothing itself.

const PIECE_BYTES = 256 * 1024;

interface ArchiveEntry {
  readonly kind: EntryKind;
  /** The path in the archive, which `kindOf` has accepted. */
  readonly path: string;
  /** The caller reads them to the end. */
  readonly pieces: AsyncIterable<Buffer>;
}

/** An open archive, to be read once from its beginning. */
export interface ArchiveFile {
  readonly path: string;
  readonly handle: FileHandle;
}

/**
 * The caller closes the handle, also if it reads nothing. Throws a `CommandError` if the file
 * cannot be opened.
 */
export async function openArchive(path: string): Promise<ArchiveFile> {
  try {
    return { path, handle: await open(path) };
  } catch (error) {
    throw asCommandError(error, path);
  }
}

type Take = (entry: ArchiveEntry) => Promise<void>;

/**
 * Calls `take` for each entry after the previous call has finished. Throws a `CommandError` if the
 * file cannot be read or is not a backup.
 */
async function readArchive(
  { path, handle }: ArchiveFile,
  take: Take,
  signal: AbortSignal,
): Promise<void> {
  const reading = new Reading(take);
  const stop = (): void => reading.fail(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    await reading.run(handle.createReadStream({ highWaterMark: PIECE_BYTES }));
  } catch (error) {
    throw asCommandError(error, path);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

class Reading {
  readonly #take: Take;
  readonly #broken = new AbortController();
  readonly #seen = new Set<string>();
  /**
   * Strict mode turns the parser's warnings into errors. The parser's limit on the gzip ratio is
   * off: an hour of silence can reach gzip's maximum of 1,032 to 1. Sizes are limited per entry
   * instead.
   */
  readonly #parser = new Parser({
    strict: true,
    brotli: false,
    zstd: false,
    maxDecompressionRatio: Infinity,
  });
  #current: ReadEntry | null = null;
  /** Settles when `take` has finished for all entries so far. */
  #taken: Promise<void> = Promise.resolve();

  constructor(take: Take) {
    this.#take = take;
    this.#parser.on('error', (error: unknown) => this.fail(error));
    this.#parser.on('entry', (entry: ReadEntry) => this.#onEntry(entry));
    this.#parser.on('ignoredEntry', ({ path, type }: ReadEntry) => {
      this.fail(new Error(`${JSON.stringify(path.slice(0, 200))} is a ${type}`));
    });
  }

  /** Keeps the first reason only. */
  fail(reason: unknown): void {
    this.#broken.abort(reason);
  }

  async run(bytes: AsyncIterable<Buffer>): Promise<void> {
    try {
      await this.#feed(bytes);
      await this.#taken;
    } catch (error) {
      // Otherwise the reader of this entry would wait for ever.
      this.#current?.destroy(new Error('the archive ended'));
      await this.#taken.catch(() => {});
      throw this.#broken.signal.aborted ? this.#broken.signal.reason : error;
    }
  }

  async #feed(bytes: AsyncIterable<Buffer>): Promise<void> {
    const { signal } = this.#broken;
    for await (const piece of bytes) {
      if (!this.#parser.write(piece)) await once(this.#parser, 'drain', { signal });
      signal.throwIfAborted();
    }
    const ended = once(this.#parser, 'end', { signal });
    this.#parser.end();
    await ended;
  }

  #onEntry(entry: ReadEntry): void {
    this.#current = entry;
    // Without a listener, destroying an entry after it was read would raise an uncaught error.
    entry.on('error', () => {});
    const taken = this.#taken.then(() => this.#take(this.#admit(entry)));
    taken.catch((error: unknown) => this.fail(error));
    this.#taken = taken;
  }

  #admit(entry: ReadEntry): ArchiveEntry {
    const kind = kindOf(entry);
    const { path } = entry;
    if (this.#seen.has(path)) throw new Error(`it holds ${path} twice`);
    this.#seen.add(path);
    if (this.#seen.size > MAX_ARCHIVE_ENTRIES) {
      throw new Error(`it has more than ${MAX_ARCHIVE_ENTRIES} entries`);
    }
    return { kind, path, pieces: entry };
  }
}

function damaged(file: string, cause: unknown): CommandError {
  const message = `${file} is no backup, or a damaged one: ${(cause as Error).message}.`;
  return new CommandError(EXIT.checkFailed, message, { cause });
}

function asCommandError(error: unknown, file: string): unknown {
  const { name, code, syscall, message } = error as NodeJS.ErrnoException;
  if (error instanceof CommandError || name === 'AbortError') return error;
  if (code === 'ENOENT' && syscall === 'open') {
    return new CommandError(EXIT.notFound, `there is no file ${file}.`, { cause: error });
  }
  // A system error (permissions, disk) does not mean that the archive is damaged.
  if (syscall === undefined) return damaged(file, error);
  return new CommandError(EXIT.failure, `reading ${file} failed: ${message}.`, { cause: error });
}
