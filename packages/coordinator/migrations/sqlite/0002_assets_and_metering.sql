-- The files that models make, what was used day by day, and what one member may do.

-- Null is the configured default, so that a change of it reaches everybody who has no limit of
-- their own.
alter table members add column rate_limit_requests integer
  check (rate_limit_requests between 1 and 1000000);
alter table members add column max_concurrent integer
  check (max_concurrent between 1 and 100000);

-- One row a file. The row is written after the file and deleted before it: a row without its file
-- is damage, a file without its row is swept.
create table assets (
  -- Random and not a ULID: an id must not tell when another one was made.
  id text primary key check (length(id) = 22),
  member_id text not null references members (id),
  -- No foreign key: history outlives the provider.
  provider_id text,
  request_id text not null,
  model text not null,
  endpoint text not null,
  content_type text not null,
  bytes integer not null check (bytes >= 0),
  sha256 text not null check (length(sha256) = 64),
  seconds real check (seconds >= 0),
  created_at integer not null check (created_at > 0),
  expires_at integer not null
) strict;

-- The first serves a member's own list, the second an administrator's, each a page at a time in the
-- order in which it is shown; the third the sweep.
create index assets_member on assets (member_id, created_at desc, id desc);
create index assets_age on assets (created_at desc, id desc);
create index assets_expiry on assets (expires_at, id);

-- The space that each member's assets take, and under '' that of all. Every new asset asks for both
-- sums: added up from 100,000 rows that is 23 ms of the only writer's time, 4 ms from an index that
-- covers the bytes, and 0.01 ms from here. Triggers keep them, in the transaction of the row
-- itself, so that they cannot drift.
create table asset_space (
  member_id text primary key,
  bytes integer not null check (bytes >= 0)
) strict, without rowid;

create trigger asset_takes_space after insert on assets begin
  insert into asset_space values (new.member_id, new.bytes), ('', new.bytes)
    on conflict (member_id) do update set bytes = bytes + excluded.bytes;
end;

create trigger asset_frees_space after delete on assets begin
  update asset_space set bytes = bytes - old.bytes where member_id in (old.member_id, '');
end;

-- A row of an asset never changes: an update would pass the sums by.
create trigger asset_stays before update on assets begin
  select raise(abort, 'an asset does not change');
end;

-- Audio is metered by its duration, images by their count (specification, section 8).
alter table usage add column audio_ms integer not null default 0 check (audio_ms >= 0);
alter table usage add column images integer not null default 0 check (images >= 0);

-- What the rows of `usage` add up to, by their day in UTC: statistics of a year read some thousand
-- rows instead of millions, and stay when old rows go. Written with the row, in one transaction.
create table usage_daily (
  day text not null check (day glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
  member_id text not null,
  key_id text not null,
  -- Empty for calls that no provider took: null would not be equal to itself in a key.
  provider_id text not null,
  model text not null,
  endpoint text not null,
  source text not null check (source in ('api', 'console')),
  outcome text not null check (outcome in ('ok', 'failed', 'canceled')),
  requests integer not null check (requests > 0),
  prompt_tokens integer not null check (prompt_tokens >= 0),
  completion_tokens integer not null check (completion_tokens >= 0),
  audio_ms integer not null check (audio_ms >= 0),
  images integer not null check (images >= 0),
  total_ms integer not null check (total_ms >= 0),
  primary key (day, member_id, key_id, provider_id, model, endpoint, source, outcome)
) strict, without rowid;

insert into usage_daily
select strftime('%Y-%m-%d', at / 1000, 'unixepoch'), member_id, key_id, coalesce(provider_id, ''),
  model, endpoint, source, outcome,
  count(*), sum(prompt_tokens), sum(completion_tokens), 0, 0, sum(total_ms)
from usage group by 1, 2, 3, 4, 5, 6, 7, 8;
