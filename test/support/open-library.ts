/** An asset library with a real store, a real folder and two members. */
import { assetsFolder, openByteStore } from '@inference-gateway/coordinator/assets/folder-store';
import type { FolderStore } from '@inference-gateway/coordinator/assets/folder-store';
import { AssetLibrary } from '@inference-gateway/coordinator/assets/asset-library';
import type { AssetFacts } from '@inference-gateway/coordinator/assets/answer-files';
import { DurationMeter } from '@inference-gateway/coordinator/media/duration';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Asset, Store } from '@inference-gateway/coordinator/store/port';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { createMember, storeWith } from '../store/store-rows.js';
import { temporaryFolder } from './temporary-folder.js';

export const DAY_MS = 86_400_000;

export interface OpenLibrary {
  readonly dataDir: string;
  readonly files: FolderStore;
  readonly store: Store;
  readonly library: AssetLibrary;
  readonly anna: string;
  readonly ben: string;
  /** Closes it before the test ends; otherwise the end of the test does. */
  close(): Promise<void>;
}

interface LibraryOptions {
  readonly maxBytes?: number;
  readonly retentionMs?: number;
  readonly isPrivate?: boolean;
  /** Replaces operations of the store. */
  readonly store?: Partial<Store>;
}

export async function openLibrary(options: LibraryOptions = {}): Promise<OpenLibrary> {
  const { maxBytes = 1024 ** 3, retentionMs = DAY_MS, isPrivate = false } = options;
  const dataDir = await temporaryFolder();
  const store = await openStore(dataDir);
  const anna = (await createMember(store, 'anna')).id;
  const ben = (await createMember(store, 'ben')).id;
  const files = openByteStore(dataDir);
  const durations = new DurationMeter();
  const logger = createLogger('silent');
  const shown = storeWith(store, options.store ?? {});
  const library = new AssetLibrary({
    files,
    store: shown,
    durations,
    maxBytes,
    retentionMs,
    now: Date.now,
    logger,
    isPrivate,
  });
  // The library's first sweep must not see the test's files.
  await library.sweep();
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closed ??= (async () => {
      await library.close();
      await durations.close();
      await store.close();
    })();
    return closed;
  };
  onTestFinished(close);
  return { dataDir, files, store, library, anna, ben, close };
}

export function factsOf(memberId: string, facts: Partial<AssetFacts> = {}): AssetFacts {
  return {
    memberId,
    keyId: 'key',
    providerId: 'provider-1',
    requestId: 'req_1',
    model: 'sdxl',
    endpoint: 'images',
    contentType: 'image/png',
    ...facts,
  };
}

/** Stores these bytes as an asset of the member in `facts`. */
export async function keepBytes(
  { library }: Pick<OpenLibrary, 'library'>,
  facts: AssetFacts,
  bytes: Uint8Array | string,
): Promise<Asset> {
  const draft = library.draft();
  await draft.write(Buffer.from(bytes));
  return library.keep(draft, facts);
}

/** The names of a library's files, drafts included. */
export async function filesBelow(dataDir: string): Promise<string[]> {
  if (!existsSync(assetsFolder(dataDir))) return [];
  const all = await readdir(assetsFolder(dataDir), { recursive: true, withFileTypes: true });
  return all.filter((entry) => entry.isFile()).map(({ name }) => name);
}
