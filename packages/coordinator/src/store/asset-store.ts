/** The part of the store's port that is about assets: rows, never their bytes. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';

/** A file that a model made for a member. */
export interface Asset {
  /** 22 base62 characters, random: whoever has one asset's id learns nothing of another's. */
  readonly id: string;
  readonly memberId: string;
  readonly providerId: string | null;
  readonly requestId: string;
  readonly model: string;
  readonly endpoint: EndpointKey;
  readonly contentType: string;
  readonly bytes: number;
  /** Of the file's bytes, hex. */
  readonly sha256: string;
  /** Of audio or video, where it could be measured. */
  readonly seconds: number | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Space that assets may take. */
export interface AssetLimits {
  readonly memberBytes: number;
  readonly totalBytes: number;
}

/** Space that assets do take. */
export interface AssetSpace {
  readonly memberBytes: number;
  readonly totalBytes: number;
}

export interface AssetQuery {
  /** Null: everybody's. */
  readonly memberId: string | null;
  readonly limit: number;
  /** The id of the last one seen; null begins at the newest. */
  readonly after: string | null;
}

export interface AssetStore {
  /**
   * Writes the row of a file that lies in its place already. Nothing is written where the space of
   * the member or of all would be exceeded; up to its last byte it may be used.
   */
  createAsset(asset: Asset, limits: AssetLimits): Promise<'created' | 'member_full' | 'full'>;
  findAsset(id: string): Promise<Asset | null>;
  /** Null also if its owner is disabled: what they passed on ends with them. */
  findLinkedAsset(id: string): Promise<Asset | null>;
  /** Newest first. Where `after` is unknown, or another member's, the list is empty. */
  listAssets(query: AssetQuery): Promise<readonly Asset[]>;
  /** False if it is unknown, or not this member's; null stands for any member. */
  deleteAsset(id: string, memberId: string | null): Promise<boolean>;
  assetSpace(memberId: string): Promise<AssetSpace>;
  /** Ids of assets whose time is over at `now`, those that ended first coming first. */
  listExpiredAssets(now: number, limit: number): Promise<readonly string[]>;
  /** Deletes the rows of assets whose time is over at `now`, and returns their ids. */
  takeExpiredAssets(now: number, limit: number): Promise<readonly string[]>;
  /** Those of `ids` that have a row: a file without one is an orphan. */
  knownAssets(ids: readonly string[]): Promise<readonly string[]>;
}
