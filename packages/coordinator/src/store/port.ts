/**
 * The store as the rest of the coordinator sees it: named operations, one per change, each with its
 * preconditions in and its outcome out. No caller holds a transaction, writes SQL, or reads to
 * decide a later write. `test/store/contract.ts` is what every adapter passes. Times are Unix
 * milliseconds. An operation throws an `ApiError` `storage_unavailable` if the database cannot
 * do it; then it has done nothing. Names and e-mail addresses are compared without regard to case.
 */
import type { AssetStore } from './asset-store.js';
import type { AuditStore } from './audit-store.js';
import type { DeviceStore } from './device-store.js';
import type { DispatchStore } from './dispatch-store.js';
import type { JobStore } from './job-store.js';
import type { KeyStore } from './key-store.js';
import type { MemberStore } from './member-store.js';
import type { ProviderStore } from './provider-store.js';
import type { SharingStore } from './sharing-store.js';
import type { UsageStore } from './usage-store.js';
import type { WebhookStore } from './webhook-store.js';

export type { MemberLimits } from '../core/access/caller.js';
export type { Asset, AssetLimits, AssetQuery, AssetSpace, AssetStore } from './asset-store.js';
export type * from './audit-store.js';
export type * from './device-store.js';
export type * from './dispatch-store.js';
export type * from './job-store.js';
export type * from './key-store.js';
export type * from './member-store.js';
export type * from './outcomes.js';
export type * from './provider-store.js';
export type * from './sharing-store.js';
export type * from './webhook-store.js';
export { MAX_COUNTED_JOBS, USAGE_GROUPS } from './usage-store.js';
export type * from './usage-store.js';

/** Rows that have a retention. */
export type OldRows = 'jobs' | 'usage' | 'audit';

export interface Compaction {
  /** By which the database became smaller, its write-ahead log included. */
  readonly freedBytes: number;
  /** It would have had to be rewritten, and the disk is too full for that. */
  readonly lacksRoom: boolean;
}

export interface Store
  extends
    MemberStore,
    KeyStore,
    ProviderStore,
    DeviceStore,
    SharingStore,
    AuditStore,
    AssetStore,
    UsageStore,
    JobStore,
    DispatchStore,
    WebhookStore {
  /** The same store, whose changes are written down as this actor's; without it, as `system`'s. */
  by(actor: string): Store;
  /** What a retention would delete now. */
  countOld(before: Readonly<Record<OldRows, number>>): Promise<Readonly<Record<OldRows, number>>>;
  /** Gives pages that nothing uses back to the disk, up to so many; returns how many. */
  releasePages(limit: number): Promise<number>;
  /**
   * Gives all of them back, and the write-ahead log. Whatever else is asked for waits; a database
   * of before version 0.1.0 is rewritten whole for it, where the disk has room for that.
   */
  compact(): Promise<Compaction>;
  /** True when a write commits; false when the disk is full or the database broken. */
  isWritable(): Promise<boolean>;
  /** Writes what is pending. Every later operation throws `storage_unavailable`. */
  close(): Promise<void>;
}
