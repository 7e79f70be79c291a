/**
 * Stores the bytes of generated files by asset id. It knows nothing about rows. Bytes are stored
 * once, complete, from a draft, and never change. No path leaves a byte store, so that an object
 * storage can replace it.
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

/** A file that is being written. It appears in the store only when complete. */
export interface Draft {
  /** The id of the future asset. */
  readonly id: string;
  /**
   * Pieces are written in the order of the calls, and belong to the draft from then on; callers
   * that do not wait hold them all in memory. Rejects with an `ApiError`, as do all later calls.
   * `commit` reports a failure to callers that did not wait.
   */
  write(piece: Uint8Array): Promise<void>;
  /**
   * Stores the file after it is durable. Before that, `inspect` gets a local file with its final
   * bytes. Rejects with an `ApiError`; the caller then still has to discard the draft.
   */
  commit(inspect?: (localFile: string) => Promise<void>): Promise<CommittedFile>;
  /** Deletes a draft that was not committed. A stored file stays. */
  discard(): Promise<void>;
}

export interface ByteStore {
  /**
   * A new file of at most `maxBytes`. Creates nothing before the first byte. The limits of parallel
   * drafts are independent. `id` is for copies of a file from another byte store.
   */
  draft(maxBytes?: number, id?: string): Draft;
  /**
   * The whole file, or a non-empty range inside it. Null if there is no such file. If the file is
   * deleted later, it can still be read to its end. The caller reads or destroys the stream. This
   * and the methods below reject with an `ApiError` if the store cannot be reached.
   */
  read(id: string, range?: ByteRange): Promise<Readable | null>;
  /** The size; null if there is no such file. */
  bytes(id: string): Promise<number | null>;
  /** False if there was none. */
  remove(id: string): Promise<boolean>;
  /** All stored files in no particular order, without drafts. */
  list(): AsyncIterable<StoredFile>;
  /** Deletes drafts without a write since then (Unix ms), and returns how many. */
  sweepDrafts(before: number): Promise<number>;
  /** The path of a file, which may not exist. Only for messages to administrators. */
  location(id: string): string;
  /** A URL that opens the file for `seconds`, to redirect callers to; null if there are none. */
  link(id: string, seconds: number, headers: LinkHeaders): Promise<string | null>;
  /** Closes idle connections. */
  close(): void;
}

/** Headers of the answer to a link. */
export interface LinkHeaders {
  readonly contentType: string;
  readonly contentDisposition: string;
}

/** The form of `randomId`. Only such ids become part of a path. */
const ID_FORM = /^[0-9A-Za-z]{22}$/;

export function isAssetId(text: string): boolean {
  return ID_FORM.test(text);
}

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** The error for callers if the disk fails. The cause is only logged. */
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
