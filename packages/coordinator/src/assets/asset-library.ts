/**
 * Assets: files and rows together. A file lies in its place before its row is written, and the row
 * goes before the file: whenever the process ends, no row is without its file, and a file without
 * a row is swept.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Readable } from 'node:stream';
import type { DurationMeter } from '../media/duration.js';
import type { Asset, AssetLimits, AssetStore } from '../store/port.js';
import type { AssetFacts, Shelf } from './answer-files.js';
import { MAX_ASSET_BYTES, isAssetId } from './byte-store.js';
import type { ByteRange, ByteStore, Draft } from './byte-store.js';
import { sweepAssets } from './sweep.js';

/** Every member may fill this part of the whole space (and so ten members all of it). */
const MEMBER_SHARE = 0.1;

const SWEEP_INTERVAL_MS = 10 * 60_000;

export interface AssetLibraryParts {
  readonly files: ByteStore;
  readonly store: AssetStore;
  readonly durations: Pick<DurationMeter, 'seconds'>;
  /** Of all members' files together. */
  readonly maxBytes: number;
  /** From an asset's making to its end. */
  readonly retentionMs: number;
  readonly logger: Logger;
}

/** What all members' files may take, and one member's. */
export function assetLimits(totalBytes: number): AssetLimits {
  return { memberBytes: Math.floor(totalBytes * MEMBER_SHARE), totalBytes };
}

export class AssetLibrary {
  readonly #parts: AssetLibraryParts;
  readonly #limits: AssetLimits;
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> | null = null;

  /** Sweeps at once, and then from time to time. */
  constructor(parts: AssetLibraryParts) {
    this.#parts = parts;
    this.#limits = assetLimits(parts.maxBytes);
    this.#timer = setInterval(() => void this.sweep(), SWEEP_INTERVAL_MS).unref();
    void this.sweep();
  }

  /**
   * How many bytes the member may still keep. Throws `storage_full` where there is not one, so that
   * no GPU works for nothing.
   */
  async requireSpace(memberId: string): Promise<number> {
    const { memberBytes, totalBytes } = this.#limits;
    const spent = await this.#parts.store.assetSpace(memberId);
    if (spent.memberBytes >= memberBytes) throw memberFull(this.#limits);
    if (spent.totalBytes >= totalBytes) throw totalFull(this.#limits);
    return Math.min(memberBytes - spent.memberBytes, totalBytes - spent.totalBytes);
  }

  /**
   * A file to write to, up to the space that `requireSpace` told. Two at once can each take all of
   * it: `keep` is what decides.
   */
  draft(maxBytes: number = MAX_ASSET_BYTES): Draft {
    return this.#parts.files.draft(Math.min(maxBytes, MAX_ASSET_BYTES));
  }

  /** Makes an asset of a draft. Throws an `ApiError`, and then the draft is gone. */
  async keep(draft: Draft, facts: AssetFacts): Promise<Asset> {
    const asset = await this.#place(draft, facts);
    // Where this throws, the row may be there all the same: the sweep finds out, an hour later.
    const outcome = await this.#parts.store.createAsset(asset, this.#limits);
    if (outcome === 'created') return asset;
    await this.#removeFile(asset.id);
    throw this.fullError(outcome);
  }

  /** Takes back what was kept. */
  async drop({ id, memberId }: Asset): Promise<void> {
    await this.remove(id, memberId);
  }

  /**
   * For files whose rows are written with something else, in one transaction. A file without its
   * row is an orphan, which the sweep removes.
   */
  get unlisted(): Shelf {
    return {
      draft: (maxBytes) => this.draft(maxBytes),
      keep: (draft, facts) => this.#place(draft, facts),
      drop: ({ id }) => this.#removeFile(id),
    };
  }

  get limits(): AssetLimits {
    return this.#limits;
  }

  fullError(outcome: 'member_full' | 'full'): ApiError {
    return outcome === 'full' ? totalFull(this.#limits) : memberFull(this.#limits);
  }

  /** Null where it is unknown, over, or another member's; a null member stands for anyone. */
  async find(id: string, memberId: string | null): Promise<Asset | null> {
    const asset = isAssetId(id) ? await this.#parts.store.findAsset(id) : null;
    if (asset === null || isOver(asset)) return null;
    return memberId === null || asset.memberId === memberId ? asset : null;
  }

  /** For whoever holds a link to it. */
  async findLinked(id: string): Promise<Asset | null> {
    const asset = isAssetId(id) ? await this.#parts.store.findLinkedAsset(id) : null;
    return asset === null || isOver(asset) ? null : asset;
  }

  /** Newest first. Fewer than the limit are all that there are. */
  async list(
    memberId: string,
    { limit, after }: { readonly limit: number; readonly after: string | null },
  ): Promise<readonly Asset[]> {
    const found: Asset[] = [];
    let last = after;
    for (;;) {
      const page = await this.#parts.store.listAssets({ memberId, limit, after: last });
      found.push(...page.filter((asset) => !isOver(asset)));
      if (found.length >= limit || page.length < limit) return found.slice(0, limit);
      last = page.at(-1)?.id ?? null;
    }
  }

  /** False where there is no such asset of this member. */
  async remove(id: string, memberId: string): Promise<boolean> {
    if ((await this.find(id, memberId)) === null) return false;
    const removed = await this.#parts.store.deleteAsset(id, memberId);
    if (removed) await this.#removeFile(id);
    return removed;
  }

  /** Null if its file has gone. The caller reads or destroys it. */
  stream({ id }: Asset, range?: ByteRange): Promise<Readable | null> {
    return this.#parts.files.read(id, range);
  }

  /** The whole file, in pieces of 64 KiB. Throws if its file has gone. */
  async *read(asset: Asset): AsyncIterable<Uint8Array> {
    const stream = await this.stream(asset);
    if (stream === null) throw new Error(`the file of the asset ${asset.id} is gone`);
    yield* stream as AsyncIterable<Buffer>;
  }

  /** Removes what is over, and what a lost process left behind. Never throws. */
  sweep(): Promise<void> {
    this.#sweeping ??= sweepAssets(this.#parts).finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  async #place(draft: Draft, facts: AssetFacts): Promise<Asset> {
    const { durations, retentionMs } = this.#parts;
    const { contentType } = facts;
    let seconds: number | null = null;
    const measure = async (localFile: string): Promise<void> => {
      seconds = await durations.seconds(localFile, contentType);
    };
    const isTimed = /^(audio|video)\//.test(contentType);
    const file = await draft.commit(isTimed ? measure : undefined).catch(async (error: unknown) => {
      await draft.discard();
      throw error;
    });
    const createdAt = Date.now();
    const expiresAt = createdAt + retentionMs;
    return { id: draft.id, ...facts, ...file, seconds, createdAt, expiresAt };
  }

  /** A file that stays is an orphan: the sweep tries again. */
  async #removeFile(id: string): Promise<void> {
    await this.#parts.files.remove(id).catch((error: unknown) => {
      this.#parts.logger.warn({ err: error, asset: id }, 'the file of an asset stays for now');
    });
  }
}

function isOver({ expiresAt }: Asset): boolean {
  return expiresAt <= Date.now();
}

// What a member is told who has no space left for generated files, or whom others leave none.

function memberFull({ memberBytes }: AssetLimits): ApiError {
  const message =
    `Your generated files take up all of the ${inWords(memberBytes)} that a member may keep. ` +
    'Delete some (GET /api/inference/assets lists them, DELETE removes one), or wait until they ' +
    'expire.';
  return new ApiError('storage_full', message);
}

function totalFull({ totalBytes }: AssetLimits): ApiError {
  const message =
    `The generated files of all members take up the gateway's ${inWords(totalBytes)}. Delete ` +
    'some of yours, or ask its admin for more (GATEWAY_ASSETS_MAX_GB).';
  return new ApiError('storage_full', message);
}

function inWords(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'] as const;
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}
