/** The part of the store's port for usage. */
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type { PeriodUse } from '../core/usage/quota.js';
import type { DurationCounts } from '../core/usage/durations.js';
import type { PeriodStep } from '../core/usage/periods.js';
import type { QuotaSubject } from '../core/usage/quotas.js';
import type { UsageNumbers } from '../core/usage/usage-bounds.js';

/** The usage row of a request. Never its content. */
export interface UsageRow extends UsageNumbers {
  readonly requestId: string;
  readonly at: number;
  readonly memberId: string;
  readonly keyId: string;
  readonly providerId: string | null;
  /** The share through which it was served; absent or null: none. */
  readonly shareId?: string | null;
  /** The one that served. */
  readonly model: string;
  /** The alias that the caller named instead; absent or null: none. */
  readonly alias?: string | null;
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
  /** Days are counted as a whole, in UTC: this is rounded down to the start of its day. */
  readonly since: number | null;
  readonly by: UsageGroup;
  /** The caller; null: all members. */
  readonly memberId: string | null;
  /** The owner of the answering providers, as of now; absent: any. */
  readonly ownerId?: string;
}

/** Sums of the requests of one day, member, … */
export interface UsageStat {
  /** An id, a name or a day (`YYYY-MM-DD`); empty for calls without a provider. */
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
  /** Only this many groups, those with the most requests. */
  readonly groups: number;
}

/** Whose requests: all, those of a member, or those that the providers of an owner answered. */
export type UsageOf =
  { readonly kind: 'gateway' } | { readonly kind: 'member' | 'owner'; readonly id: string };

/** What adds up, and by which the largest models are found. */
export const USAGE_AMOUNTS = ['requests', 'tokens', 'errors', 'audio', 'images'] as const;

export type UsageAmount = (typeof USAGE_AMOUNTS)[number];

export type DurationName = 'firstByte' | 'queue' | 'total';

export interface UsagePeriodsQuery {
  readonly step: PeriodStep;
  /** Unix ms: the first and the last period are those that they are in. */
  readonly since: number;
  readonly until: number;
  readonly of: UsageOf;
  /** Only requests for this model; null: for any. */
  readonly model: string | null;
  /** Each model by itself, this many with the most of an amount; null: all together. */
  readonly models: { readonly count: number; readonly by: UsageAmount } | null;
  readonly durations: readonly DurationName[];
}

/** The sums of a period, without empty ones. */
export interface UsagePeriod extends Omit<UsageStat, 'group'> {
  /** `2026-05-31T14:05`, `2026-05-31T14`, `2026-05-31` or `2026-05`, in UTC. */
  readonly period: string;
  /** Empty if all models are together. */
  readonly model: string;
  /** From the start at a provider to the end, of the requests that made tokens. */
  readonly generationMs: number;
  /**
   * Null if the query does not ask for it. The queue is of all requests, the others are of
   * successful ones.
   */
  readonly durations: Readonly<Record<DurationName, DurationCounts | null>>;
}

export interface RecentUsageQuery {
  readonly memberId: string;
  readonly limit: number;
  /** The request id of the last one seen; null begins at the newest. */
  readonly after: string | null;
}

/** A member's recent requests. */
export interface RequestCount {
  readonly requests: number;
  readonly failed: number;
}

/** A member's recent activity. */
export interface MemberActivity {
  /** Jobs that ended as FAILED since the given time, counted up to `MAX_COUNTED_JOBS`. */
  readonly failedJobs: number;
  /** Whether they have ever made a call. */
  readonly hasCalled: boolean;
}

/** The home screen counts them at each visit, and a larger number means the same. */
export const MAX_COUNTED_JOBS = 100;

/** A provider's recent activity. */
export interface ProviderActivity {
  readonly providerId: string;
  /** Requests on the given day (UTC). */
  readonly servedToday: number;
  /** Its last failed request; null if none is known. */
  readonly lastError: {
    readonly at: number;
    readonly code: string | null;
    readonly model: string;
    readonly requestId: string;
  } | null;
}

export interface UsageStore {
  /**
   * Deletes usage rows from before this time; the daily sums stay. It reads only the oldest ones,
   * and returns the number deleted.
   */
  deleteOldUsage(before: number, limit: number): Promise<number>;
  /**
   * Returns at once and never fails: rows are written in groups, within a second and at the latest
   * by `close`. Rows that the database cannot write are kept and tried again, up to a limit. A
   * request counts once, however often its row is recorded.
   */
  recordUsage(rows: readonly UsageRow[]): void;
  /** From the daily sums: days in order, other groups by requests, the most first. */
  usageStats(query: UsageQuery): Promise<readonly UsageStat[]>;
  /** The same per day, in order. */
  usageSeries(query: UsageSeriesQuery): Promise<readonly UsagePoint[]>;
  /**
   * From the sums of minutes, hours and days: in order, the model with the most requests first.
   * Those of jobs come some seconds after their end, by `addPendingUsage`.
   */
  usagePeriods(query: UsagePeriodsQuery): Promise<readonly UsagePeriod[]>;
  /** Adds ended jobs to the sums, at most so many; returns their number. */
  addPendingUsage(limit: number): Promise<number>;
  /** Deletes minutes and hours that no chart shows any more; returns the number of rows. */
  deleteOldPeriods(now: number, limit: number): Promise<number>;
  /** Newest first. If `after` is unknown or another member's, the list is empty. */
  recentUsage(query: RecentUsageQuery): Promise<readonly UsageRow[]>;
  /** Null if it is unknown, another member's, or older than the retention time. */
  findUsage(requestId: string, memberId: string): Promise<UsageRow | null>;
  /** From the daily sums; `now` defines the day and the month, in UTC. */
  quotaUse(subject: QuotaSubject, now: number): Promise<PeriodUse>;
  /** The same of each of these shares, by others than its owner, in order. */
  shareUse(shareIds: readonly string[], now: number): Promise<readonly PeriodUse[]>;
  /** Reads every request since then. */
  countRequests(memberId: string, since: number): Promise<RequestCount>;
  memberActivity(memberId: string, since: number): Promise<MemberActivity>;
  /** One per id, in order; `now` defines the day. */
  providerActivity(ids: readonly string[], now: number): Promise<readonly ProviderActivity[]>;
}
