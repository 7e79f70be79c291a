/** The part of the store's port that is about assets: rows, never their bytes. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';

/** A file that a model made for a member. */
export interface Asset {
  /** 22 random base62 characters: the id of one asset reveals nothing about others. */
  readonly id: string;
  readonly memberId: string;
  /** The key with which it was made; null if it is no longer known. */
  readonly keyId: string | null;
  readonly providerId: string | null;
  readonly requestId: string;
  readonly model: string;
  readonly endpoint: EndpointKey;
  readonly contentType: string;
  readonly bytes: number;
  /** Digest of the file's bytes, hex. */
  readonly sha256: string;
  /** Of audio or video, if it could be measured. */
  readonly seconds: number | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A file, and the excerpt of its request, which is kept if its member wants it. */
export interface NewAsset extends Asset {
  readonly excerpt?: string | null;
}

/** Limits of the space for assets. */
export interface AssetLimits {
  readonly memberBytes: number;
  readonly totalBytes: number;
}

/** Space used by assets. */
export interface AssetSpace {
  readonly memberBytes: number;
  readonly totalBytes: number;
}

export interface AssetQuery {
  /** Null: of all members. */
  readonly memberId: string | null;
  /** Only what was made with this key; absent or null: any. */
  readonly keyId?: string | null;
  /**
   * A part of its names (excerpt, custom id, label of the batch) or of its model, ignoring case;
   * absent or null: any.
   */
  readonly search?: string | null;
  readonly limit: number;
  /** The id of the last one seen; null begins at the newest. */
  readonly after: string | null;
  /** Only up to this one, as `assetSearchEnd` says it; absent or null: to the oldest. */
  readonly until?: string | null;
}

export interface AssetStore {
  /**
   * Writes the row of a file that is already in place. Nothing is written if that would exceed the
   * space of the member or of all; the limit itself may be reached.
   */
  createAsset(
    asset: NewAsset,
    limits: AssetLimits,
  ): Promise<'created' | 'member_full' | 'full' | 'member_gone'>;
  findAsset(id: string): Promise<Asset | null>;
  /** Null also if its owner is disabled: links to their files stop working. */
  findLinkedAsset(id: string): Promise<Asset | null>;
  /** Newest first. If `after` is unknown or not in the list, the list is empty. */
  listAssets(query: AssetQuery): Promise<readonly Asset[]>;
  /** Where a search ends that reads so many of a member's assets; null: it reads them all. */
  assetSearchEnd(
    query: AssetQuery & { readonly memberId: string },
    rows: number,
  ): Promise<string | null>;
  /** False if it is unknown, or not this member's; null: any member. */
  deleteAsset(id: string, memberId: string | null): Promise<boolean>;
  assetSpace(memberId: string): Promise<AssetSpace>;
  /** Ids of assets that have expired at `now`, the earliest first. */
  listExpiredAssets(now: number, limit: number): Promise<readonly string[]>;
  /** Deletes the rows of assets that have expired at `now`, and returns their ids. */
  takeExpiredAssets(now: number, limit: number): Promise<readonly string[]>;
  /** The `ids` that have a row: a file without one is an orphan. */
  knownAssets(ids: readonly string[]): Promise<readonly string[]>;
}
