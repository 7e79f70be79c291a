/** What is removed from time to time: assets that are over, orphans, and stale drafts. */
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { AssetStore } from '../store/port.js';
import type { ByteStore, StoredFile } from './byte-store.js';

/** Rows deleted in one operation of the store: more would hold its only writer. */
export const EXPIRY_BATCH = 200;

export interface SweepParts {
  readonly files: ByteStore;
  readonly store: AssetStore;
  readonly logger: Logger;
}

/** Never throws: what cannot be removed now is tried again the next time. */
export async function sweepAssets({ files, store, logger }: SweepParts): Promise<void> {
  try {
    const now = Date.now();
    const expired = await removeExpired(files, store, now);
    const lost = await removeOrphans(files, store, now);
    const drafts = await files.sweepDrafts(ORPHAN_AGE_MS);
    if (expired.count + lost.count + drafts === 0) return;
    logger.info({ expired: expired.count, orphans: lost.count, drafts }, 'assets swept');
  } catch (error) {
    logger.warn({ err: error }, 'the sweep of assets stopped; it goes on the next time');
  }
}

/** How many files were removed, and what they took. */
export interface Removed {
  readonly count: number;
  readonly bytes: number;
}

/** Rows first, then their files. */
export async function removeExpired(
  files: ByteStore,
  store: Pick<AssetStore, 'takeExpiredAssets'>,
  now: number,
): Promise<Removed> {
  let [count, bytes] = [0, 0];
  for (;;) {
    const ids = await store.takeExpiredAssets(now, EXPIRY_BATCH);
    for (const id of ids) {
      bytes += (await files.bytes(id)) ?? 0;
      await files.remove(id);
    }
    count += ids.length;
    if (ids.length < EXPIRY_BATCH) return { count, bytes };
  }
}

export async function removeOrphans(
  files: ByteStore,
  store: Pick<AssetStore, 'knownAssets'>,
  now: number,
): Promise<Removed> {
  let [count, bytes] = [0, 0];
  for await (const orphan of orphans(files, store, now)) {
    if (await files.remove(orphan.id)) count += 1;
    bytes += orphan.bytes;
  }
  return { count, bytes };
}

// Files without a row: what a process left behind that ended between the two.

/** A younger file may be one whose row is about to be written. */
export const ORPHAN_AGE_MS = 60 * 60_000;

/** Asked for in one operation of the store. */
const BATCH = 200;

export async function* orphans(
  files: ByteStore,
  store: Pick<AssetStore, 'knownAssets'>,
  now: number,
): AsyncIterable<StoredFile> {
  let batch: StoredFile[] = [];
  for await (const file of files.list()) {
    if (now - file.modifiedAt < ORPHAN_AGE_MS) continue;
    batch.push(file);
    if (batch.length < BATCH) continue;
    yield* unknown(batch, store);
    batch = [];
  }
  yield* unknown(batch, store);
}

async function* unknown(
  batch: readonly StoredFile[],
  store: Pick<AssetStore, 'knownAssets'>,
): AsyncIterable<StoredFile> {
  if (batch.length === 0) return;
  const known = new Set(await store.knownAssets(batch.map(({ id }) => id)));
  yield* batch.filter(({ id }) => !known.has(id));
}
