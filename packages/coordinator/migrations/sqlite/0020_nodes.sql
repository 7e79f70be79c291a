-- Several coordinators of one database: where each is reached by the others, and whether it runs.
-- On SQLite there is one, and most of this stays empty.

-- Where other coordinators reach it; null: they do not.
alter table nodes add column url text;
alter table nodes add column version text;
-- When its process started, and last reported, by the database's clock.
alter table nodes add column started_at integer;
alter table nodes add column reported_at integer;
-- It has ended, and said so.
alter table nodes add column stopped_at integer;
-- It is to serve nobody any more; its agents move to others.
alter table nodes add column draining integer not null default 0 check (draining in (0, 1));
-- Agents that are linked to it.
alter table nodes add column agents integer not null default 0;

-- Secrets that coordinators share.
create table secrets (
  id text primary key,
  -- 'node links', 'asset links', 'set-up link'.
  purpose text not null,
  secret blob not null,
  -- By the database's clock.
  created_at integer not null
) strict, without rowid;

create index secrets_by_purpose on secrets (purpose, created_at);
