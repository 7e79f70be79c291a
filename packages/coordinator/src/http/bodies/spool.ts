/** Uploads on disk, from their first byte until their request is over. */
import { randomId } from '@inference-gateway/shared/ids';
import { writeAll } from '@inference-gateway/shared/program/disk';
import { mkdirSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { callbackify } from 'node:util';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
/**
 * Each piece is a call of the thread pool: pieces of 64 KiB took 31 % of the coordinator's main
 * thread while it forwarded uploads (`npm run bench -- media --cpu-prof DIR`). An upload has three
 * of them in memory at most: gathered, written, and read ahead.
 */
const PIECE_BYTES = 512 * 1024;

export class Spool {
  readonly #folder: string;

  /** Removes files of a coordinator that crashed. Requires the lock of the folder. */
  constructor(folder: string) {
    this.#folder = folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: PRIVATE_FOLDER, recursive: true });
  }

  newFile(): SpooledFile {
    return new SpooledFile(join(this.#folder, randomId()));
  }
}

/** An upload on disk, which can be read while it is written. */
export class SpooledFile {
  readonly path: string;
  /** So many can be read. */
  bytes = 0;
  /** What was written last: whoever reads as fast as the file grows need not read it from disk. */
  #last: { readonly at: number; readonly pieces: readonly Buffer[] } = NOTHING_WRITTEN;
  #end: 'whole' | { readonly error: unknown } | null = null;
  #waiting: (() => void)[] = [];

  constructor(path: string) {
    this.path = path;
  }

  /** It will not grow any more. */
  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /**
   * Resolves when everything that `inspect` passes has been written. Settles only when the file is
   * closed: a file that is still being opened would reappear after its removal.
   */
  async write(source: Readable, inspect: Transform): Promise<void> {
    const file = writableFile(this.path, (pieces) => {
      this.#last = { at: this.bytes, pieces };
      for (const { length } of pieces) this.bytes += length;
      this.#wake();
    });
    const closed = new Promise<void>((resolve) => file.once('close', resolve));
    try {
      await pipeline(source, inspect, file);
      this.#end = 'whole';
    } catch (error) {
      this.#end = { error };
      throw error;
    } finally {
      file.destroy();
      await closed;
      this.#last = NOTHING_WRITTEN;
      this.#wake();
    }
  }

  /**
   * The file in pieces, to its end. `leftMs` returns how long the byte at this position may still
   * take: throws after that, or if the upload breaks off.
   */
  async *read(leftMs: (at: number) => number = () => Infinity): AsyncGenerator<Buffer> {
    const handle = await open(this.path, 'r');
    try {
      let ahead: Promise<readonly Buffer[]> | null = null;
      for (let at = 0; await this.#has(at, leftMs);) {
        const pieces: readonly Buffer[] = await (ahead ?? this.#piecesAt(at, handle));
        at += pieces.reduce((sum, { length }) => sum + length, 0);
        // Read while these are sent.
        ahead = at < this.bytes ? this.#piecesAt(at, handle) : null;
        ahead?.catch(() => {});
        yield* pieces;
      }
    } finally {
      await handle.close();
    }
  }

  /** Resolves with true when there is more, or the end; with false after this time. */
  grown(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = (): void => resolve(false);
      const timer = withinMs === Infinity ? undefined : setTimeout(stop, Math.max(0, withinMs));
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  /** Waits for the byte at this position; false if the file ends before it. */
  async #has(at: number, leftMs: (at: number) => number): Promise<boolean> {
    while (at >= this.bytes) {
      if (this.#end === 'whole') return false;
      if (this.#end !== null) throw this.#end.error;
      if (!(await this.grown(leftMs(at)))) throw new Error(`byte ${at} did not come in time`);
    }
    return true;
  }

  async #piecesAt(at: number, handle: FileHandle): Promise<readonly Buffer[]> {
    const { at: lastAt, pieces } = this.#last;
    return at === lastAt ? pieces : [await readPiece(handle, { at, end: this.bytes })];
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

const NOTHING_WRITTEN = { at: -1, pieces: [] };

/**
 * Gathers pieces, and writes them together while it gathers the next. Calls `written` with those
 * that have been written.
 */
function writableFile(path: string, written: (pieces: readonly Buffer[]) => void): Writable {
  let handle: FileHandle | null = null;
  let gathered: Buffer[] = [];
  let bytes = 0;
  let writing: Promise<void> = Promise.resolve();
  const create = async (): Promise<void> => {
    handle = await open(path, 'wx', PRIVATE_FILE);
  };
  const write = async (pieces: readonly Buffer[]): Promise<void> => {
    if (handle !== null) await writeAll(handle, pieces);
    written(pieces);
  };
  const flush = async (): Promise<void> => {
    await writing;
    writing = write(gathered);
    writing.catch(() => {});
    gathered = [];
    bytes = 0;
  };
  const flushed = callbackify(flush);
  const end = async (): Promise<void> => {
    await flush();
    await writing;
  };
  const close = async (cause: Error | null): Promise<void> => {
    await Promise.allSettled([writing]);
    await handle?.close();
    if (cause !== null) throw cause;
  };
  return new Writable({
    construct: callbackify(create),
    write: (piece: Buffer, _encoding, done) => {
      gathered.push(piece);
      bytes += piece.length;
      if (bytes < PIECE_BYTES) done();
      else flushed(done);
    },
    final: callbackify(end),
    destroy: callbackify(close),
  });
}

async function readPiece(
  handle: FileHandle,
  { at, end }: { readonly at: number; readonly end: number },
): Promise<Buffer> {
  const piece = Buffer.allocUnsafe(Math.min(end - at, PIECE_BYTES));
  const { bytesRead } = await handle.read(piece, 0, piece.length, at);
  if (bytesRead === 0) throw new Error(`an upload ends after ${at} of ${end} bytes`);
  return piece.subarray(0, bytesRead);
}

/** The next start removes remaining files. */
export async function removeSpooled(paths: readonly string[]): Promise<void> {
  await Promise.allSettled(paths.map((path) => rm(path, { force: true })));
}
