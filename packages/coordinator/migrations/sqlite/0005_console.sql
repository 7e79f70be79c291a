-- What the dashboard shows and switches.

-- Its owner takes others' work back for a while: it serves its owner alone.
alter table providers add column paused integer not null default 0 check (paused in (0, 1));

-- A member's latest requests, and those of a day with what became of them: counted from the index
-- alone, or a member with 100,000 requests a day would wait for as many rows.
drop index usage_member;
create index usage_member on usage (member_id, at, outcome);

-- The last failure of each provider.
create index usage_provider_failed on usage (provider_id, at)
  where outcome = 'failed' and provider_id is not null;

-- The days of one provider: the table itself begins with the day and the member.
create index usage_daily_provider on usage_daily (provider_id, day) where provider_id <> '';

-- Members whom the owner of a network wants in it, until they answer: nobody is put into a network
-- by another member, because their calls may then run on its members' machines.
create table network_invitations (
  network_id text not null references networks (id) on delete cascade,
  member_id text not null references members (id),
  invited_by text not null references members (id),
  created_at integer not null check (created_at > 0),
  primary key (network_id, member_id)
) strict, without rowid;

create index network_invitations_member on network_invitations (member_id);
