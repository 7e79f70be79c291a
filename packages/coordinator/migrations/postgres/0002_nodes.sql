-- Several coordinators of one database: where each is reached by the others, and whether it runs.

-- Where other coordinators reach it; null: they do not.
alter table nodes add column url plain_text;
alter table nodes add column version plain_text;
-- When its process started, and last reported, by the database's clock.
alter table nodes add column started_at bigint;
alter table nodes add column reported_at bigint;
-- It has ended, and said so.
alter table nodes add column stopped_at bigint;
-- It is to serve nobody any more; its agents move to others.
alter table nodes add column draining smallint not null default 0 check (draining in (0, 1));
-- Agents that are linked to it.
alter table nodes add column agents bigint not null default 0;

-- Secrets that coordinators share.
create table secrets (
  id plain_text primary key,
  -- 'node links', 'asset links', 'set-up link'.
  purpose plain_text not null,
  secret bytea not null,
  -- By the database's clock.
  created_at bigint not null
);

create index secrets_by_purpose on secrets (purpose, created_at);
