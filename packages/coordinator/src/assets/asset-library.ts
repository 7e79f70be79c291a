/**
 * Assets: files together with their rows. A file is stored before its row, and a row is deleted
 * before its file. So no row ever lacks its file, whenever the process ends, and the sweep removes
 * files without a row.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Readable } from 'node:stream';
import type { DurationMeter } from '../media/duration.js';
import type { Asset, AssetQuery, AssetLimits, AssetStore } from '../store/port.js';
import type { NamedAsset, WorkStore } from '../store/port.js';
import type { AssetFacts, Shelf } from './answer-files.js';
import { MAX_ASSET_BYTES, isAssetId } from './byte-store.js';
import type { ByteRange, ByteStore, Draft, LinkHeaders } from './byte-store.js';
import { sweepAssets } from './sweep.js';

/** The share of the total space that one member may fill; ten members can fill all of it. */
const MEMBER_SHARE = 0.1;

const SWEEP_INTERVAL_MS = 10 * 60_000;

export interface AssetLibraryParts {
  readonly files: ByteStore;
  readonly store: AssetStore & Pick<WorkStore, 'listOwnAssets'>;
  readonly durations: Pick<DurationMeter, 'seconds'>;
  /** Limit for the files of all members together. */
  readonly maxBytes: number;
  /** From the creation of an asset to its expiry. */
  readonly retentionMs: number;
  readonly now: () => number;
  readonly logger: Logger;
  /**
   * True: other coordinators use the same rows, and keep files in folders of their own. Default:
   * false.
   */
  readonly isPrivate?: boolean;
  /** How long a link to the byte store is good, if callers get links. Default: 0, they do not. */
  readonly filesRedirectMs?: number;
}

/** Limits for all members' files, and for one member's. */
export function assetLimits(totalBytes: number): AssetLimits {
  return { memberBytes: Math.floor(totalBytes * MEMBER_SHARE), totalBytes };
}

export class AssetLibrary {
  readonly #parts: AssetLibraryParts;
  readonly #limits: AssetLimits;
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> | null = null;

  /** Sweeps at once, and then periodically. */
  constructor(parts: AssetLibraryParts) {
    this.#parts = parts;
    this.#limits = assetLimits(parts.maxBytes);
    this.#timer = setInterval(() => void this.sweep(), SWEEP_INTERVAL_MS).unref();
    void this.sweep();
  }

  /**
   * The member's remaining space in bytes. Throws `storage_full` if there is none, before a GPU
   * works in vain.
   */
  async requireSpace(memberId: string): Promise<number> {
    const { memberBytes, totalBytes } = this.#limits;
    const spent = await this.#parts.store.assetSpace(memberId);
    if (spent.memberBytes >= memberBytes) throw memberFull(this.#limits);
    if (spent.totalBytes >= totalBytes) throw totalFull(this.#limits);
    return Math.min(memberBytes - spent.memberBytes, totalBytes - spent.totalBytes);
  }

  /**
   * A new file within the space that `requireSpace` returned. Two parallel drafts can each use all
   * of that space; `keep` enforces the limit.
   */
  draft(maxBytes: number = MAX_ASSET_BYTES): Draft {
    return this.#parts.files.draft(Math.min(maxBytes, MAX_ASSET_BYTES));
  }

  /**
   * Makes an asset from a draft, with the excerpt of its request. Throws an `ApiError`; the draft
   * is then discarded.
   */
  async keep(draft: Draft, facts: AssetFacts, excerpt: string | null = null): Promise<Asset> {
    const asset = await this.#place(draft, facts);
    // If this throws, the row may still have been written. The sweep cleans up an hour later.
    const outcome = await this.#parts.store.createAsset({ ...asset, excerpt }, this.#limits);
    if (outcome === 'created') return asset;
    await this.#removeFile(asset.id);
    if (outcome !== 'member_gone') throw this.fullError(outcome);
    throw new ApiError('invalid_api_key', 'Your account was deleted meanwhile. Ask the admin.');
  }

  /** Removes an asset that `keep` made. */
  async drop({ id, memberId }: Asset): Promise<void> {
    await this.remove(id, memberId);
  }

  /**
   * For callers that write the row themselves, in one transaction with other rows. A file without a
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

  /**
   * Null if the asset is unknown, expired or another's. A null member or key matches any.
   */
  async find(
    id: string,
    memberId: string | null,
    keyId: string | null = null,
  ): Promise<Asset | null> {
    const asset = isAssetId(id) ? await this.#parts.store.findAsset(id) : null;
    if (asset === null || this.#isOver(asset)) return null;
    if (memberId !== null && asset.memberId !== memberId) return null;
    return keyId === null || asset.keyId === keyId ? asset : null;
  }

  /** For a caller that has a link to the asset. */
  async findLinked(id: string): Promise<Asset | null> {
    const asset = isAssetId(id) ? await this.#parts.store.findLinkedAsset(id) : null;
    return asset === null || this.#isOver(asset) ? null : asset;
  }

  /** For their owner, the newest first. Fewer than the limit means that there are no more. */
  async list(
    memberId: string,
    { limit, after, ...query }: Omit<AssetQuery, 'memberId'>,
  ): Promise<readonly NamedAsset[]> {
    const found: NamedAsset[] = [];
    let last = after;
    for (;;) {
      const asked = { ...query, memberId, limit, after: last };
      const page = await this.#parts.store.listOwnAssets(asked);
      found.push(...page.filter((asset) => !this.#isOver(asset)));
      if (found.length >= limit || page.length < limit) return found.slice(0, limit);
      last = page.at(-1)?.id ?? null;
    }
  }

  /** As `AssetStore.assetSearchEnd`. */
  searchEnd(
    memberId: string,
    query: Omit<AssetQuery, 'memberId'>,
    rows: number,
  ): Promise<string | null> {
    return this.#parts.store.assetSearchEnd({ ...query, memberId }, rows);
  }

  /** False if the member, or the key, has no such asset. */
  async remove(id: string, memberId: string, keyId: string | null = null): Promise<boolean> {
    if ((await this.find(id, memberId, keyId)) === null) return false;
    const removed = await this.#parts.store.deleteAsset(id, memberId);
    if (removed) await this.#removeFile(id);
    return removed;
  }

  /**
   * Null if the file is missing. The caller reads or destroys the stream. Throws
   * `storage_unavailable` if it may be in the folder of another coordinator.
   */
  async stream({ id }: Pick<Asset, 'id'>, range?: ByteRange): Promise<Readable | null> {
    const { files, store, isPrivate = false } = this.#parts;
    const stream = await files.read(id, range);
    if (stream !== null || !isPrivate) return stream;
    // The row may have been deleted meanwhile, and then its file.
    if ((await store.findAsset(id)) === null) return null;
    throw inAnotherFolder(id);
  }

  /**
   * A URL of the byte store that opens the file, at most until then (Unix ms); null if callers get
   * none.
   */
  async redirect(
    { id }: Pick<Asset, 'id'>,
    untilMs: number,
    headers: LinkHeaders,
  ): Promise<string | null> {
    const { files, now, filesRedirectMs = 0 } = this.#parts;
    const seconds = Math.floor(Math.min(filesRedirectMs, untilMs - now()) / 1_000);
    return seconds < 1 ? null : files.link(id, seconds, headers);
  }

  /** The whole file in pieces. Throws if the file is missing. */
  async *read(asset: Asset): AsyncIterable<Uint8Array> {
    const stream = await this.stream(asset);
    if (stream === null) throw new Error(`the file of the asset ${asset.id} is gone`);
    yield* stream as AsyncIterable<Buffer>;
  }

  /** Removes expired assets, and files left by a crashed process. Never throws. */
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
    const { durations, retentionMs, now } = this.#parts;
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
    const createdAt = now();
    const expiresAt = createdAt + retentionMs;
    return { id: draft.id, ...facts, ...file, seconds, createdAt, expiresAt };
  }

  #isOver({ expiresAt }: Asset): boolean {
    return expiresAt <= this.#parts.now();
  }

  /** If the file cannot be deleted, it becomes an orphan, and the sweep retries. */
  async #removeFile(id: string): Promise<void> {
    await this.#parts.files.remove(id).catch((error: unknown) => {
      this.#parts.logger.warn({ err: error, asset: id }, 'the file of an asset stays for now');
    });
  }
}

function inAnotherFolder(id: string): ApiError {
  const message =
    `The file '${id}' is not in the folder of this coordinator, and may be in that of another ` +
    'one. Its admin sets GATEWAY_FILES_URL to a folder or an object storage that all share, and ' +
    'copies the files with "migrate --files".';
  return new ApiError('storage_unavailable', message);
}

// The error if the member, or all members together, have no space left.

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
