/**
 * Where the bytes of generated files lie, by the id of their asset; nothing about rows. Bytes are
 * put once, whole, from a draft, and never changed. No path leaves a byte store, so that an object
 * storage can be one.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Readable } from 'node:stream';

/** One file: four hours of stereo sound in WAV at 16 kHz, or an hour of film. */
export const MAX_ASSET_BYTES = 1024 ** 3;

export interface StoredFile {
  readonly id: string;
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly modifiedAt: number;
}

export interface ByteRange {
  readonly start: number;
  /** The byte after the last one. */
  readonly end: number;
}

export interface CommittedFile {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** A file that is being written: in the store only once it is whole. */
export interface Draft {
  /** The id of the asset to be. */
  readonly id: string;
  /**
   * Pieces are written in the order of the calls, and belong to the draft from then on; callers
   * that do not wait hold them all in memory. Rejects with an `ApiError`, as do all calls after it:
   * `commit` reports the failure to callers that waited for none of them.
   */
  write(piece: Uint8Array): Promise<void>;
  /**
   * Puts the file into the store, once it is durable. `inspect` gets a local file with its final
   * bytes before that. Rejects with an `ApiError`; then the draft is still to be discarded.
   */
  commit(inspect?: (localFile: string) => Promise<void>): Promise<CommittedFile>;
  /** Leaves nothing behind of a draft that was not committed; a stored file stays. */
  discard(): Promise<void>;
}

export interface ByteStore {
  /**
   * A new file that takes up to so many bytes; nothing is stored before its first byte. Drafts
   * under way are not counted against each other.
   */
  draft(maxBytes?: number): Draft;
  /**
   * The whole file, or a range that lies within it and is not empty. Null if there is no such file;
   * one that is deleted later can still be read to its end. The caller reads or destroys it.
   */
  read(id: string, range?: ByteRange): Promise<Readable | null>;
  /** The size; null if there is no such file. */
  bytes(id: string): Promise<number | null>;
  /** False if there was none. */
  remove(id: string): Promise<boolean>;
  /** Every stored file, drafts left out, in no order. */
  list(): AsyncIterable<StoredFile>;
  /** Removes drafts that nobody has written to for this long, and returns how many. */
  sweepDrafts(olderThanMs: number): Promise<number>;
  /** Where a file lies or would lie: for messages to administrators only. */
  location(id: string): string;
}

/** As `randomId` makes them. Nothing else that is asked for ever becomes part of a path. */
const ID_FORM = /^[0-9A-Za-z]{22}$/;

export function isAssetId(text: string): boolean {
  return ID_FORM.test(text);
}

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

export function tooLong(maxBytes: number): ApiError {
  const message =
    `The file is larger than the ${maxBytes} bytes that may still be kept. Ask for a smaller ` +
    'one, or delete some of your generated files.';
  return new ApiError('storage_full', message);
}
