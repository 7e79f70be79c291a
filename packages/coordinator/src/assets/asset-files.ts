/**
 * The bytes of assets, by id; nothing about rows. A file is written below `drafts` and moved to its
 * place when it is whole and on the disk, so that whatever lies in a place is whole.
 */
import { randomId } from '@inference-gateway/shared/ids';
import type { Dirent } from 'node:fs';
import { readdir, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { AssetDraft } from './asset-draft.js';

/** One file: four hours of stereo sound in WAV at 16 kHz, or an hour of film. */
export const MAX_ASSET_BYTES = 1024 ** 3;

const DRAFTS = 'drafts';

export interface AssetFile {
  readonly id: string;
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly modifiedAt: number;
}

/** Where the files of a data folder lie. */
export function assetsFolder(dataDir: string): string {
  return join(dataDir, 'assets');
}

export class AssetFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * A new file that takes up to so many bytes; the disk is touched by its first byte. Drafts under
   * way are not counted against each other.
   */
  draft(maxBytes: number = MAX_ASSET_BYTES): AssetDraft {
    const id = randomId();
    const path = this.#draftPath(id);
    return new AssetDraft({ id, path, place: this.path(id), maxBytes });
  }

  /** Two characters of the id name a folder: 3,844 folders, each small enough to list. */
  path(id: string): string {
    if (!isAssetId(id)) throw new Error(`'${id}' is no id of an asset`);
    return join(this.#folder, id.slice(0, 2), id);
  }

  /** Null where there is no such file. */
  async bytes(id: string): Promise<number | null> {
    return (await statOf(this.path(id)))?.size ?? null;
  }

  /** False where there was none. */
  async remove(id: string): Promise<boolean> {
    return (await unless(unlink(this.path(id)).then(() => true))) ?? false;
  }

  /** Every file in its place, drafts left out. */
  async *ids(): AsyncIterable<AssetFile> {
    for (const folder of await entries(this.#folder)) {
      if (folder.isDirectory() && folder.name.length === 2) {
        yield* assetsIn(join(this.#folder, folder.name));
      }
    }
  }

  /** Removes drafts that nobody has written to for this long, and returns how many. */
  async sweepDrafts(olderThanMs: number): Promise<number> {
    let removed = 0;
    for (const { name } of await entries(join(this.#folder, DRAFTS))) {
      const path = join(this.#folder, DRAFTS, name);
      const found = await statOf(path);
      if (found === null || Date.now() - found.mtimeMs < olderThanMs) continue;
      await rm(path, { recursive: true, force: true });
      removed += 1;
    }
    return removed;
  }

  #draftPath(id: string): string {
    return join(this.#folder, DRAFTS, id);
  }
}

async function* assetsIn(folder: string): AsyncIterable<AssetFile> {
  for (const { name } of await entries(folder)) {
    // Whatever else somebody has put here is not ours to touch.
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

/** Null where the file or the folder is not there, perhaps not any more. */
async function unless<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** As `randomId` makes them. Whatever else is asked for never becomes part of a path. */
const FORM = /^[0-9A-Za-z]{22}$/;

export function isAssetId(text: string): boolean {
  return FORM.test(text);
}
