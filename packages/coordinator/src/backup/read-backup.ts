/** Reads a whole backup, and writes those of its files that are wanted. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { EntryKind } from './archive-entry.js';
import { decodeManifest } from './manifest.js';
import type { Manifest } from './manifest.js';
import { damaged, readArchive } from './read-archive.js';
import type { ArchiveEntry, ArchiveFile } from './read-archive.js';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

export interface FileFacts {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** What was found in an archive. */
export interface BackupContents {
  readonly manifest: Manifest;
  readonly database: FileFacts;
  /** By asset id. */
  readonly assets: ReadonlyMap<string, FileFacts>;
}

/** Where a file is to be written; null for nowhere. */
export type Place = (kind: EntryKind) => string | null;

/** Throws a `CommandError` where the file is no whole backup. */
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

/** The manifest comes last: an archive that was cut off lacks it. */
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

/** Its length is limited by the entry's header. */
async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString();
}
