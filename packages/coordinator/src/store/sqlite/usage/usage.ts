import type { Database } from 'better-sqlite3';
import type {
  UsageGroup,
  UsagePoint,
  UsageQuery,
  UsageRow,
  UsageSeriesQuery,
  UsageStat,
} from '../../port.js';
import type { Operations } from '../engine/operations.js';
import { oldRowDeleter } from './retention.js';

type UsageOperations = Pick<
  Operations,
  'writeUsage' | 'usageStats' | 'usageSeries' | 'deleteOldUsage'
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
    writeUsage: (rows) => rows.forEach(write),
    deleteOldUsage: oldRowDeleter(database, 'usage'),
    usageStats: (query) => readStats(database, query),
    usageSeries: (query) => readSeries(database, query),
  };
}

/**
 * Writes a row and its part of the day, unless the request has been counted before. It belongs in a
 * transaction: no row without its part of the day, nor the reverse.
 */
export function usageWriter(database: Database): (row: UsageRow) => void {
  // A batch whose commit failed is sent again, and may have been committed after all: once is
  // enough.
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
  const addToDay = database.prepare<StoredUsage>(
    `insert into usage_daily (
       day, member_id, key_id, provider_id, model, endpoint, source, outcome,
       requests, prompt_tokens, completion_tokens, audio_ms, images, total_ms)
     values (
       strftime('%Y-%m-%d', @at / 1000, 'unixepoch'), @memberId, @keyId,
       coalesce(@providerId, ''), @model, @endpoint, @source, @outcome,
       1, @promptTokens, @completionTokens, @audioMs, @images, @totalMs)
     on conflict do update set
       requests = requests + 1,
       prompt_tokens = prompt_tokens + excluded.prompt_tokens,
       completion_tokens = completion_tokens + excluded.completion_tokens,
       audio_ms = audio_ms + excluded.audio_ms,
       images = images + excluded.images,
       total_ms = total_ms + excluded.total_ms`,
  );
  return (row) => {
    const whole = inWholeMs(row);
    const stored = { ...whole, estimated: row.estimated ? 1 : 0 } as const;
    if (insert.run(stored).changes === 1) addToDay.run(stored);
  };
}

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
  // Days are all there, whatever was asked on them.
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

/** SQLite has no booleans. */
export type StoredUsage = Omit<UsageRow, 'estimated'> & { readonly estimated: 0 | 1 };

const SUMS = `sum(requests) as requests,
  sum(iif(outcome = 'ok', requests, 0)) as ok,
  sum(iif(outcome = 'failed', requests, 0)) as failed,
  sum(iif(outcome = 'canceled', requests, 0)) as canceled,
  sum(prompt_tokens) as promptTokens, sum(completion_tokens) as completionTokens,
  sum(audio_ms) as audioMs, sum(images) as images, sum(total_ms) as totalMs`;

/** The table begins with the day and the member: each day of one member lies in one piece. */
const DAYS = `days (d) as (
  select max(@day, (select min(day) from usage_daily))
  union all select date(d, '+1 day') from days where d < (select max(day) from usage_daily))`;

/** What is asked for, by the way on which it is found. */
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

export function utcDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Clocks measure fractions, and a STRICT integer column refuses them. */
function inWholeMs(row: UsageRow): UsageRow {
  return {
    ...row,
    audioMs: Math.round(row.audioMs),
    queueMs: Math.round(row.queueMs),
    firstByteMs: row.firstByteMs === null ? null : Math.round(row.firstByteMs),
    totalMs: Math.round(row.totalMs),
  };
}
