/** The part of the store's port that is about API keys. */
import type { AssetsAccess } from '@inference-gateway/shared/media/types';
import type { MemberLimits, ProviderScope } from '../core/access/caller.js';
import type { Changed } from './member-store.js';
import type { CapReached, Created } from './outcomes.js';

export interface ApiKey {
  readonly id: string;
  readonly memberId: string;
  readonly memberEmail: string;
  readonly name: string;
  /** The first characters of the secret, to tell keys apart. */
  readonly prefix: string;
  readonly scope: ProviderScope;
  /** Null: as the operator has set. */
  readonly assets: AssetsAccess | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  /** Until when the secret before the last rotation is good; null if there is none. */
  readonly previousUntil: number | null;
  readonly disabledAt: number | null;
  readonly revokedAt: number | null;
}

export interface NewApiKey {
  readonly memberId: string;
  readonly name: string;
  readonly prefix: string;
  /** SHA-256 of the secret, hex. */
  readonly hash: string;
  readonly scope: ProviderScope;
  /** Absent: as the operator has set. */
  readonly assets?: AssetsAccess | null;
  readonly expiresAt: number | null;
  /** Refused as `full` if the member has so many unrevoked ones. Null or absent: no limit. */
  readonly cap?: number | null;
}

/** A new secret for a key that stays what it is. */
export interface KeyRotation {
  readonly prefix: string;
  readonly hash: string;
  /** The old secret is good until then; not after `now` ends it at once. */
  readonly previousUntil: number;
}

/** What a presented key stands for, valid or not: the caller decides by its times. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly memberName: string;
  readonly limits: MemberLimits;
  readonly isMemberDisabled: boolean;
  /** When this very secret ends: where it is the one before a rotation, that is sooner. */
  readonly validUntil: number | null;
}

export interface KeyStore {
  /** A name may be used again once its key is revoked. */
  createKey(key: NewApiKey, now: number): Promise<Created<ApiKey> | CapReached>;
  listKeys(memberId: string | null): Promise<readonly ApiKey[]>;
  /**
   * On the way of every request, so answered from memory. A change of keys or members is seen at
   * once, one by another process with the next operation.
   */
  findKeyHolder(hash: string): Promise<KeyHolder | null>;
  /** `unknown` also where it is revoked. */
  renameKey(id: string, name: string): Promise<Changed<ApiKey>>;
  /** Null if it is unknown or revoked. */
  rotateKey(id: string, rotation: KeyRotation, now: number): Promise<ApiKey | null>;
  /**
   * `disabled` and `enabled` can be taken back, `revoked` cannot. False if the key is unknown or
   * revoked.
   */
  setKeyState(id: string, state: 'disabled' | 'enabled' | 'revoked', now: number): Promise<boolean>;
  touchKeys(ids: readonly string[], now: number): Promise<void>;
}
