/**
 * A byte store in a folder: the coordinator's own, or one that several coordinators mount. A file
 * is written below `drafts`. Once it is complete and on the disk, it is moved to its final path,
 * so every file there is complete.
 */
import { randomId } from '@inference-gateway/shared/ids';
import { syncFolder } from '@inference-gateway/shared/program/disk';
import type { Dirent } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { MAX_ASSET_BYTES, isAssetId } from './byte-store.js';
import type { ByteRange, ByteStore, Draft, StoredFile } from './byte-store.js';
import { LocalDraft, PIECE_BYTES, PRIVATE_FOLDER } from './local-draft.js';

const DRAFTS = 'drafts';

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

  draft(maxBytes: number = MAX_ASSET_BYTES, id: string = randomId()): Draft {
    const [path, place] = [this.#draftPath(id), this.path(id)];
    return new LocalDraft({ id, path, maxBytes, store: () => moveToPlace(path, place) });
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

  sweepDrafts(before: number): Promise<number> {
    return sweepDraftsIn(this.#folder, before);
  }

  async link(): Promise<null> {
    return null;
  }

  close(): void {}

  #draftPath(id: string): string {
    return draftPath(this.#folder, id);
  }
}

export function draftPath(folder: string, id: string): string {
  return join(folder, DRAFTS, id);
}

/** Deletes drafts without a write since then (Unix ms), and returns how many. */
export async function sweepDraftsIn(folder: string, before: number): Promise<number> {
  let removed = 0;
  for (const { name } of await entries(join(folder, DRAFTS))) {
    const path = draftPath(folder, name);
    const found = await statOf(path);
    if (found === null || found.mtimeMs > before) continue;
    await rm(path, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
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

async function moveToPlace(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  const made = await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if (made !== undefined) await syncFolder(dirname(folder));
  await rename(from, to);
  await syncFolder(folder);
}
