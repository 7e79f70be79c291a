/** What has happened lately: single requests, and counts of a day. */
import type { Database } from 'better-sqlite3';
import { MAX_COUNTED_JOBS } from '../../port.js';
import type { MemberActivity, ProviderActivity } from '../../port.js';
import type { Operations } from '../engine/operations.js';
import { utcDay } from './usage.js';
import type { StoredUsage } from './usage.js';

type RecentUsageOperations = Pick<
  Operations,
  'recentUsage' | 'memberActivity' | 'providerActivity'
>;

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
  // Two bounds on the time: by the first alone the index knows where to begin.
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
      // Single requests have a retention; the days are looked at where none is left.
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
