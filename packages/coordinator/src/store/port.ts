/**
 * The port of the store: named operations, one per change, with preconditions as arguments and an
 * outcome as result. No caller holds a transaction, writes SQL, or reads in order to decide a later
 * write. Every adapter passes `test/store/contract.ts`. Times are Unix milliseconds. Names and
 * e-mail addresses are compared case-insensitively.
 *
 * An operation throws an `ApiError` `storage_unavailable` if the database cannot carry it out, and
 * has changed nothing then, with one exception: if the connection to a server is lost while the
 * change is committed, nobody knows whether it holds. A caller who repeats an operation must
 * name what it makes: by an idempotency key, a claim or an id.
 */
import type { AliasStore } from './alias-store.js';
import type { AssetStore } from './asset-store.js';
import type { AuditStore } from './audit-store.js';
import type { DeviceStore } from './device-store.js';
import type { DispatchStore } from './dispatch-store.js';
import type { FileStore } from './file-store.js';
import type { JobStore } from './job-store.js';
import type { KeyStore } from './key-store.js';
import type { LimitStore } from './limit-store.js';
import type { LogInStore } from './log-in-store.js';
import type { MemberStore } from './member-store.js';
import type { NodeStore } from './node-store.js';
import type { ProviderStore } from './provider-store.js';
import type { SharingStore } from './sharing-store.js';
import type { UsageStore } from './usage-store.js';
import type { WantedStore } from './wanted-store.js';
import type { WebhookStore } from './webhook-store.js';
import type { WorkStore } from './work-store.js';

export type { MemberLimits } from '../core/access/caller.js';
export type * from './alias-store.js';
export type * from './asset-store.js';
export type * from './audit-store.js';
export type * from './device-store.js';
export type * from './dispatch-store.js';
export type * from './file-store.js';
export type * from './job-store.js';
export type * from './key-store.js';
export type * from './limit-store.js';
export type * from './log-in-store.js';
export type * from './member-store.js';
export type * from './node-store.js';
export type * from './outcomes.js';
export type * from './provider-store.js';
export type * from './sharing-store.js';
export type * from './wanted-store.js';
export type * from './webhook-store.js';
export type * from './work-store.js';
export { NODE_REPORT_MS, NODE_SILENT_MS } from './node-store.js';
export { LINK_HISTORY_MS, MAX_LINKS_KEPT } from './provider-store.js';
export { MAX_COUNTED_JOBS, USAGE_AMOUNTS, USAGE_GROUPS } from './usage-store.js';
export type * from './usage-store.js';
export { MAX_WANTED_ROWS, MAX_WANTED_SHOWN, WANTED_DAYS } from './wanted-store.js';

/** Kinds of rows with a retention. */
export type OldRows = 'jobs' | 'usage' | 'audit';

export interface Compaction {
  /** Bytes by which the database became smaller, including its write-ahead log. */
  readonly freedBytes: number;
  /** It would have to be rewritten, but the disk is too full for that. */
  readonly lacksRoom: boolean;
}

export interface DatabaseFacts {
  readonly bytes: number;
  /** Of SQLite's write-ahead log; 0 on other engines. */
  readonly logBytes: number;
  readonly schemaVersion: number;
}

export interface Store
  extends
    MemberStore,
    LogInStore,
    KeyStore,
    ProviderStore,
    NodeStore,
    DeviceStore,
    SharingStore,
    AliasStore,
    AuditStore,
    AssetStore,
    FileStore,
    UsageStore,
    WantedStore,
    JobStore,
    DispatchStore,
    WebhookStore,
    WorkStore,
    LimitStore {
  /** The same store, whose changes are logged with this actor; without it, with `system`. */
  by(actor: string): Store;
  /** What a retention would delete now. */
  countOld(before: Readonly<Record<OldRows, number>>): Promise<Readonly<Record<OldRows, number>>>;
  /** Returns up to this many free pages to the disk; returns their number. */
  releasePages(limit: number): Promise<number>;
  /**
   * Returns all free pages and the write-ahead log. Other operations wait; a database from before
   * version 0.1.0 is rewritten for it, if the disk has room.
   */
  compact(): Promise<Compaction>;
  databaseFacts(): Promise<DatabaseFacts>;
  /**
   * False if changes by other coordinators may have been unknown here for 3 s: then nothing new may
   * be admitted by what is known in memory.
   */
  isCurrent(): boolean;
  /** That the clock of the database's server differs from this machine's by more than 1 s. */
  clockWarning(): string | null;
  /** True if a write commits; false if the disk is full or the database is damaged. */
  isWritable(): Promise<boolean>;
  /** Writes pending rows. Every later operation throws `storage_unavailable`. */
  close(): Promise<void>;
}
