-- When each provider was linked, and why its links ended: at most 30 days, and 500 links of each.
create table link_history (
  provider_id plain_text not null references providers (id) on delete cascade,
  link_id plain_text not null,
  -- The coordinator that held the link.
  node_id plain_text not null,
  linked_at bigint not null,
  -- Null while the link is open.
  ended_at bigint,
  reason plain_text,
  primary key (provider_id, linked_at, link_id),
  check ((ended_at is null) = (reason is null))
);

create index link_history_open on link_history (node_id) where ended_at is null;
create index link_history_ended on link_history (ended_at);

-- Since when the history of the provider is whole; null: there is none.
alter table provider_links add column history_since bigint;
