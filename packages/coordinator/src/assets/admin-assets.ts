/** Implements `asset verify` and `prune`, for the running coordinator and the command line. */
import type { AdminAssets, AssetFault, PruneReport } from '../core/usage/admin-assets.js';
import type { Asset, Store } from '../store/port.js';
import type { ByteStore } from './byte-store.js';
import { allAssets, hashOf } from './copy-files.js';
import { ORPHAN_AGE_MS, orphans, removeExpired, removeOrphans } from './sweep.js';

/** Limit of a dry run: a hundred times the number of files in the default space. */
const MAX_COUNTED = 1_000_000;

/** `open` is called by what needs the files: most commands do not. */
export function createAdminAssets(
  open: () => ByteStore | Promise<ByteStore>,
  store: Store,
): AdminAssets {
  return {
    verify: async (now) => verify(await open(), store, now),
    removeFiles: async (ids) => {
      if (ids.length === 0) return 0;
      const files = await open();
      let bytes = 0;
      for (const id of ids) {
        bytes += (await files.bytes(id)) ?? 0;
        await files.remove(id);
      }
      return bytes;
    },
    prune: async (now, dryRun) => {
      const files = await open();
      if (dryRun) return count(files, store, now);
      const expired = await removeExpired(files, store, now);
      const lost = await removeOrphans(files, store, now);
      await files.sweepDrafts(now - ORPHAN_AGE_MS);
      const bytes = expired.bytes + lost.bytes;
      return { expired: expired.count, orphans: lost.count, bytes };
    },
  };
}

async function verify(
  files: ByteStore,
  store: Store,
  now: number,
): ReturnType<AdminAssets['verify']> {
  const faults: AssetFault[] = [];
  let checked = 0;
  for await (const asset of allAssets(store)) {
    const fault = await faultOf(files, asset);
    checked += 1;
    // The row may have been deleted meanwhile, together with its file.
    if (fault !== null && (await store.findAsset(asset.id)) !== null) faults.push(fault);
  }
  for await (const { id, bytes } of orphans(files, store, now)) {
    faults.push({ id, fault: 'orphan', detail: `${bytes} bytes that no row names` });
  }
  return { checked, faults };
}

async function faultOf(files: ByteStore, asset: Asset): Promise<AssetFault | null> {
  const { id } = asset;
  const bytes = await files.bytes(id);
  if (bytes === null) return { id, fault: 'missing', detail: `no file at ${files.location(id)}` };
  if (bytes !== asset.bytes) {
    return { id, fault: 'damaged', detail: `${bytes} bytes instead of ${asset.bytes}` };
  }
  const sha256 = await hashOf(files, id);
  // Null if the file was deleted meanwhile, together with its row.
  if (sha256 === null || sha256 === asset.sha256) return null;
  return { id, fault: 'damaged', detail: `SHA-256 ${sha256} instead of ${asset.sha256}` };
}

async function count(files: ByteStore, store: Store, now: number): Promise<PruneReport> {
  const expired = await store.listExpiredAssets(now, MAX_COUNTED);
  let [bytes, lost] = [0, 0];
  for (const id of expired) bytes += (await files.bytes(id)) ?? 0;
  for await (const orphan of orphans(files, store, now)) {
    lost += 1;
    bytes += orphan.bytes;
  }
  return { expired: expired.length, orphans: lost, bytes };
}
