/**
 * Copies the files of all assets from one byte store to another, and compares each with its row.
 * Files that are already there and whole are not copied again. The source is not changed.
 */
import { createHash } from 'node:crypto';
import { ApiError } from '@inference-gateway/shared/errors';
import type { Asset, AssetStore } from '../store/port.js';
import type { ByteStore } from './byte-store.js';

/** Rows that are read at once. */
const PAGE = 500;
/** Small files take longer to ask for than to send. */
const AT_ONCE = 8;

export interface CopiedFiles {
  /** Files and bytes that are in the target, copied now or before. */
  readonly files: number;
  readonly bytes: number;
  readonly copied: number;
  /** Ids of assets whose file is in neither store. */
  readonly missing: readonly string[];
  /** Ids of assets whose file in the source is not what its row says. */
  readonly damaged: readonly string[];
}

export interface FileCopy {
  readonly source: ByteStore;
  readonly target: ByteStore;
  readonly store: Pick<AssetStore, 'listAssets' | 'knownAssets'>;
  readonly onProgress: (files: number, bytes: number) => void;
}

/** Throws an `ApiError` if one of the stores fails. */
export async function copyFiles(copy: FileCopy): Promise<CopiedFiles> {
  const assets = allAssets(copy.store)[Symbol.asyncIterator]();
  const report = {
    files: 0,
    bytes: 0,
    copied: 0,
    missing: [] as string[],
    damaged: [] as string[],
  };
  let isStopped = false;
  const work = async (): Promise<void> => {
    for (;;) {
      const next = await assets.next();
      if (next.done === true || isStopped) return;
      const outcome = await copyOne(next.value, copy);
      if (outcome === 'missing' || outcome === 'damaged') {
        report[outcome].push(next.value.id);
        continue;
      }
      report.files += 1;
      report.bytes += next.value.bytes;
      if (outcome === 'copied') report.copied += 1;
      copy.onProgress(report.files, report.bytes);
    }
  };
  const stopped = (error: unknown): never => {
    isStopped = true;
    throw error;
  };
  const works = Array.from({ length: AT_ONCE }, () => work().catch(stopped));
  const ends = await Promise.allSettled(works);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return report;
}

async function copyOne(
  asset: Asset,
  { source, target }: FileCopy,
): Promise<'copied' | 'there' | 'missing' | 'damaged'> {
  if (await isWhole(target, asset)) return 'there';
  const bytes = await source.bytes(asset.id);
  if (bytes === null) return 'missing';
  if (!(await transfer(asset, source, target))) return 'damaged';
  if (await isWhole(target, asset)) return 'copied';
  const message = `The file ${asset.id} has other bytes after it was copied.`;
  throw new ApiError('storage_unavailable', message);
}

/** False if the file is not what its row says; it is not stored then. */
async function transfer(asset: Asset, source: ByteStore, target: ByteStore): Promise<boolean> {
  const stream = await source.read(asset.id);
  if (stream === null) return false;
  const draft = target.draft(asset.bytes, asset.id);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > asset.bytes) return false;
      hash.update(piece);
      await draft.write(piece);
    }
    if (bytes !== asset.bytes || hash.digest('hex') !== asset.sha256) return false;
    await draft.commit();
    return true;
  } finally {
    stream.destroy();
    await draft.discard();
  }
}

async function isWhole(files: ByteStore, asset: Asset): Promise<boolean> {
  if ((await files.bytes(asset.id)) !== asset.bytes) return false;
  return (await hashOf(files, asset.id)) === asset.sha256;
}

/** Null if there is no such file. */
export async function hashOf(files: ByteStore, id: string): Promise<string | null> {
  const stream = await files.read(id);
  if (stream === null) return null;
  const hash = createHash('sha256');
  for await (const piece of stream) hash.update(piece as Buffer);
  return hash.digest('hex');
}

export async function* allAssets(
  store: Pick<AssetStore, 'listAssets' | 'knownAssets'>,
): AsyncIterable<Asset> {
  for (let after: string | null = null; ;) {
    const page: readonly Asset[] = await store.listAssets({ memberId: null, limit: PAGE, after });
    yield* page;
    if (page.length < PAGE) return;
    // Continues after the last row that still exists. After a deleted row, the list would be empty.
    const known = new Set(await store.knownAssets(page.map(({ id }) => id)));
    after = page.findLast(({ id }) => known.has(id))?.id ?? null;
    if (after === null) return;
  }
}
