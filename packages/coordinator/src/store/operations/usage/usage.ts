import type {
  ProviderActivity,
  RequestCount,
  UsageGroup,
  UsagePoint,
  UsageQuery,
  UsageRow,
  UsageStat,
} from '../../port.js';
import { NOTHING, periodAt, sumOf } from '../../../core/usage/quota.js';
import type { Amount, PeriodUse } from '../../../core/usage/quota.js';
import { MAX_COUNTED_JOBS } from '../../port.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import type { Operation, SqlText, Statement } from '../statement.js';
import { addLater, addToPeriods } from './periods.js';
import { oldRowDeleter } from './retention.js';

type UsageOperations = Pick<
  Operations,
  'writeUsage' | 'usageStats' | 'usageSeries' | 'quotaUse' | 'shareUse' | 'deleteOldUsage'
>;

/** One row for the day and one for the rest of the month, which is at most 31 short ranges. */
const quotaRows = statement<{ memberId: string; keyId: string | null } & Month, UsedRow>({
  sqlite: quotaOf('json_each(@days) as days cross join usage_daily u where u.day = days.value'),
  // A list that is joined counts as a thousand days there, for which the whole index is read.
  postgres: quotaOf('usage_daily u where u.day = any (array(select value from json_each(@days)))'),
});
const shareRows = statement<{ ids: string } & Month, UsedRow & { shareId: string }>(
  `select u.share_id as "shareId", u.day = @day as "isDay", sum(requests) as requests,
     sum(tokens) as tokens, sum(images) as images, sum(audio_ms) as "audioMs"
   from json_each(@ids) as ids cross join share_usage u
   where u.share_id = ids.value and u.day between @first and @day group by 1, 2`,
);

export const usageOperations: UsageOperations = {
  writeUsage,

  deleteOldUsage: oldRowDeleter('usage'),

  *usageStats(query) {
    return yield* statsFor(query).all(valuesOf(query));
  },

  *usageSeries(query) {
    return yield* seriesFor(query).all({ ...valuesOf(query), groups: query.groups });
  },

  *quotaUse({ memberId, keyId, shareId }, now) {
    if (shareId !== undefined) return (yield* shareUse([shareId], now))[0] ?? periodUse([]);
    return periodUse(yield* quotaRows.all({ memberId, keyId, ...monthUntil(now) }));
  },

  shareUse,
};

function* shareUse(shareIds: readonly string[], now: number): Operation<readonly PeriodUse[]> {
  const rows = yield* shareRows.all({ ids: JSON.stringify(shareIds), ...monthUntil(now) });
  const byShare = new Map<string, UsedRow[]>();
  for (const row of rows) byShare.set(row.shareId, [...(byShare.get(row.shareId) ?? []), row]);
  return shareIds.map((id) => periodUse(byShare.get(id) ?? []));
}

// A batch whose commit failed is sent again, and may have been committed nevertheless: each row
// is counted once.
const insert = statement<StoredUsage>(
  `insert into usage (
     request_id, at, member_id, key_id, provider_id, model, alias, service_type, endpoint,
     prompt_tokens, completion_tokens, estimated, energy_j, audio_ms, images, queue_ms,
     first_byte_ms, total_ms, attempts, outcome, error_code, source)
   values (
     @requestId, @at, @memberId, @keyId, @providerId, @model, @alias, @serviceType, @endpoint,
     @promptTokens, @completionTokens, @estimated, @energyJ, @audioMs, @images, @queueMs,
     @firstByteMs, @totalMs, @attempts, @outcome, @errorCode, @source)
   on conflict (request_id) do nothing`,
);
const addToDay = statement<DaySums>(
  `insert into usage_daily (
     day, member_id, key_id, provider_id, model, endpoint, source, outcome,
     requests, prompt_tokens, completion_tokens, audio_ms, images, total_ms)
   values (
     @day, @memberId, @keyId, @providerId, @model, @endpoint, @source, @outcome,
     @requests, @promptTokens, @completionTokens, @audioMs, @images, @totalMs)
   on conflict (day, member_id, key_id, provider_id, model, endpoint, source, outcome)
   do update set
     requests = usage_daily.requests + excluded.requests,
     prompt_tokens = usage_daily.prompt_tokens + excluded.prompt_tokens,
     completion_tokens = usage_daily.completion_tokens + excluded.completion_tokens,
     audio_ms = usage_daily.audio_ms + excluded.audio_ms,
     images = usage_daily.images + excluded.images,
     total_ms = usage_daily.total_ms + excluded.total_ms`,
);
const addToShare = statement<ShareSums>(
  `insert into share_usage (share_id, day, requests, tokens, images, audio_ms)
   values (@shareId, @day, @requests, @tokens, @images, @audioMs)
   on conflict (share_id, day) do update set
     requests = share_usage.requests + excluded.requests,
     tokens = share_usage.tokens + excluded.tokens,
     images = share_usage.images + excluded.images,
     audio_ms = share_usage.audio_ms + excluded.audio_ms`,
);

/**
 * Writes rows and adds them to the sums of their days, shares and periods, each sum once for all
 * its rows; a request that was counted before is left out.
 */
export function* writeUsage(rows: readonly UsageRow[]): Operation<void> {
  yield* addToPeriods(yield* writeSums(rows));
}

/** The same for ended jobs; the sums of periods follow a moment later. */
export function* writeJobUsage(rows: readonly UsageRow[]): Operation<void> {
  yield* addLater(yield* writeSums(rows));
}

/** Returns the rows that were not counted before. */
function* writeSums(rows: readonly UsageRow[]): Operation<readonly UsageRow[]> {
  const stored = rows.map(toStored);
  const written = yield* insert.each(stored);
  const days = new Map<string, DaySums>();
  const shares = new Map<string, ShareSums>();
  for (const [i, row] of stored.entries()) {
    if (written[i] === 0) continue;
    addToDaySums(days, row);
    addToShareSums(shares, row, rows[i]?.shareId ?? null);
  }
  yield* addToDay.each(inOrder(days));
  yield* addToShare.each(inOrder(shares));
  return rows.filter((_, i) => written[i] !== 0);
}

/** In the order of their names: transactions that add to the same sums do not deadlock. */
function inOrder<Sums>(sums: ReadonlyMap<string, Sums>): Sums[] {
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
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

function addToDaySums(days: Map<string, DaySums>, row: StoredUsage): void {
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

interface ShareSums extends Amount {
  readonly shareId: string;
  readonly day: string;
}

function addToShareSums(
  shares: Map<string, ShareSums>,
  row: StoredUsage,
  shareId: string | null,
): void {
  if (shareId === null) return;
  const part = { shareId, day: utcDay(row.at) };
  const name = JSON.stringify(part);
  const tokens = row.promptTokens + row.completionTokens;
  const amount = { requests: 1, tokens, images: row.images, audioMs: row.audioMs };
  shares.set(name, { ...part, ...sumOf(shares.get(name) ?? NOTHING, amount) });
}

const statsFor = perForm<UsageStat>((query) => {
  const order = query.by === 'day' ? '"group"' : 'requests desc, "group"';
  return withDays(
    (days) => `with recursive ${days}
      select ${COLUMNS[query.by]} as "group", ${SUMS} from ${rowsOf(query)}
      group by 1 order by ${order}`,
  );
});

const seriesFor = perForm<UsagePoint>((query) => {
  // Grouping by day returns all days; other groups are limited.
  const most =
    query.by === 'day'
      ? ''
      : `where "group" in (
           select "group" from points group by 1 order by sum(requests) desc, 1 limit @groups)`;
  return withDays(
    (days) => `with recursive ${days}, points as materialized (
        select u.day, ${COLUMNS[query.by]} as "group", ${SUMS} from ${rowsOf(query)} group by 1, 2)
      select day, "group", requests, ok, failed, canceled, "promptTokens", "completionTokens",
        "audioMs", images, "totalMs"
      from points ${most} order by day, requests desc, "group"`,
  );
});

/** One statement for each form of a query: an engine keeps what it has prepared. */
function perForm<Row>(textFor: (query: UsageQuery) => SqlText) {
  const statements = new Map<string, Statement<object, Row>>();
  return (query: UsageQuery): Statement<object, Row> => {
    const { by, memberId, ownerId } = query;
    const form = `${by} ${memberId !== null} ${ownerId !== undefined}`;
    const known = statements.get(form);
    if (known !== undefined) return known;
    const made = statement<object, Row>(textFor(query));
    statements.set(form, made);
    return made;
  };
}

function valuesOf({ since, memberId, ownerId }: UsageQuery) {
  return { day: since === null ? '' : utcDay(since), memberId, ownerId: ownerId ?? null };
}

const COLUMNS: Readonly<Record<UsageGroup, string>> = {
  day: 'u.day',
  member: 'member_id',
  key: 'key_id',
  provider: 'provider_id',
  model: 'model',
  endpoint: 'endpoint',
  source: 'source',
};

const sumIf = (outcome: UsageRow['outcome']): string =>
  `sum(case when outcome = '${outcome}' then requests else 0 end)`;

const SUMS = `sum(requests) as requests,
  ${sumIf('ok')} as ok, ${sumIf('failed')} as failed, ${sumIf('canceled')} as canceled,
  sum(prompt_tokens) as "promptTokens", sum(completion_tokens) as "completionTokens",
  sum(audio_ms) as "audioMs", sum(images) as images, sum(total_ms) as "totalMs"`;

/** The rows of a query, in a form that can use the table's key. */
function rowsOf({ memberId, ownerId }: UsageQuery): string {
  const rows = memberId === null ? 'usage_daily u where u.day >= @day' : OF_MEMBER;
  return ownerId === undefined
    ? rows
    : `${rows} and u.provider_id <> '' and u.provider_id in (
         select id from providers where owner_id = @ownerId)`;
}

const OF_MEMBER = `days cross join usage_daily u
  where u.day = days.d and u.member_id = @memberId`;

/**
 * A text with the days from `@day` to the last one as `days (d)`. The table's key begins with the
 * day and the member: the rows of one member's day are adjacent.
 */
function withDays(textOf: (days: string) => string): SqlText {
  const start = 'case when first_day > @day then first_day else @day end';
  return {
    sqlite: textOf(daysFrom(start, "date(d, '+1 day')")),
    // Both parts of a recursion must have one collation.
    postgres: textOf(
      daysFrom(`(${start}) collate "C"`, `to_char(cast(d as date) + 1, 'YYYY-MM-DD') collate "C"`),
    ),
  };
}

function daysFrom(start: string, nextDay: string): string {
  return `days (d) as (
    select ${start} from (select min(day) as first_day from usage_daily) as kept
    union all select ${nextDay} from days where d < (select max(day) from usage_daily))`;
}

function quotaOf(days: string): string {
  return `select u.day = @day as "isDay", sum(requests) as requests,
     sum(prompt_tokens + completion_tokens) as tokens, sum(images) as images,
     sum(audio_ms) as "audioMs"
   from ${days} and u.member_id = @memberId and (u.key_id = @keyId or @keyId is null)
   group by 1`;
}

/** What was used on one day, or in the rest of its month. */
type UsedRow = Amount & { readonly isDay: 0 | 1 };

/** Days are `YYYY-MM-DD`. */
interface Month {
  readonly first: string;
  readonly day: string;
  /** JSON: from the first day to this one. */
  readonly days: string;
}

function monthUntil(now: number): Month {
  const { start } = periodAt('month', now);
  const days: string[] = [];
  for (let at = start; at <= now; at += DAY_MS) days.push(utcDay(at));
  return { first: utcDay(start), day: utcDay(now), days: JSON.stringify(days) };
}

const DAY_MS = 86_400_000;

function periodUse(rows: readonly UsedRow[]): PeriodUse {
  const amountOf = (isDay: 0 | 1): Amount => {
    const row = rows.find((one) => one.isDay === isDay) ?? NOTHING;
    const { requests, tokens, images, audioMs } = row;
    return { requests, tokens, images, audioMs };
  };
  const day = amountOf(1);
  return { day, month: sumOf(day, amountOf(0)) };
}

/** Truth is stored as a number. */
type StoredUsage = Omit<UsageRow, 'estimated' | 'shareId'> & {
  readonly alias: string | null;
  readonly estimated: 0 | 1;
  readonly energyJ: number | null;
};

function utcDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Clocks measure fractions of a millisecond, which an integer column refuses. */
function toStored(row: UsageRow): StoredUsage {
  return {
    ...row,
    alias: row.alias ?? null,
    estimated: row.estimated ? 1 : 0,
    energyJ: row.energyJ ?? null,
    audioMs: Math.round(row.audioMs),
    queueMs: Math.round(row.queueMs),
    firstByteMs: row.firstByteMs === null ? null : Math.round(row.firstByteMs),
    totalMs: Math.round(row.totalMs),
  };
}

function fromStored(row: StoredUsage): UsageRow {
  return { ...row, estimated: row.estimated === 1 };
}

type RecentUsageOperations = Pick<
  Operations,
  'recentUsage' | 'findUsage' | 'countRequests' | 'memberActivity' | 'providerActivity'
>;

const ROW = `request_id as "requestId", at, member_id as "memberId", key_id as "keyId",
  provider_id as "providerId", model, alias, service_type as "serviceType", endpoint,
  prompt_tokens as "promptTokens", completion_tokens as "completionTokens", estimated,
  energy_j as "energyJ", audio_ms as "audioMs", images, queue_ms as "queueMs",
  first_byte_ms as "firstByteMs", total_ms as "totalMs", attempts, outcome,
  error_code as "errorCode", source`;

const newest = statement<object, StoredUsage>(
  `select ${ROW} from usage where member_id = @memberId
   order by at desc, request_id desc limit @limit`,
);
// Two conditions on the time: SQLite uses the first one to find the start in the index.
const older = statement<object, StoredUsage>(
  `select ${ROW} from usage
   where member_id = @memberId
     and at <= (select at from usage where request_id = @after and member_id = @memberId)
     and (at, request_id) < (
       select at, request_id from usage where request_id = @after and member_id = @memberId)
   order by at desc, request_id desc limit @limit`,
);
const ofRequest = statement<{ requestId: string; memberId: string }, StoredUsage>(
  `select ${ROW} from usage where request_id = @requestId and member_id = @memberId`,
);
const requestsSince = statement<object, RequestCount>(
  `select count(*) as requests, count(*) filter (where outcome = 'failed') as failed
   from usage where member_id = @memberId and at >= @since`,
);
// Single requests have a retention; if none is left, the sums of the days are read.
const hasCalled = valueOf<object, 0 | 1>(
  withDays(
    (days) => `select exists (select 1 from usage where member_id = @memberId) or exists (
      with recursive ${days} select 1 from ${OF_MEMBER})`,
  ),
);
const failedJobs = valueOf<object, number>(
  `select count(*) from (
     select finished_at from jobs where member_id = @memberId and status = 'FAILED'
     order by id desc limit ${MAX_COUNTED_JOBS}) as failed where finished_at >= @since`,
);
const served = valueOf<object, number | null>(
  `select sum(requests) from usage_daily
   where provider_id = @id and provider_id <> '' and day = @day`,
);
const lastError = statement<object, NonNullable<ProviderActivity['lastError']>>(
  `select at, error_code as code, model, request_id as "requestId" from usage
   where provider_id = @id and outcome = 'failed' order by at desc limit 1`,
);

/** Recent activity: single requests, and the counts of a day. */
export const recentUsageOperations: RecentUsageOperations = {
  *recentUsage(query) {
    const rows = yield* (query.after === null ? newest : older).all(query);
    return rows.map(fromStored);
  },

  *findUsage(requestId, memberId) {
    const row = yield* ofRequest.get({ requestId, memberId });
    return row === undefined ? null : fromStored(row);
  },

  *countRequests(memberId, since) {
    return (yield* requestsSince.get({ memberId, since })) ?? { requests: 0, failed: 0 };
  },

  *memberActivity(memberId, since) {
    // All its days, from the first one kept.
    const asked = { memberId, since, day: '' };
    return {
      failedJobs: (yield* failedJobs.get(asked)) ?? 0,
      hasCalled: (yield* hasCalled.get(asked)) === 1,
    };
  },

  *providerActivity(ids, now) {
    const day = utcDay(now);
    const activities: ProviderActivity[] = [];
    for (const id of ids) {
      activities.push({
        providerId: id,
        servedToday: (yield* served.get({ id, day })) ?? 0,
        lastError: (yield* lastError.get({ id })) ?? null,
      });
    }
    return activities;
  },
};
