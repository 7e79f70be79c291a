/** The bytes of a backup's archive, in their order: the database, the assets, the manifest. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Header } from 'tar';
import type { ByteStore, StoredFile } from '../assets/byte-store.js';
import { DATABASE_FILE } from '../store/open.js';
import type { DatabaseCopy } from '../store/open.js';
import { MANIFEST_FILE, assetEntry, encodeManifest } from './archive-entry.js';
import type { Manifest } from './archive-entry.js';

/** tar's block: headers have one, contents are filled up to whole ones. */
const BLOCK_BYTES = 512;
const PIECE_BYTES = 256 * 1024;
const PRIVATE_FILE = 0o600;
/** Ids that the manifest lists: what was deleted during a backup is rarely more than a few. */
const MAX_DELETED = 100_000;

export interface ArchiveSource {
  readonly database: FileHandle;
  readonly copy: DatabaseCopy;
  readonly files: ByteStore;
  /** Of the program. */
  readonly version: string;
  /** Unix milliseconds: when the database was copied. */
  readonly createdAt: number;
  /** Those of these assets that are still in the store. */
  readonly stillStored: (ids: readonly string[]) => readonly string[];
  readonly onAsset: (counts: Manifest['assets']) => void;
}

export interface ArchiveOutcome {
  readonly manifest: Manifest;
  /** Files that were listed and gone when their turn came. */
  readonly skipped: number;
  /** Assets that the store has and whose files it lacks. */
  readonly missing: number;
}

/** Yields the archive, and returns what is in it. */
export async function* writeArchive(
  source: ArchiveSource,
): AsyncGenerator<Buffer, ArchiveOutcome, undefined> {
  const { copy, version, createdAt } = source;
  const database = yield* databaseEntry(source);
  const { assets, lacking, skipped } = yield* assetEntries(source);
  // A row goes before its file does: what is still in the store has really lost its file.
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
  /** Assets with a row in the copy and no file in the archive. */
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
