/**
 * The store as the rest of the coordinator sees it: named operations, one per change, each with its
 * preconditions in and its outcome out. No caller holds a transaction, writes SQL, or reads to
 * decide a later write. `test/store/contract.ts` is what every adapter passes. Times are Unix
 * milliseconds. An operation throws an `ApiError` `storage_unavailable` where the database cannot
 * do it; then it has done nothing. Names and e-mail addresses are compared without regard to case.
 */
import type { AdvertisedService, AgentHost } from '@inference-gateway/shared/protocol/messages';
import type { MemberLimits, ProviderScope } from '../core/caller.js';
import type { AssetStore } from './asset-store.js';
import type { DispatchStore } from './dispatch-store.js';
import type { JobStore } from './job-store.js';
import type { UsageStore } from './usage-store.js';
import type { WebhookStore } from './webhook-store.js';

export type { MemberLimits };
export type { Asset, AssetLimits, AssetQuery, AssetSpace, AssetStore } from './asset-store.js';
export type * from './dispatch-store.js';
export type * from './job-store.js';
export type * from './webhook-store.js';
export { USAGE_GROUPS } from './usage-store.js';
export type { UsageGroup, UsageQuery, UsageRow, UsageStat, UsageStore } from './usage-store.js';

export type Role = 'member' | 'admin';

export interface Member {
  readonly id: string;
  readonly email: string;
  /** Public name; unique, like the address. */
  readonly name: string;
  readonly role: Role;
  readonly limits: MemberLimits;
  readonly createdAt: number;
}

export interface NewMember {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** scrypt, or null for a member who cannot log in to the dashboard yet. */
  readonly passwordHash: string | null;
}

export interface ApiKey {
  readonly id: string;
  readonly memberId: string;
  readonly memberEmail: string;
  readonly name: string;
  /** The first characters of the secret, to tell keys apart. */
  readonly prefix: string;
  readonly scope: ProviderScope;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
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
  readonly expiresAt: number | null;
}

/** What a presented key stands for, valid or not: the caller decides by its times. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly memberName: string;
  readonly limits: MemberLimits;
}

export interface NewJoinToken {
  readonly ownerId: string;
  readonly name: string | null;
  readonly hash: string;
  readonly expiresAt: number;
}

export interface Provider {
  readonly id: string;
  readonly ownerId: string;
  readonly ownerName: string;
  /** Unique among the owner's. */
  readonly name: string;
  readonly createdAt: number;
  readonly lastSeenAt: number | null;
  readonly draining: boolean;
  /** What it last advertised, online or not. */
  readonly services: readonly AdvertisedService[];
  readonly host: AgentHost | null;
}

export interface NewProvider {
  readonly joinTokenHash: string;
  readonly tokenHash: string;
  /** Null: the join token's name, else a name made from the owner's. */
  readonly name: string | null;
}

export type Created<T> = { readonly kind: 'created'; readonly value: T } | NameTaken;
export interface NameTaken {
  readonly kind: 'taken';
  /** Which unique field is taken. */
  readonly field: 'email' | 'name';
}
export type EnrollRefusal = {
  readonly kind: 'refused';
  readonly reason: 'unknown' | 'used' | 'expired';
};

export interface Store extends AssetStore, UsageStore, JobStore, DispatchStore, WebhookStore {
  createMember(member: NewMember, now: number): Promise<Created<Member>>;
  /** Finds by id, e-mail address or public name. */
  findMember(reference: string): Promise<Member | null>;
  listMembers(): Promise<readonly Member[]>;
  /**
   * Holds from the member's next request on; what `limits` leaves out stays as it was. False where
   * the member is unknown.
   */
  setMemberLimits(memberId: string, limits: Partial<MemberLimits>): Promise<boolean>;

  /** A name may be used again once its key is revoked. */
  createKey(key: NewApiKey, now: number): Promise<Created<ApiKey>>;
  listKeys(memberId: string | null): Promise<readonly ApiKey[]>;
  /**
   * On the way of every request, so answered from memory; a change by `setKeyState` or
   * `setMemberLimits` is seen at once.
   */
  findKeyHolder(hash: string): Promise<KeyHolder | null>;
  /**
   * `disabled` and `enabled` can be taken back, `revoked` cannot. False where the key is unknown or
   * revoked.
   */
  setKeyState(id: string, state: 'disabled' | 'enabled' | 'revoked', now: number): Promise<boolean>;
  touchKeys(ids: readonly string[], now: number): Promise<void>;

  createJoinToken(token: NewJoinToken, now: number): Promise<void>;
  /** Spends the join token and registers the provider, both or neither. */
  enroll(provider: NewProvider, now: number): Promise<Created<Provider> | EnrollRefusal>;
  findProviderByToken(hash: string): Promise<Provider | null>;
  listProviders(): Promise<readonly Provider[]>;
  /** False where the provider is unknown. */
  setProviderDraining(id: string, draining: boolean): Promise<boolean>;
  /** What `seen` leaves out stays as it was. An unknown provider is ignored. */
  recordProviderSeen(
    id: string,
    seen: { services?: readonly AdvertisedService[]; host?: AgentHost },
    now: number,
  ): Promise<void>;

  /** True when a write commits; false when the disk is full or the database broken. */
  isWritable(): Promise<boolean>;
  /** Writes what is pending. Every later operation throws `storage_unavailable`. */
  close(): Promise<void>;
}
