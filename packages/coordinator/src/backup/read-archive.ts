/** Reads the entries of an archive one after the other, unpacking nothing by itself. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { Parser } from 'tar';
import type { ReadEntry } from 'tar';
import { MAX_ARCHIVE_ENTRIES, kindOf } from './archive-entry.js';
import type { EntryKind } from './archive-entry.js';

const PIECE_BYTES = 256 * 1024;

export interface ArchiveEntry {
  readonly kind: EntryKind;
  /** As the archive names it; one that `kindOf` knows. */
  readonly path: string;
  /** To be read to their end. */
  readonly pieces: AsyncIterable<Buffer>;
}

/** An archive that is open to be read once, from its beginning. */
export interface ArchiveFile {
  readonly path: string;
  readonly handle: FileHandle;
}

/**
 * Whoever opens it closes its handle, read or not. Throws a `CommandError` where it cannot be
 * opened.
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
 * Hands the entries to `take`, each when it has done with the one before. Throws a `CommandError`
 * where the file cannot be read, or is not what a backup is.
 */
export async function readArchive(
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
   * Strict: whatever the parser would only warn of is an error. gzip makes at most 1,032 bytes of
   * one, which is less than an hour of silence needs: sizes are limited by entry instead.
   */
  readonly #parser = new Parser({
    strict: true,
    brotli: false,
    zstd: false,
    maxDecompressionRatio: Infinity,
  });
  #current: ReadEntry | null = null;
  /** Settles when all entries so far have been taken. */
  #taken: Promise<void> = Promise.resolve();

  constructor(take: Take) {
    this.#take = take;
    this.#parser.on('error', (error: unknown) => this.fail(error));
    this.#parser.on('entry', (entry: ReadEntry) => this.#onEntry(entry));
    this.#parser.on('ignoredEntry', ({ path, type }: ReadEntry) => {
      this.fail(new Error(`${JSON.stringify(path.slice(0, 200))} is a ${type}`));
    });
  }

  /** The first reason counts. */
  fail(reason: unknown): void {
    this.#broken.abort(reason);
  }

  async run(bytes: AsyncIterable<Buffer>): Promise<void> {
    try {
      await this.#feed(bytes);
      await this.#taken;
    } catch (error) {
      // Else whoever takes it would wait for the rest for ever.
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
    // Destroyed when everybody has done with it, its error would be nobody's.
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

export function damaged(file: string, cause: unknown): CommandError {
  const message = `${file} is no backup, or a damaged one: ${(cause as Error).message}.`;
  return new CommandError(EXIT.checkFailed, message, { cause });
}

function asCommandError(error: unknown, file: string): unknown {
  const { name, code, syscall, message } = error as NodeJS.ErrnoException;
  if (error instanceof CommandError || name === 'AbortError') return error;
  if (code === 'ENOENT' && syscall === 'open') {
    return new CommandError(EXIT.notFound, `there is no file ${file}.`, { cause: error });
  }
  // What the machine refuses says nothing about the archive.
  if (syscall === undefined) return damaged(file, error);
  return new CommandError(EXIT.failure, `reading ${file} failed: ${message}.`, { cause: error });
}
