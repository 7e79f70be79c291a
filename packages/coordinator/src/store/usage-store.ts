/** The part of the store's port that is about metering. */
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type { UsageNumbers } from '../core/usage/usage-bounds.js';

/** One request, for metering. Never its content. */
export interface UsageRow extends UsageNumbers {
  readonly requestId: string;
  readonly at: number;
  readonly memberId: string;
  readonly keyId: string;
  readonly providerId: string | null;
  readonly model: string;
  readonly serviceType: ServiceType;
  readonly endpoint: EndpointKey;
  readonly attempts: number;
  readonly outcome: 'ok' | 'failed' | 'canceled';
  readonly errorCode: string | null;
  readonly source: 'api' | 'console';
}

export const USAGE_GROUPS = [
  'day',
  'member',
  'key',
  'provider',
  'model',
  'endpoint',
  'source',
] as const;

export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageQuery {
  /** Days are counted whole, in UTC: this is rounded down to its day's first moment. */
  readonly since: number | null;
  readonly by: UsageGroup;
  /** Who asked; null: everybody. */
  readonly memberId: string | null;
  /** Whose providers answered, of those that they have now; absent: anybody's. */
  readonly ownerId?: string;
}

/** Sums of the requests of one day, member, … */
export interface UsageStat {
  /** An id, a name or a day (`YYYY-MM-DD`); empty for calls that no provider took. */
  readonly group: string;
  readonly requests: number;
  readonly ok: number;
  readonly failed: number;
  readonly canceled: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly audioMs: number;
  readonly images: number;
  readonly totalMs: number;
}

/** The sums of one group on one day. */
export interface UsagePoint extends UsageStat {
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
}

export interface UsageSeriesQuery extends UsageQuery {
  /** Those with the most requests; the others are left out. */
  readonly groups: number;
}

export interface RecentUsageQuery {
  readonly memberId: string;
  readonly limit: number;
  /** The request id of the last one seen; null begins at the newest. */
  readonly after: string | null;
}

/** What a member has done lately. */
export interface MemberActivity {
  /** Since the time that was asked for. */
  readonly requests: number;
  readonly failed: number;
  /** Jobs that ended as FAILED since then, counted up to `MAX_COUNTED_JOBS`. */
  readonly failedJobs: number;
  /** Whether they have ever called. */
  readonly hasCalled: boolean;
}

/** Each look at the home screen counts them, and more is the same news. */
export const MAX_COUNTED_JOBS = 100;

/** How a provider has served lately. */
export interface ProviderActivity {
  readonly providerId: string;
  /** Requests on the day (UTC) that was asked for. */
  readonly servedToday: number;
  /** Null if none of its requests is known to have failed. */
  readonly lastError: {
    readonly at: number;
    readonly code: string | null;
    readonly model: string;
    readonly requestId: string;
  } | null;
}

export interface UsageStore {
  /**
   * Of single requests from before; the sums of their days stay. It looks at the oldest ones alone,
   * and returns how many went.
   */
  deleteOldUsage(before: number, limit: number): Promise<number>;
  /**
   * Returns at once and never fails: rows are written in groups, within a second and at the latest
   * by `close`. Rows that the database cannot take are kept and tried again, up to a limit. A
   * request counts once, however often its row arrives.
   */
  recordUsage(rows: readonly UsageRow[]): void;
  /** From the daily sums: days in their order, else the group with the most requests first. */
  usageStats(query: UsageQuery): Promise<readonly UsageStat[]>;
  /** The same, day by day in their order. */
  usageSeries(query: UsageSeriesQuery): Promise<readonly UsagePoint[]>;
  /** Newest first. Where `after` is unknown, or another member's, the list is empty. */
  recentUsage(query: RecentUsageQuery): Promise<readonly UsageRow[]>;
  memberActivity(memberId: string, since: number): Promise<MemberActivity>;
  /** One an id, in their order; `now` tells the day. */
  providerActivity(ids: readonly string[], now: number): Promise<readonly ProviderActivity[]>;
}
