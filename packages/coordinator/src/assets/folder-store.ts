/**
 * A byte store in a folder. A file is written below `drafts`. Once it is complete and on the disk,
 * it is moved to its final path, so every file there is complete.
 */
import { randomId } from '@inference-gateway/shared/ids';
import { WAV_HEADER_BYTES, mendWavHeader } from '@inference-gateway/shared/media/wav-header';
import { syncFolder } from '@inference-gateway/shared/program/disk';
import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { MAX_ASSET_BYTES, asStorageError, isAssetId, tooLong } from './byte-store.js';
import type { ByteRange, ByteStore, CommittedFile, Draft, StoredFile } from './byte-store.js';

const DRAFTS = 'drafts';
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
/**
 * Bytes per read or write of a file. Each is a call of the thread pool, which costs the main thread
 * as much as 64 KiB of a caller's socket. Base64 takes them whole: three bytes each.
 */
const PIECE_BYTES = 192 * 1024;

/** The assets folder of a data folder. */
export function assetsFolder(dataDir: string): string {
  return join(dataDir, 'assets');
}

export function openByteStore(dataDir: string): FolderStore {
  return new FolderStore(assetsFolder(dataDir));
}

export class FolderStore implements ByteStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  draft(maxBytes: number = MAX_ASSET_BYTES): Draft {
    const id = randomId();
    const path = this.#draftPath(id);
    return new FolderDraft({ id, path, place: this.path(id), maxBytes });
  }

  /** Two characters of the id name a folder: 3,844 folders, each small enough to list. */
  path(id: string): string {
    if (!isAssetId(id)) throw new Error(`'${id}' is no id of an asset`);
    return join(this.#folder, id.slice(0, 2), id);
  }

  location(id: string): string {
    return this.path(id);
  }

  async read(id: string, range?: ByteRange): Promise<Readable | null> {
    const handle = await unless(open(this.path(id), 'r'));
    const within = range && { start: range.start, end: range.end - 1 };
    return handle?.createReadStream({ ...within, highWaterMark: PIECE_BYTES }) ?? null;
  }

  async bytes(id: string): Promise<number | null> {
    return (await statOf(this.path(id)))?.size ?? null;
  }

  async remove(id: string): Promise<boolean> {
    return (await unless(unlink(this.path(id)).then(() => true))) ?? false;
  }

  async *list(): AsyncIterable<StoredFile> {
    for (const folder of await entries(this.#folder)) {
      if (folder.isDirectory() && folder.name.length === 2) {
        yield* assetsIn(join(this.#folder, folder.name));
      }
    }
  }

  async sweepDrafts(before: number): Promise<number> {
    let removed = 0;
    for (const { name } of await entries(join(this.#folder, DRAFTS))) {
      const path = join(this.#folder, DRAFTS, name);
      const found = await statOf(path);
      if (found === null || found.mtimeMs > before) continue;
      await rm(path, { recursive: true, force: true });
      removed += 1;
    }
    return removed;
  }

  #draftPath(id: string): string {
    return join(this.#folder, DRAFTS, id);
  }
}

async function* assetsIn(folder: string): AsyncIterable<StoredFile> {
  for (const { name } of await entries(folder)) {
    // Skips all other files: somebody else put them here.
    const found = isAssetId(name) ? await statOf(join(folder, name)) : null;
    if (found !== null) yield { id: name, bytes: found.size, modifiedAt: found.mtimeMs };
  }
}

async function entries(folder: string): Promise<readonly Dirent[]> {
  return (await unless(readdir(folder, { withFileTypes: true }))) ?? [];
}

function statOf(path: string): Promise<{ size: number; mtimeMs: number } | null> {
  return unless(stat(path));
}

/** Null if the file or folder does not exist, or was deleted meanwhile. */
async function unless<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

interface DraftParts {
  readonly id: string;
  readonly path: string;
  /** The final path of the complete file. */
  readonly place: string;
  readonly maxBytes: number;
}

class FolderDraft implements Draft {
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
      await moveToPlace(this.#parts.path, this.#parts.place);
      return { bytes: this.#bytes, sha256 };
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

/** Rarely, a write takes only a part. */
async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.length;) from += (await handle.write(bytes, from)).bytesWritten;
}

async function moveToPlace(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  const made = await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if (made !== undefined) await syncFolder(dirname(folder));
  await rename(from, to);
  await syncFolder(folder);
}
