/** A file on its way: written while it streams, and in its place only when it is whole. */
import { ApiError } from '@inference-gateway/shared/errors';
import { syncFolder } from '@inference-gateway/shared/program/disk';
import { WAV_HEADER_BYTES, mendWavHeader } from '@inference-gateway/shared/media/wav-header';
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Asset } from '../store/port.js';

const PRIVATE_FOLDER = 0o700;

const PRIVATE_FILE = 0o600;

const PIECE_BYTES = 64 * 1024;

interface DraftParts {
  readonly id: string;
  readonly path: string;
  /** Where the whole file will lie. */
  readonly place: string;
  readonly maxBytes: number;
}

export interface CommittedFile {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

export class AssetDraft {
  /** The id of the asset to be. */
  readonly id: string;
  readonly #parts: DraftParts;
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;
  #start: Buffer = Buffer.alloc(0);
  /** Settles when all that was handed over is written; rejected for good once a write fails. */
  #written: Promise<void> = Promise.resolve();
  /** Null before the first byte, and after the end. */
  #handle: FileHandle | null = null;
  #discarded = false;

  constructor(parts: DraftParts) {
    this.id = parts.id;
    this.#parts = parts;
  }

  /** Handed over so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Pieces are written in the order of the calls, and belong to the draft from then on; who does
   * not wait holds them all in memory. Rejects with an `ApiError`, as do all calls after it:
   * `commit` tells the failure to whoever waited for none of them.
   */
  write(piece: Uint8Array): Promise<void> {
    this.#bytes += piece.length;
    const isTooLong = this.#bytes > this.#parts.maxBytes;
    const written = this.#written.then(() => {
      if (isTooLong) throw tooLong(this.#parts.maxBytes);
      return this.#append(piece);
    });
    written.catch(() => {});
    this.#written = written;
    return written;
  }

  /** Rejects with an `ApiError`; then the draft is still to be discarded. */
  async commit(): Promise<CommittedFile> {
    await this.#written;
    try {
      const handle = await this.#open();
      const isMended = await this.#mendHeader(handle);
      const sha256 = isMended ? await this.#hashAgain(handle) : this.#hash.digest('hex');
      await handle.sync();
      await this.#close();
      await moveToPlace(this.#parts.path, this.#parts.place);
      return { bytes: this.#bytes, sha256 };
    } catch (error) {
      throw asStorageError(error);
    }
  }

  /** Leaves nothing behind of a draft that was not committed; its file stays where it was. */
  async discard(): Promise<void> {
    this.#discarded = true;
    await this.#written.catch(() => {});
    // What cannot be removed now, the sweep removes.
    await this.#close().catch(() => {});
    await rm(this.#parts.path, { force: true }).catch(() => {});
  }

  async #append(piece: Uint8Array): Promise<void> {
    // What was on its way when nobody wanted the file any more.
    if (this.#discarded) return;
    try {
      const handle = await this.#open();
      this.#hash.update(piece);
      const missing = WAV_HEADER_BYTES - this.#start.length;
      if (missing > 0) this.#start = Buffer.concat([this.#start, piece.subarray(0, missing)]);
      for (let from = 0; from < piece.length;) {
        from += (await handle.write(piece, from)).bytesWritten;
      }
    } catch (error) {
      throw asStorageError(error);
    }
  }

  /** A server that streams WAV does not know its length at the start; players want it there. */
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
      this.#handle = await open(path, 'wx+', PRIVATE_FILE);
    }
    return this.#handle;
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }
}

async function moveToPlace(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  const made = await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if (made !== undefined) await syncFolder(dirname(folder));
  await rename(from, to);
  await syncFolder(folder);
}

function tooLong(maxBytes: number): ApiError {
  const message =
    `The file is larger than the ${maxBytes} bytes that may still be kept. Ask for a smaller ` +
    'one, or delete some of your generated files.';
  return new ApiError('storage_full', message);
}

/** Whose file it is, and what made it. */
export type AssetFacts = Pick<
  Asset,
  'memberId' | 'providerId' | 'requestId' | 'model' | 'endpoint' | 'contentType'
>;

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What a caller is told when the disk fails; the cause is for the log. */
export function asStorageError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== undefined && NO_SPACE.has(code)) {
    const message =
      "The gateway's disk is full, so that it cannot keep the file. Tell its admin; deleting " +
      'generated files makes room.';
    return new ApiError('storage_full', message, { cause });
  }
  const message = 'The gateway cannot write the file to its disk now. Try again; tell its admin.';
  return new ApiError('storage_unavailable', message, { cause });
}
