/** Periodic clean-up: expired assets, orphan files, and stale drafts. */
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { AssetStore } from '../store/port.js';
import type { ByteStore, StoredFile } from './byte-store.js';

/** Rows deleted in one operation. More would block the store's only writer for too long. */
export const EXPIRY_BATCH = 200;

export interface SweepParts {
  readonly files: ByteStore;
  readonly store: AssetStore;
  readonly now: () => number;
  readonly logger: Logger;
}

/** Never throws. Files that cannot be deleted now are retried in the next sweep. */
export async function sweepAssets({ files, store, logger, ...parts }: SweepParts): Promise<void> {
  try {
    const now = parts.now();
    const expired = await removeExpired(files, store, now);
    const lost = await removeOrphans(files, store, now);
    const drafts = await files.sweepDrafts(now - ORPHAN_AGE_MS);
    if (expired.count + lost.count + drafts === 0) return;
    logger.info({ expired: expired.count, orphans: lost.count, drafts }, 'assets swept');
  } catch (error) {
    logger.warn({ err: error }, 'the sweep of assets stopped; it goes on the next time');
  }
}

/** The number of removed files, and their size in bytes. */
export interface Removed {
  readonly count: number;
  readonly bytes: number;
}

/** Deletes the rows first, then their files. */
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

// Orphans: files without a row, left by a process that ended between writing the two.

/** A younger file may get its row soon. */
export const ORPHAN_AGE_MS = 60 * 60_000;

/** Ids per query of the store. */
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
