/**
 * A file that is being written on this machine. Once it is complete and on the disk, its byte store
 * takes it over.
 */
import { WAV_HEADER_BYTES, mendWavHeader } from '@inference-gateway/shared/media/wav-header';
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asStorageError, tooLong } from './byte-store.js';
import type { CommittedFile, Draft } from './byte-store.js';

export const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
/**
 * Bytes per read or write of a file. Each is a call of the thread pool, which costs the main thread
 * as much as 64 KiB of a caller's socket. Base64 takes them whole: three bytes each.
 */
export const PIECE_BYTES = 192 * 1024;

interface DraftParts {
  readonly id: string;
  readonly path: string;
  /** Takes over the complete file, whose path is no longer used then. */
  readonly store: (file: CommittedFile) => Promise<void>;
  readonly maxBytes: number;
}

export class LocalDraft implements Draft {
  readonly id: string;
  readonly #parts: DraftParts;
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;
  #start: Buffer = Buffer.alloc(0);
  /** Bytes that wait until a whole piece can be written, and how many they are. */
  #gathered: Buffer = Buffer.alloc(0);
  #gatheredBytes = 0;
  /** Settles when all bytes so far are gathered or written. After a failure it stays rejected. */
  #taken: Promise<void> = Promise.resolve();
  /** Null before the first byte, and after the end. */
  #handle: FileHandle | null = null;
  #discarded = false;

  constructor(parts: DraftParts) {
    this.id = parts.id;
    this.#parts = parts;
  }

  write(piece: Uint8Array): Promise<void> {
    this.#bytes += piece.length;
    const isTooLong = this.#bytes > this.#parts.maxBytes;
    const taken = this.#taken.then(() => {
      if (isTooLong) throw tooLong(this.#parts.maxBytes);
      return this.#append(piece);
    });
    taken.catch(() => {});
    this.#taken = taken;
    return taken;
  }

  async commit(inspect?: (localFile: string) => Promise<void>): Promise<CommittedFile> {
    await this.#taken;
    try {
      const handle = await this.#open();
      await writeAll(handle, this.#gathered.subarray(0, this.#gatheredBytes));
      const isMended = await this.#mendHeader(handle);
      const sha256 = isMended ? await this.#hashAgain(handle) : this.#hash.digest('hex');
      await handle.sync();
      await this.#close();
      await inspect?.(this.#parts.path);
      const file = { bytes: this.#bytes, sha256 };
      await this.#parts.store(file);
      return file;
    } catch (error) {
      throw asStorageError(error);
    }
  }

  async discard(): Promise<void> {
    this.#discarded = true;
    await this.#taken.catch(() => {});
    // The sweep removes what cannot be deleted now.
    await this.#close().catch(() => {});
    await rm(this.#parts.path, { force: true }).catch(() => {});
  }

  async #append(piece: Uint8Array): Promise<void> {
    // A piece was still queued when the draft was discarded.
    if (this.#discarded) return;
    try {
      const handle = await this.#open();
      this.#hash.update(piece);
      const missing = WAV_HEADER_BYTES - this.#start.length;
      if (missing > 0) this.#start = Buffer.concat([this.#start, piece.subarray(0, missing)]);
      await this.#gather(handle, piece);
    } catch (error) {
      throw asStorageError(error);
    }
  }

  async #gather(handle: FileHandle, piece: Uint8Array): Promise<void> {
    if (this.#gathered.length === 0) this.#gathered = Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (let from = 0; from < piece.length;) {
      const room = piece.subarray(from, from + PIECE_BYTES - this.#gatheredBytes);
      this.#gathered.set(room, this.#gatheredBytes);
      this.#gatheredBytes += room.length;
      from += room.length;
      if (this.#gatheredBytes < PIECE_BYTES) return;
      await writeAll(handle, this.#gathered);
      this.#gatheredBytes = 0;
    }
  }

  /** A server that streams WAV does not know the length at the start, but players need it there. */
  async #mendHeader(handle: FileHandle): Promise<boolean> {
    const mended = mendWavHeader(this.#start, this.#bytes);
    if (mended !== null) await handle.write(mended, 0, mended.length, 0);
    return mended !== null;
  }

  async #hashAgain(handle: FileHandle): Promise<string> {
    const hash = createHash('sha256');
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let from = 0; from < this.#bytes;) {
      const { bytesRead } = await handle.read(piece, 0, PIECE_BYTES, from);
      if (bytesRead === 0) throw new Error(`${this.#parts.path} ends after ${from} bytes`);
      hash.update(piece.subarray(0, bytesRead));
      from += bytesRead;
    }
    return hash.digest('hex');
  }

  async #open(): Promise<FileHandle> {
    if (this.#handle === null) {
      const { path } = this.#parts;
      await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
      this.#handle = await open(path, 'w+', PRIVATE_FILE);
    }
    return this.#handle;
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }
}

/** Rarely, a write takes only a part. */
async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.length;) from += (await handle.write(bytes, from)).bytesWritten;
}
