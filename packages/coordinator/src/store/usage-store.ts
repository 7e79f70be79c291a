/** The part of the store's port that is about metering. */
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';

/** One request, for metering. Never its content. */
export interface UsageRow {
  readonly requestId: string;
  readonly at: number;
  readonly memberId: string;
  readonly keyId: string;
  readonly providerId: string | null;
  readonly model: string;
  readonly serviceType: ServiceType;
  readonly endpoint: EndpointKey;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Milliseconds of audio, heard or spoken. */
  readonly audioMs: number;
  /** Images made. */
  readonly images: number;
  readonly queueMs: number;
  readonly firstByteMs: number | null;
  readonly totalMs: number;
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
  /** Null: everybody's. */
  readonly memberId: string | null;
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

export interface UsageStore {
  /**
   * Returns at once and never fails: rows are written in groups, within a second and at the latest
   * by `close`. Rows that the database cannot take are kept and tried again, up to a limit. A
   * request counts once, however often its row arrives.
   */
  recordUsage(rows: readonly UsageRow[]): void;
  /** From the daily sums: days in their order, else the group with the most requests first. */
  usageStats(query: UsageQuery): Promise<readonly UsageStat[]>;
}
