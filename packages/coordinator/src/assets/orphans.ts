/** Files without a row: what a process left behind that ended between the two. */
import type { AssetStore } from '../store/port.js';
import type { AssetFile, AssetFiles } from './asset-files.js';

/** A younger file may be one whose row is about to be written. */
export const ORPHAN_AGE_MS = 60 * 60_000;
/** Asked for in one operation of the store. */
const BATCH = 200;

export async function* orphans(
  files: AssetFiles,
  store: Pick<AssetStore, 'knownAssets'>,
  now: number,
): AsyncIterable<AssetFile> {
  let batch: AssetFile[] = [];
  for await (const file of files.ids()) {
    if (now - file.modifiedAt < ORPHAN_AGE_MS) continue;
    batch.push(file);
    if (batch.length < BATCH) continue;
    yield* unknown(batch, store);
    batch = [];
  }
  yield* unknown(batch, store);
}

async function* unknown(
  batch: readonly AssetFile[],
  store: Pick<AssetStore, 'knownAssets'>,
): AsyncIterable<AssetFile> {
  if (batch.length === 0) return;
  const known = new Set(await store.knownAssets(batch.map(({ id }) => id)));
  yield* batch.filter(({ id }) => !known.has(id));
}
