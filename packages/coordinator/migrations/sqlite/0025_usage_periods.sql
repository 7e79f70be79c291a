-- What the rows of `usage` add up to, by minute, hour and day: what charts are drawn from. Each
-- request is added for its member, for its provider and for the gateway, so that a chart of any of
-- them reads a few adjacent rows a period. Written with the row, in one transaction.
create table usage_periods (
  step text not null check (step in ('minute', 'hour', 'day')),
  -- In UTC: 2026-05-31T14:05, 2026-05-31T14 or 2026-05-31.
  period text not null,
  -- The id of a member or of a provider; empty for the gateway, which alone has minutes.
  subject text not null,
  -- Empty for all models of the gateway.
  model text not null,
  requests integer not null default 0 check (requests > 0),
  failed integer not null default 0 check (failed >= 0),
  canceled integer not null default 0 check (canceled >= 0),
  prompt_tokens integer not null default 0 check (prompt_tokens >= 0),
  completion_tokens integer not null default 0 check (completion_tokens >= 0),
  audio_ms integer not null default 0 check (audio_ms >= 0),
  images integer not null default 0 check (images >= 0),
  total_ms integer not null default 0 check (total_ms >= 0),
  -- From the start at a provider to the end, of the requests that made tokens.
  generation_ms integer not null default 0 check (generation_ms >= 0),
  -- Numbers of requests by their durations: `core/usage/durations.ts` has the bounds. First byte
  -- and total of successful ones, the time in the queue of all. Most are null, which takes no space.
  first_byte_0 integer, first_byte_1 integer,
  first_byte_2 integer, first_byte_3 integer,
  first_byte_4 integer, first_byte_5 integer,
  first_byte_6 integer, first_byte_7 integer,
  first_byte_8 integer, first_byte_9 integer,
  first_byte_10 integer, first_byte_11 integer,
  first_byte_12 integer, first_byte_13 integer,
  first_byte_14 integer, first_byte_15 integer,
  first_byte_16 integer, first_byte_17 integer,
  first_byte_18 integer, first_byte_19 integer,
  first_byte_20 integer, first_byte_21 integer,
  first_byte_22 integer, first_byte_23 integer,
  first_byte_24 integer, queue_0 integer,
  queue_1 integer, queue_2 integer,
  queue_3 integer, queue_4 integer,
  queue_5 integer, queue_6 integer,
  queue_7 integer, queue_8 integer,
  queue_9 integer, queue_10 integer,
  queue_11 integer, queue_12 integer,
  queue_13 integer, queue_14 integer,
  queue_15 integer, queue_16 integer,
  queue_17 integer, queue_18 integer,
  queue_19 integer, queue_20 integer,
  queue_21 integer, queue_22 integer,
  queue_23 integer, queue_24 integer,
  total_0 integer, total_1 integer,
  total_2 integer, total_3 integer,
  total_4 integer, total_5 integer,
  total_6 integer, total_7 integer,
  total_8 integer, total_9 integer,
  total_10 integer, total_11 integer,
  total_12 integer, total_13 integer,
  total_14 integer, total_15 integer,
  total_16 integer, total_17 integer,
  total_18 integer, total_19 integer,
  total_20 integer, total_21 integer,
  total_22 integer, total_23 integer,
  total_24 integer,
  primary key (step, period, subject, model)
) strict, without rowid;

-- Ended jobs whose usage is not added to the periods yet.
create table usage_pending (
  request_id text primary key
) strict, without rowid;

-- Single requests, as far as they are kept. Their days begin with the daily sums, which are older.
create temp table usage_hours_read as
select strftime('%Y-%m-%dT%H', at / 1000, 'unixepoch') as period,
  member_id, coalesce(provider_id, '') as provider_id, model,
  count(*) as requests, count(*) filter (where outcome = 'failed') as failed,
  count(*) filter (where outcome = 'canceled') as canceled, sum(prompt_tokens) as prompt_tokens,
  sum(completion_tokens) as completion_tokens, sum(audio_ms) as audio_ms, sum(images) as images,
  sum(total_ms) as total_ms, sum(made_ms) as generation_ms,
  count(*) filter (where first_ms <= 1) as first_byte_0,
  count(*) filter (where first_ms between 2 and 2) as first_byte_1,
  count(*) filter (where first_ms between 3 and 3) as first_byte_2,
  count(*) filter (where first_ms between 4 and 6) as first_byte_3,
  count(*) filter (where first_ms between 7 and 10) as first_byte_4,
  count(*) filter (where first_ms between 11 and 18) as first_byte_5,
  count(*) filter (where first_ms between 19 and 32) as first_byte_6,
  count(*) filter (where first_ms between 33 and 56) as first_byte_7,
  count(*) filter (where first_ms between 57 and 100) as first_byte_8,
  count(*) filter (where first_ms between 101 and 178) as first_byte_9,
  count(*) filter (where first_ms between 179 and 316) as first_byte_10,
  count(*) filter (where first_ms between 317 and 562) as first_byte_11,
  count(*) filter (where first_ms between 563 and 1000) as first_byte_12,
  count(*) filter (where first_ms between 1001 and 1778) as first_byte_13,
  count(*) filter (where first_ms between 1779 and 3162) as first_byte_14,
  count(*) filter (where first_ms between 3163 and 5623) as first_byte_15,
  count(*) filter (where first_ms between 5624 and 10000) as first_byte_16,
  count(*) filter (where first_ms between 10001 and 17783) as first_byte_17,
  count(*) filter (where first_ms between 17784 and 31623) as first_byte_18,
  count(*) filter (where first_ms between 31624 and 56234) as first_byte_19,
  count(*) filter (where first_ms between 56235 and 100000) as first_byte_20,
  count(*) filter (where first_ms between 100001 and 177828) as first_byte_21,
  count(*) filter (where first_ms between 177829 and 316228) as first_byte_22,
  count(*) filter (where first_ms between 316229 and 600000) as first_byte_23,
  count(*) filter (where first_ms > 600000) as first_byte_24,
  count(*) filter (where queue_ms <= 1) as queue_0,
  count(*) filter (where queue_ms between 2 and 2) as queue_1,
  count(*) filter (where queue_ms between 3 and 3) as queue_2,
  count(*) filter (where queue_ms between 4 and 6) as queue_3,
  count(*) filter (where queue_ms between 7 and 10) as queue_4,
  count(*) filter (where queue_ms between 11 and 18) as queue_5,
  count(*) filter (where queue_ms between 19 and 32) as queue_6,
  count(*) filter (where queue_ms between 33 and 56) as queue_7,
  count(*) filter (where queue_ms between 57 and 100) as queue_8,
  count(*) filter (where queue_ms between 101 and 178) as queue_9,
  count(*) filter (where queue_ms between 179 and 316) as queue_10,
  count(*) filter (where queue_ms between 317 and 562) as queue_11,
  count(*) filter (where queue_ms between 563 and 1000) as queue_12,
  count(*) filter (where queue_ms between 1001 and 1778) as queue_13,
  count(*) filter (where queue_ms between 1779 and 3162) as queue_14,
  count(*) filter (where queue_ms between 3163 and 5623) as queue_15,
  count(*) filter (where queue_ms between 5624 and 10000) as queue_16,
  count(*) filter (where queue_ms between 10001 and 17783) as queue_17,
  count(*) filter (where queue_ms between 17784 and 31623) as queue_18,
  count(*) filter (where queue_ms between 31624 and 56234) as queue_19,
  count(*) filter (where queue_ms between 56235 and 100000) as queue_20,
  count(*) filter (where queue_ms between 100001 and 177828) as queue_21,
  count(*) filter (where queue_ms between 177829 and 316228) as queue_22,
  count(*) filter (where queue_ms between 316229 and 600000) as queue_23,
  count(*) filter (where queue_ms > 600000) as queue_24,
  count(*) filter (where whole_ms <= 1) as total_0,
  count(*) filter (where whole_ms between 2 and 2) as total_1,
  count(*) filter (where whole_ms between 3 and 3) as total_2,
  count(*) filter (where whole_ms between 4 and 6) as total_3,
  count(*) filter (where whole_ms between 7 and 10) as total_4,
  count(*) filter (where whole_ms between 11 and 18) as total_5,
  count(*) filter (where whole_ms between 19 and 32) as total_6,
  count(*) filter (where whole_ms between 33 and 56) as total_7,
  count(*) filter (where whole_ms between 57 and 100) as total_8,
  count(*) filter (where whole_ms between 101 and 178) as total_9,
  count(*) filter (where whole_ms between 179 and 316) as total_10,
  count(*) filter (where whole_ms between 317 and 562) as total_11,
  count(*) filter (where whole_ms between 563 and 1000) as total_12,
  count(*) filter (where whole_ms between 1001 and 1778) as total_13,
  count(*) filter (where whole_ms between 1779 and 3162) as total_14,
  count(*) filter (where whole_ms between 3163 and 5623) as total_15,
  count(*) filter (where whole_ms between 5624 and 10000) as total_16,
  count(*) filter (where whole_ms between 10001 and 17783) as total_17,
  count(*) filter (where whole_ms between 17784 and 31623) as total_18,
  count(*) filter (where whole_ms between 31624 and 56234) as total_19,
  count(*) filter (where whole_ms between 56235 and 100000) as total_20,
  count(*) filter (where whole_ms between 100001 and 177828) as total_21,
  count(*) filter (where whole_ms between 177829 and 316228) as total_22,
  count(*) filter (where whole_ms between 316229 and 600000) as total_23,
  count(*) filter (where whole_ms > 600000) as total_24
from (
  select usage.*, case when outcome = 'ok' then first_byte_ms end as first_ms,
    case when outcome = 'ok' then total_ms end as whole_ms,
    case when completion_tokens > 0 and total_ms > queue_ms then total_ms - queue_ms else 0 end
      as made_ms
  from usage) as requests
group by 1, 2, 3, 4;

insert into usage_periods (
  step, period, subject, model, requests, failed, canceled, prompt_tokens, completion_tokens,
  audio_ms, images, total_ms, generation_ms, first_byte_0, first_byte_1, first_byte_2,
  first_byte_3, first_byte_4, first_byte_5, first_byte_6, first_byte_7, first_byte_8,
  first_byte_9, first_byte_10, first_byte_11, first_byte_12, first_byte_13, first_byte_14,
  first_byte_15, first_byte_16, first_byte_17, first_byte_18, first_byte_19, first_byte_20,
  first_byte_21, first_byte_22, first_byte_23, first_byte_24, queue_0, queue_1, queue_2, queue_3,
  queue_4, queue_5, queue_6, queue_7, queue_8, queue_9, queue_10, queue_11, queue_12, queue_13,
  queue_14, queue_15, queue_16, queue_17, queue_18, queue_19, queue_20, queue_21, queue_22,
  queue_23, queue_24, total_0, total_1, total_2, total_3, total_4, total_5, total_6, total_7,
  total_8, total_9, total_10, total_11, total_12, total_13, total_14, total_15, total_16,
  total_17, total_18, total_19, total_20, total_21, total_22, total_23, total_24)
select 'hour', period, subject, model,
  sum(requests), sum(failed), sum(canceled), sum(prompt_tokens), sum(completion_tokens),
  sum(audio_ms), sum(images), sum(total_ms), sum(generation_ms), nullif(sum(first_byte_0), 0),
  nullif(sum(first_byte_1), 0), nullif(sum(first_byte_2), 0), nullif(sum(first_byte_3), 0), nullif(sum(first_byte_4), 0), nullif(sum(first_byte_5), 0),
  nullif(sum(first_byte_6), 0), nullif(sum(first_byte_7), 0), nullif(sum(first_byte_8), 0), nullif(sum(first_byte_9), 0), nullif(sum(first_byte_10), 0),
  nullif(sum(first_byte_11), 0), nullif(sum(first_byte_12), 0), nullif(sum(first_byte_13), 0), nullif(sum(first_byte_14), 0),
  nullif(sum(first_byte_15), 0), nullif(sum(first_byte_16), 0), nullif(sum(first_byte_17), 0), nullif(sum(first_byte_18), 0),
  nullif(sum(first_byte_19), 0), nullif(sum(first_byte_20), 0), nullif(sum(first_byte_21), 0), nullif(sum(first_byte_22), 0),
  nullif(sum(first_byte_23), 0), nullif(sum(first_byte_24), 0), nullif(sum(queue_0), 0), nullif(sum(queue_1), 0), nullif(sum(queue_2), 0), nullif(sum(queue_3), 0),
  nullif(sum(queue_4), 0), nullif(sum(queue_5), 0), nullif(sum(queue_6), 0), nullif(sum(queue_7), 0), nullif(sum(queue_8), 0), nullif(sum(queue_9), 0),
  nullif(sum(queue_10), 0), nullif(sum(queue_11), 0), nullif(sum(queue_12), 0), nullif(sum(queue_13), 0), nullif(sum(queue_14), 0), nullif(sum(queue_15), 0),
  nullif(sum(queue_16), 0), nullif(sum(queue_17), 0), nullif(sum(queue_18), 0), nullif(sum(queue_19), 0), nullif(sum(queue_20), 0), nullif(sum(queue_21), 0),
  nullif(sum(queue_22), 0), nullif(sum(queue_23), 0), nullif(sum(queue_24), 0), nullif(sum(total_0), 0), nullif(sum(total_1), 0), nullif(sum(total_2), 0),
  nullif(sum(total_3), 0), nullif(sum(total_4), 0), nullif(sum(total_5), 0), nullif(sum(total_6), 0), nullif(sum(total_7), 0), nullif(sum(total_8), 0),
  nullif(sum(total_9), 0), nullif(sum(total_10), 0), nullif(sum(total_11), 0), nullif(sum(total_12), 0), nullif(sum(total_13), 0), nullif(sum(total_14), 0),
  nullif(sum(total_15), 0), nullif(sum(total_16), 0), nullif(sum(total_17), 0), nullif(sum(total_18), 0), nullif(sum(total_19), 0), nullif(sum(total_20), 0),
  nullif(sum(total_21), 0), nullif(sum(total_22), 0), nullif(sum(total_23), 0), nullif(sum(total_24), 0)
from (
  select member_id as subject, usage_hours_read.* from usage_hours_read
  union all select provider_id, usage_hours_read.* from usage_hours_read where provider_id <> ''
  union all select '', usage_hours_read.* from usage_hours_read) as parts
group by period, subject, model;

insert into usage_periods (
  step, period, subject, model, requests, failed, canceled, prompt_tokens, completion_tokens,
  audio_ms, images, total_ms, generation_ms, first_byte_0, first_byte_1, first_byte_2,
  first_byte_3, first_byte_4, first_byte_5, first_byte_6, first_byte_7, first_byte_8,
  first_byte_9, first_byte_10, first_byte_11, first_byte_12, first_byte_13, first_byte_14,
  first_byte_15, first_byte_16, first_byte_17, first_byte_18, first_byte_19, first_byte_20,
  first_byte_21, first_byte_22, first_byte_23, first_byte_24, queue_0, queue_1, queue_2, queue_3,
  queue_4, queue_5, queue_6, queue_7, queue_8, queue_9, queue_10, queue_11, queue_12, queue_13,
  queue_14, queue_15, queue_16, queue_17, queue_18, queue_19, queue_20, queue_21, queue_22,
  queue_23, queue_24, total_0, total_1, total_2, total_3, total_4, total_5, total_6, total_7,
  total_8, total_9, total_10, total_11, total_12, total_13, total_14, total_15, total_16,
  total_17, total_18, total_19, total_20, total_21, total_22, total_23, total_24)
select 'day', substr(period, 1, 10), subject, model,
  sum(requests), sum(failed), sum(canceled), sum(prompt_tokens), sum(completion_tokens),
  sum(audio_ms), sum(images), sum(total_ms), sum(generation_ms), nullif(sum(first_byte_0), 0),
  nullif(sum(first_byte_1), 0), nullif(sum(first_byte_2), 0), nullif(sum(first_byte_3), 0), nullif(sum(first_byte_4), 0), nullif(sum(first_byte_5), 0),
  nullif(sum(first_byte_6), 0), nullif(sum(first_byte_7), 0), nullif(sum(first_byte_8), 0), nullif(sum(first_byte_9), 0), nullif(sum(first_byte_10), 0),
  nullif(sum(first_byte_11), 0), nullif(sum(first_byte_12), 0), nullif(sum(first_byte_13), 0), nullif(sum(first_byte_14), 0),
  nullif(sum(first_byte_15), 0), nullif(sum(first_byte_16), 0), nullif(sum(first_byte_17), 0), nullif(sum(first_byte_18), 0),
  nullif(sum(first_byte_19), 0), nullif(sum(first_byte_20), 0), nullif(sum(first_byte_21), 0), nullif(sum(first_byte_22), 0),
  nullif(sum(first_byte_23), 0), nullif(sum(first_byte_24), 0), nullif(sum(queue_0), 0), nullif(sum(queue_1), 0), nullif(sum(queue_2), 0), nullif(sum(queue_3), 0),
  nullif(sum(queue_4), 0), nullif(sum(queue_5), 0), nullif(sum(queue_6), 0), nullif(sum(queue_7), 0), nullif(sum(queue_8), 0), nullif(sum(queue_9), 0),
  nullif(sum(queue_10), 0), nullif(sum(queue_11), 0), nullif(sum(queue_12), 0), nullif(sum(queue_13), 0), nullif(sum(queue_14), 0), nullif(sum(queue_15), 0),
  nullif(sum(queue_16), 0), nullif(sum(queue_17), 0), nullif(sum(queue_18), 0), nullif(sum(queue_19), 0), nullif(sum(queue_20), 0), nullif(sum(queue_21), 0),
  nullif(sum(queue_22), 0), nullif(sum(queue_23), 0), nullif(sum(queue_24), 0), nullif(sum(total_0), 0), nullif(sum(total_1), 0), nullif(sum(total_2), 0),
  nullif(sum(total_3), 0), nullif(sum(total_4), 0), nullif(sum(total_5), 0), nullif(sum(total_6), 0), nullif(sum(total_7), 0), nullif(sum(total_8), 0),
  nullif(sum(total_9), 0), nullif(sum(total_10), 0), nullif(sum(total_11), 0), nullif(sum(total_12), 0), nullif(sum(total_13), 0), nullif(sum(total_14), 0),
  nullif(sum(total_15), 0), nullif(sum(total_16), 0), nullif(sum(total_17), 0), nullif(sum(total_18), 0), nullif(sum(total_19), 0), nullif(sum(total_20), 0),
  nullif(sum(total_21), 0), nullif(sum(total_22), 0), nullif(sum(total_23), 0), nullif(sum(total_24), 0)
from usage_periods where step = 'hour' group by 2, 3, 4;

insert into usage_periods (
  step, period, subject, model, requests, failed, canceled, prompt_tokens, completion_tokens,
  audio_ms, images, total_ms)
select 'day', day, subject, model, sum(requests),
  sum(case when outcome = 'failed' then requests else 0 end),
  sum(case when outcome = 'canceled' then requests else 0 end),
  sum(prompt_tokens), sum(completion_tokens), sum(audio_ms), sum(images), sum(total_ms)
from (
  select member_id as subject, usage_daily.* from usage_daily
  union all select provider_id, usage_daily.* from usage_daily where provider_id <> ''
  union all select '', usage_daily.* from usage_daily) as parts
where true group by day, subject, model
on conflict (step, period, subject, model) do update set
  requests = excluded.requests, failed = excluded.failed, canceled = excluded.canceled,
  prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
  audio_ms = excluded.audio_ms, images = excluded.images, total_ms = excluded.total_ms;

-- The gateway has sums of all its models, too: it may have hundreds of them.
insert into usage_periods (
  step, period, subject, model, requests, failed, canceled, prompt_tokens, completion_tokens,
  audio_ms, images, total_ms, generation_ms, first_byte_0, first_byte_1, first_byte_2,
  first_byte_3, first_byte_4, first_byte_5, first_byte_6, first_byte_7, first_byte_8,
  first_byte_9, first_byte_10, first_byte_11, first_byte_12, first_byte_13, first_byte_14,
  first_byte_15, first_byte_16, first_byte_17, first_byte_18, first_byte_19, first_byte_20,
  first_byte_21, first_byte_22, first_byte_23, first_byte_24, queue_0, queue_1, queue_2, queue_3,
  queue_4, queue_5, queue_6, queue_7, queue_8, queue_9, queue_10, queue_11, queue_12, queue_13,
  queue_14, queue_15, queue_16, queue_17, queue_18, queue_19, queue_20, queue_21, queue_22,
  queue_23, queue_24, total_0, total_1, total_2, total_3, total_4, total_5, total_6, total_7,
  total_8, total_9, total_10, total_11, total_12, total_13, total_14, total_15, total_16,
  total_17, total_18, total_19, total_20, total_21, total_22, total_23, total_24)
select step, period, '', '',
  sum(requests), sum(failed), sum(canceled), sum(prompt_tokens), sum(completion_tokens),
  sum(audio_ms), sum(images), sum(total_ms), sum(generation_ms), nullif(sum(first_byte_0), 0),
  nullif(sum(first_byte_1), 0), nullif(sum(first_byte_2), 0), nullif(sum(first_byte_3), 0), nullif(sum(first_byte_4), 0), nullif(sum(first_byte_5), 0),
  nullif(sum(first_byte_6), 0), nullif(sum(first_byte_7), 0), nullif(sum(first_byte_8), 0), nullif(sum(first_byte_9), 0), nullif(sum(first_byte_10), 0),
  nullif(sum(first_byte_11), 0), nullif(sum(first_byte_12), 0), nullif(sum(first_byte_13), 0), nullif(sum(first_byte_14), 0),
  nullif(sum(first_byte_15), 0), nullif(sum(first_byte_16), 0), nullif(sum(first_byte_17), 0), nullif(sum(first_byte_18), 0),
  nullif(sum(first_byte_19), 0), nullif(sum(first_byte_20), 0), nullif(sum(first_byte_21), 0), nullif(sum(first_byte_22), 0),
  nullif(sum(first_byte_23), 0), nullif(sum(first_byte_24), 0), nullif(sum(queue_0), 0), nullif(sum(queue_1), 0), nullif(sum(queue_2), 0), nullif(sum(queue_3), 0),
  nullif(sum(queue_4), 0), nullif(sum(queue_5), 0), nullif(sum(queue_6), 0), nullif(sum(queue_7), 0), nullif(sum(queue_8), 0), nullif(sum(queue_9), 0),
  nullif(sum(queue_10), 0), nullif(sum(queue_11), 0), nullif(sum(queue_12), 0), nullif(sum(queue_13), 0), nullif(sum(queue_14), 0), nullif(sum(queue_15), 0),
  nullif(sum(queue_16), 0), nullif(sum(queue_17), 0), nullif(sum(queue_18), 0), nullif(sum(queue_19), 0), nullif(sum(queue_20), 0), nullif(sum(queue_21), 0),
  nullif(sum(queue_22), 0), nullif(sum(queue_23), 0), nullif(sum(queue_24), 0), nullif(sum(total_0), 0), nullif(sum(total_1), 0), nullif(sum(total_2), 0),
  nullif(sum(total_3), 0), nullif(sum(total_4), 0), nullif(sum(total_5), 0), nullif(sum(total_6), 0), nullif(sum(total_7), 0), nullif(sum(total_8), 0),
  nullif(sum(total_9), 0), nullif(sum(total_10), 0), nullif(sum(total_11), 0), nullif(sum(total_12), 0), nullif(sum(total_13), 0), nullif(sum(total_14), 0),
  nullif(sum(total_15), 0), nullif(sum(total_16), 0), nullif(sum(total_17), 0), nullif(sum(total_18), 0), nullif(sum(total_19), 0), nullif(sum(total_20), 0),
  nullif(sum(total_21), 0), nullif(sum(total_22), 0), nullif(sum(total_23), 0), nullif(sum(total_24), 0)
from usage_periods where subject = '' group by 1, 2;

drop table usage_hours_read;
