-- Which coordinator each provider is linked to, and which models it serves or has served: whether a
-- job still has a provider is decided by these rows, not by the memory of one process.

create table nodes (
  id text primary key,
  -- Counts its starts.
  epoch integer not null,
  seen_at integer not null
) strict, without rowid;

create table provider_links (
  provider_id text primary key references providers (id) on delete cascade,
  -- Counts the provider's links: the highest is the newest.
  epoch integer not null,
  node_id text not null,
  link_id text not null,
  linked_at integer not null,
  -- Null while the link is open.
  ended_at integer
) strict, without rowid;

create index provider_links_by_node on provider_links (node_id);

create table served_models (
  provider_id text not null references providers (id) on delete cascade,
  service_type text not null,
  model text not null,
  service_id text not null,
  -- 0: the service takes its owner's work alone.
  takes_foreign integer not null check (takes_foreign in (0, 1)),
  advertised text not null check (json_valid(advertised)),
  -- When the provider's list left it out; null: it is in the last list.
  left_at integer,
  primary key (provider_id, service_type, model, service_id)
) strict, without rowid;

create index served_models_by_model on served_models (service_type, model);

insert into provider_links (provider_id, epoch, node_id, link_id, linked_at, ended_at)
select id, 0, '', '', last_seen_at, last_seen_at from providers where last_seen_at is not null;

insert or ignore into served_models
  (provider_id, service_type, model, service_id, takes_foreign, advertised, left_at)
select s.provider_id, service.value ->> 'service_type', model.value ->> 'id',
  service.value ->> 'service_id', coalesce(service.value ->> 'foreign', 1), model.value, null
from provider_snapshots s, json_each(s.services) service,
  json_each(service.value, '$.models') model;
