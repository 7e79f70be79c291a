import type { Database } from 'better-sqlite3';
import type {
  UsageGroup,
  UsagePoint,
  UsageQuery,
  UsageRow,
  UsageSeriesQuery,
  UsageStat,
  MemberActivity,
  ProviderActivity,
} from '../../port.js';
import { NOTHING, periodAt, sumOf } from '../../../core/usage/quota.js';
import type { Amount, PeriodUse } from '../../../core/usage/quota.js';
import { MAX_COUNTED_JOBS } from '../../port.js';
import type { Operations } from '../engine/operations.js';
import { oldRowDeleter } from './retention.js';

type UsageOperations = Pick<
  Operations,
  'writeUsage' | 'usageStats' | 'usageSeries' | 'quotaUse' | 'shareUse' | 'deleteOldUsage'
>;

const COLUMNS: Readonly<Record<UsageGroup, string>> = {
  day: 'u.day',
  member: 'member_id',
  key: 'key_id',
  provider: 'provider_id',
  model: 'model',
  endpoint: 'endpoint',
  source: 'source',
};

export function usageOperations(database: Database): UsageOperations {
  const write = usageWriter(database);
  return {
    writeUsage: write,
    deleteOldUsage: oldRowDeleter(database, 'usage'),
    usageStats: (query) => readStats(database, query),
    usageSeries: (query) => readSeries(database, query),
    ...quotaReaders(database),
  };
}

/**
 * Writes rows and adds them to their days' sums, each once for all its rows; a request that was
 * counted before is left out. Call it in a transaction, so that either all is written or nothing.
 */
export function usageWriter(database: Database): (rows: readonly UsageRow[]) => void {
  // A batch whose commit failed is sent again, and may have been committed nevertheless: each row
  // is counted once.
  const insert = database.prepare<StoredUsage>(
    `insert into usage (
       request_id, at, member_id, key_id, provider_id, model, service_type, endpoint,
       prompt_tokens, completion_tokens, estimated, audio_ms, images, queue_ms, first_byte_ms,
       total_ms, attempts, outcome, error_code, source)
     values (
       @requestId, @at, @memberId, @keyId, @providerId, @model, @serviceType, @endpoint,
       @promptTokens, @completionTokens, @estimated, @audioMs, @images, @queueMs, @firstByteMs,
       @totalMs, @attempts, @outcome, @errorCode, @source)
     on conflict (request_id) do nothing`,
  );
  const addToDay = database.prepare<DaySums>(
    `insert into usage_daily (
       day, member_id, key_id, provider_id, model, endpoint, source, outcome,
       requests, prompt_tokens, completion_tokens, audio_ms, images, total_ms)
     values (
       @day, @memberId, @keyId, @providerId, @model, @endpoint, @source, @outcome,
       @requests, @promptTokens, @completionTokens, @audioMs, @images, @totalMs)
     on conflict do update set
       requests = requests + excluded.requests,
       prompt_tokens = prompt_tokens + excluded.prompt_tokens,
       completion_tokens = completion_tokens + excluded.completion_tokens,
       audio_ms = audio_ms + excluded.audio_ms,
       images = images + excluded.images,
       total_ms = total_ms + excluded.total_ms`,
  );
  const addToShare = database.prepare<object>(
    `insert into share_usage (share_id, day, requests, tokens, images, audio_ms)
     values (
       @shareId, strftime('%Y-%m-%d', @at / 1000, 'unixepoch'),
       1, @promptTokens + @completionTokens, @images, @audioMs)
     on conflict do update set
       requests = requests + 1, tokens = tokens + excluded.tokens,
       images = images + excluded.images, audio_ms = audio_ms + excluded.audio_ms`,
  );
  const write = (row: UsageRow, days: Map<string, DaySums>): void => {
    const whole = inWholeMs(row);
    const { shareId = null, ...counted } = { ...whole, estimated: row.estimated ? 1 : 0 } as const;
    if (insert.run(counted).changes === 0) return;
    addToSums(days, counted);
    if (shareId !== null) addToShare.run({ ...counted, shareId });
  };
  return (rows) => {
    const days = new Map<string, DaySums>();
    for (const row of rows) write(row, days);
    for (const sums of days.values()) addToDay.run(sums);
  };
}

/** The columns by which a day's rows are told apart. */
type DayPart = Pick<
  UsageRow,
  'memberId' | 'keyId' | 'model' | 'endpoint' | 'source' | 'outcome'
> & {
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  /** Empty if no provider had it. */
  readonly providerId: string;
};

interface DaySums extends DayPart {
  requests: number;
  promptTokens: number;
  completionTokens: number;
  audioMs: number;
  images: number;
  totalMs: number;
}

function addToSums(days: Map<string, DaySums>, row: StoredUsage): void {
  const { memberId, keyId, providerId, model, endpoint, source, outcome } = row;
  const day = utcDay(row.at);
  const part = {
    day,
    memberId,
    keyId,
    providerId: providerId ?? '',
    model,
    endpoint,
    source,
    outcome,
  };
  const name = JSON.stringify(part);
  const sums = days.get(name) ?? { ...part, ...NO_SUMS };
  sums.requests += 1;
  sums.promptTokens += row.promptTokens;
  sums.completionTokens += row.completionTokens;
  sums.audioMs += row.audioMs;
  sums.images += row.images;
  sums.totalMs += row.totalMs;
  days.set(name, sums);
}

const NO_SUMS = {
  requests: 0,
  promptTokens: 0,
  completionTokens: 0,
  audioMs: 0,
  images: 0,
  totalMs: 0,
};

function readStats(database: Database, query: UsageQuery): UsageStat[] {
  const order = query.by === 'day' ? '"group"' : 'requests desc, "group"';
  const { days, from, values } = narrowing(query);
  return database
    .prepare<object, UsageStat>(
      `with recursive ${days}
       select ${COLUMNS[query.by]} as "group", ${SUMS} from ${from} group by 1 order by ${order}`,
    )
    .all(values);
}

function readSeries(database: Database, query: UsageSeriesQuery): UsagePoint[] {
  const { days, from, values } = narrowing(query);
  // Grouping by day returns all days; other groups are limited.
  const most =
    query.by === 'day'
      ? ''
      : `where "group" in (
           select "group" from points group by 1 order by sum(requests) desc, 1 limit @groups)`;
  return database
    .prepare<object, UsagePoint>(
      `with recursive ${days}, points as materialized (
         select u.day, ${COLUMNS[query.by]} as "group", ${SUMS} from ${from} group by 1, 2)
       select * from points ${most} order by day, requests desc, "group"`,
    )
    .all({ ...values, groups: query.groups });
}

/** One row for the day and one for the rest of the month, which is at most 31 short ranges. */
function quotaReaders(database: Database): Pick<Operations, 'quotaUse' | 'shareUse'> {
  const read = database.prepare<object, UsedRow>(
    `with recursive days (d) as (
       select @first union all select date(d, '+1 day') from days where d < @day)
     select u.day = @day as isDay, sum(requests) as requests,
       sum(prompt_tokens + completion_tokens) as tokens, sum(images) as images,
       sum(audio_ms) as audioMs
     from days cross join usage_daily u
     where u.day = days.d and u.member_id = @memberId and (@keyId is null or u.key_id = @keyId)
     group by 1`,
  );
  const readShares = database.prepare<object, UsedRow & { shareId: string }>(
    `select u.share_id as shareId, u.day = @day as isDay, sum(requests) as requests,
       sum(tokens) as tokens, sum(images) as images, sum(audio_ms) as audioMs
     from json_each(@ids) cross join share_usage u
     where u.share_id = json_each.value and u.day between @first and @day group by 1, 2`,
  );
  const shareUse: Operations['shareUse'] = (shareIds, now) => {
    const rows = readShares.all({ ids: JSON.stringify(shareIds), ...monthUntil(now) });
    const byShare = new Map<string, UsedRow[]>();
    for (const row of rows) byShare.set(row.shareId, [...(byShare.get(row.shareId) ?? []), row]);
    return shareIds.map((id) => periodUse(byShare.get(id) ?? []));
  };
  return {
    shareUse,
    quotaUse: ({ memberId, keyId, shareId }, now) => {
      if (shareId !== undefined) return shareUse([shareId], now)[0] ?? periodUse([]);
      return periodUse(read.all({ memberId, keyId, ...monthUntil(now) }));
    },
  };
}

/** What was used on one day, or in the rest of its month. */
type UsedRow = Amount & { readonly isDay: 0 | 1 };

function monthUntil(now: number) {
  return { first: utcDay(periodAt('month', now).start), day: utcDay(now) };
}

function periodUse(rows: readonly UsedRow[]): PeriodUse {
  const amountOf = (isDay: 0 | 1): Amount => {
    const row = rows.find((one) => one.isDay === isDay) ?? NOTHING;
    const { requests, tokens, images, audioMs } = row;
    return { requests, tokens, images, audioMs };
  };
  const day = amountOf(1);
  return { day, month: sumOf(day, amountOf(0)) };
}

/** SQLite has no booleans. */
type StoredUsage = Omit<UsageRow, 'estimated' | 'shareId'> & { readonly estimated: 0 | 1 };

const SUMS = `sum(requests) as requests,
  sum(iif(outcome = 'ok', requests, 0)) as ok,
  sum(iif(outcome = 'failed', requests, 0)) as failed,
  sum(iif(outcome = 'canceled', requests, 0)) as canceled,
  sum(prompt_tokens) as promptTokens, sum(completion_tokens) as completionTokens,
  sum(audio_ms) as audioMs, sum(images) as images, sum(total_ms) as totalMs`;

/**
 * The table's key begins with the day and the member: the rows of one member's day are adjacent.
 */
const DAYS = `days (d) as (
  select max(@day, (select min(day) from usage_daily))
  union all select date(d, '+1 day') from days where d < (select max(day) from usage_daily))`;

/** The rows of a query, in a form that can use the table's key. */
function narrowing({ since, memberId, ownerId }: UsageQuery) {
  const values = { day: since === null ? '' : utcDay(since), memberId, ownerId: ownerId ?? null };
  const given = `u.provider_id <> '' and u.provider_id in (
    select id from providers where owner_id = @ownerId)`;
  const rows = memberId === null ? `usage_daily u where u.day >= @day` : OF_MEMBER;
  const from = ownerId === undefined ? rows : `${rows} and ${given}`;
  return { days: DAYS, from, values };
}

const OF_MEMBER = `days cross join usage_daily u
  where u.day = days.d and u.member_id = @memberId`;

function utcDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Clocks measure fractions of a millisecond, which a STRICT integer column refuses. */
function inWholeMs(row: UsageRow): UsageRow {
  return {
    ...row,
    audioMs: Math.round(row.audioMs),
    queueMs: Math.round(row.queueMs),
    firstByteMs: row.firstByteMs === null ? null : Math.round(row.firstByteMs),
    totalMs: Math.round(row.totalMs),
  };
}

type RecentUsageOperations = Pick<
  Operations,
  'recentUsage' | 'memberActivity' | 'providerActivity'
>;

/** Recent activity: single requests, and the counts of a day. */
export function recentUsageOperations(database: Database): RecentUsageOperations {
  return {
    recentUsage: recentReader(database),
    memberActivity: memberReader(database),
    providerActivity: providerReader(database),
  };
}

const ROW = `request_id as requestId, at, member_id as memberId, key_id as keyId,
  provider_id as providerId, model, service_type as serviceType, endpoint,
  prompt_tokens as promptTokens, completion_tokens as completionTokens, estimated,
  audio_ms as audioMs,
  images, queue_ms as queueMs, first_byte_ms as firstByteMs, total_ms as totalMs, attempts,
  outcome, error_code as errorCode, source`;

function recentReader(database: Database): Operations['recentUsage'] {
  const newest = database.prepare<object, StoredUsage>(
    `select ${ROW} from usage where member_id = @memberId
     order by at desc, request_id desc limit @limit`,
  );
  // Two conditions on the time: SQLite uses the first one to find the start in the index.
  const older = database.prepare<object, StoredUsage>(
    `select ${ROW} from usage
     where member_id = @memberId
       and at <= (select at from usage where request_id = @after and member_id = @memberId)
       and (at, request_id) < (
         select at, request_id from usage where request_id = @after and member_id = @memberId)
     order by at desc, request_id desc limit @limit`,
  );
  return (query) => {
    const rows = (query.after === null ? newest : older).all(query);
    return rows.map((row) => ({ ...row, estimated: row.estimated === 1 }));
  };
}

function memberReader(database: Database): Operations['memberActivity'] {
  const requests = database.prepare<object, { requests: number; failed: number }>(
    `select count(*) as requests, count(*) filter (where outcome = 'failed') as failed
     from usage where member_id = @memberId and at >= @since`,
  );
  const hasCalled = database
    .prepare<object, 0 | 1>(
      // Single requests have a retention; if none is left, the sums of the days are read.
      `select exists (select 1 from usage where member_id = @memberId) or exists (
         with recursive days (d) as (
           select (select min(day) from usage_daily)
           union all select date(d, '+1 day') from days
           where d < (select max(day) from usage_daily))
         select 1 from days cross join usage_daily u
         where u.day = days.d and u.member_id = @memberId)`,
    )
    .pluck();
  const failedJobs = database
    .prepare<object, number>(
      `select count(*) from (
         select finished_at from jobs where member_id = @memberId and status = 'FAILED'
         order by id desc limit ${MAX_COUNTED_JOBS}) where finished_at >= @since`,
    )
    .pluck();
  return (memberId, since): MemberActivity => {
    const asked = { memberId, since };
    const counts = requests.get(asked) ?? { requests: 0, failed: 0 };
    return {
      ...counts,
      failedJobs: failedJobs.get(asked) ?? 0,
      hasCalled: hasCalled.get(asked) === 1,
    };
  };
}

function providerReader(database: Database): Operations['providerActivity'] {
  const served = database
    .prepare<object, number | null>(
      `select sum(requests) from usage_daily
       where provider_id = @id and provider_id <> '' and day = @day`,
    )
    .pluck();
  const lastError = database.prepare<object, NonNullable<ProviderActivity['lastError']>>(
    `select at, error_code as code, model, request_id as requestId from usage
     where provider_id = @id and outcome = 'failed' order by at desc limit 1`,
  );
  return (ids, now) =>
    ids.map((id) => ({
      providerId: id,
      servedToday: served.get({ id, day: utcDay(now) }) ?? 0,
      lastError: lastError.get({ id }) ?? null,
    }));
}
