/** The part of the store's port for API keys. */
import type { AssetsAccess } from '@inference-gateway/shared/media/types';
import type { MemberLimits, ProviderScope } from '../core/access/caller.js';
import type { KeyRules, RuleChange } from '../core/usage/quota.js';
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
  /** Null: the operator's default. */
  readonly assets: AssetsAccess | null;
  /** Null: it may do all that its member may. */
  readonly rules: KeyRules | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  /** End of the previous secret after a rotation; null if there is none. */
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
  /** Absent: the operator's default. */
  readonly assets?: AssetsAccess | null;
  /** Absent: none. */
  readonly rules?: KeyRules | null;
  readonly expiresAt: number | null;
  /** Refused as `full` if the member has this many unrevoked ones. Null or absent: no limit. */
  readonly cap?: number | null;
}

/** A new secret for an existing key. */
export interface KeyRotation {
  readonly prefix: string;
  readonly hash: string;
  /** The old secret is valid until then; a time not after `now` ends it at once. */
  readonly previousUntil: number;
}

/** The member and settings of a presented key, valid or not: the caller checks its times. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly memberName: string;
  readonly limits: MemberLimits;
  readonly isMemberDisabled: boolean;
  /** End of this secret: earlier for the one before a rotation. */
  readonly validUntil: number | null;
}

/** What decides whether a queued job may run now. */
export interface JobKey {
  /** Null for a session of the dashboard. */
  readonly key: ApiKey | null;
  readonly limits: MemberLimits;
}

export interface KeyStore {
  /** A name may be used again once its key is revoked. */
  createKey(key: NewApiKey, now: number): Promise<Created<ApiKey> | CapReached>;
  listKeys(memberId: string | null): Promise<readonly ApiKey[]>;
  /**
   * Called for every request, so answered from memory. Changes of keys or members are visible at
   * once, those of another process with the next operation.
   */
  findKeyHolder(hash: string): Promise<KeyHolder | null>;
  /**
   * The rules of the key that submitted a job, or those of its member if a session did. From
   * memory, as `findKeyHolder`. Null if the member or the key no longer exists.
   */
  findJobKey(keyId: string, memberId: string): Promise<JobKey | null>;
  /** `unknown` also if it is revoked. */
  renameKey(id: string, name: string): Promise<Changed<ApiKey>>;
  /** Null if it is unknown or revoked. */
  rotateKey(id: string, rotation: KeyRotation, now: number): Promise<ApiKey | null>;
  /**
   * `disabled` and `enabled` can be undone, `revoked` cannot. False if the key is unknown or
   * revoked.
   */
  setKeyState(id: string, state: 'disabled' | 'enabled' | 'revoked', now: number): Promise<boolean>;
  /**
   * Applies from the next request on, and to jobs when they are claimed; what is not given stays.
   * Null if the key is unknown or revoked.
   */
  setKeyRules(id: string, change: RuleChange): Promise<ApiKey | null>;
  touchKeys(ids: readonly string[], now: number): Promise<void>;
}
