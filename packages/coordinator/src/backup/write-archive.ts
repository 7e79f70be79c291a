/** Writes a backup's archive in this order: the database, the assets, the manifest. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Header } from 'tar';
import type { ByteStore, StoredFile } from '../assets/byte-store.js';
import { DATABASE_FILE } from '../store/open.js';
import type { DatabaseCopy } from '../store/open.js';
import { MANIFEST_FILE, assetEntry, encodeManifest } from './archive-entry.js';
import type { Manifest } from './archive-entry.js';

/** The block size of tar: a header takes one block, contents are padded to whole blocks. */
const BLOCK_BYTES = 512;
const PIECE_BYTES = 256 * 1024;
const PRIVATE_FILE = 0o600;
/** Limit of the manifest's list of assets that were deleted during the backup; usually a few. */
const MAX_DELETED = 100_000;

export interface ArchiveSource {
  readonly database: FileHandle;
  readonly copy: DatabaseCopy;
  readonly files: ByteStore;
  /** The program's version. */
  readonly version: string;
  /** Unix milliseconds of the database copy. */
  readonly createdAt: number;
  /** Returns those of the assets that are still in the store. */
  readonly stillStored: (ids: readonly string[]) => readonly string[];
  readonly onAsset: (counts: Manifest['assets']) => void;
}

export interface ArchiveOutcome {
  readonly manifest: Manifest;
  /** Files that were listed but were deleted before they were read. */
  readonly skipped: number;
  /** Assets that are in the store but have no file. */
  readonly missing: number;
}

/** Yields the archive and returns a summary of its contents. */
export async function* writeArchive(
  source: ArchiveSource,
): AsyncGenerator<Buffer, ArchiveOutcome, undefined> {
  const { copy, version, createdAt } = source;
  const database = yield* databaseEntry(source);
  const { assets, lacking, skipped } = yield* assetEntries(source);
  // A row is deleted before its file, so an asset still in the store has lost its file.
  const asked = lacking.slice(0, MAX_DELETED);
  const lost = new Set(source.stillStored(asked));
  const deleted = asked.filter((id) => !lost.has(id));
  const schema_version = copy.schemaVersion;
  const manifest = { version, schema_version, created_at: createdAt, database, assets, deleted };
  const bytes = encodeManifest(manifest);
  yield header(MANIFEST_FILE, { size: bytes.length, mtime: new Date(createdAt) });
  yield Buffer.concat([bytes, padding(bytes.length)]);
  yield Buffer.alloc(2 * BLOCK_BYTES);
  return { manifest, skipped, missing: lacking.length - deleted.length };
}

async function* databaseEntry({
  database,
}: ArchiveSource): AsyncGenerator<Buffer, Manifest['database'], undefined> {
  const hash = createHash('sha256');
  const { size, mtime } = await database.stat();
  yield header(DATABASE_FILE, { size, mtime });
  for await (const piece of piecesOf(database, size)) {
    hash.update(piece);
    yield piece;
  }
  yield padding(size);
  return { bytes: size, sha256: hash.digest('hex') };
}

interface Archived {
  readonly assets: Manifest['assets'];
  /** Assets with a row in the database copy but no file in the archive. */
  readonly lacking: readonly string[];
  readonly skipped: number;
}

async function* assetEntries(source: ArchiveSource): AsyncGenerator<Buffer, Archived, undefined> {
  const { files, copy, onAsset } = source;
  const lacking = new Set(copy.assetIds);
  let [count, bytes, skipped] = [0, 0, 0];
  for await (const file of files.list()) {
    const stream = await files.read(file.id);
    if (stream === null) {
      skipped += 1;
      continue;
    }
    yield* assetFile(file, stream);
    bytes += file.bytes;
    count += 1;
    lacking.delete(file.id);
    onAsset({ count, bytes });
  }
  return { assets: { count, bytes }, lacking: [...lacking], skipped };
}

async function* assetFile(file: StoredFile, stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield header(assetEntry(file.id), { size: file.bytes, mtime: new Date(file.modifiedAt) });
    let bytes = 0;
    for await (const piece of stream as AsyncIterable<Buffer>) {
      bytes += piece.length;
      yield piece;
    }
    if (bytes !== file.bytes) throw changed(file.bytes, bytes);
    yield padding(bytes);
  } finally {
    stream.destroy();
  }
}

async function* piecesOf(handle: FileHandle, bytes: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes;) {
    const length = Math.min(PIECE_BYTES, bytes - from);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, from);
    if (bytesRead === 0) throw changed(bytes, from);
    yield buffer.subarray(0, bytesRead);
    from += bytesRead;
  }
}

function changed(listed: number, read: number): Error {
  return new Error(`a file of ${listed} bytes ended after ${read}`);
}

function header(path: string, facts: { readonly size: number; readonly mtime: Date }): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  new Header({ path, type: 'File', mode: PRIVATE_FILE, ...facts }).encode(block);
  return block;
}

function padding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES);
}
