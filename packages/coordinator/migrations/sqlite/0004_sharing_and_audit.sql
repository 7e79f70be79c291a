-- Who may use whose machines, who may come in, and who changed what.

-- A disabled member sees nothing, is seen by nobody, and keeps what is theirs.
alter table members add column disabled_at integer;

-- A rotated key keeps its row, its name and its history; the secret before it stays good until the
-- programs that use it have been changed.
alter table api_keys add column previous_hash text
  check (previous_hash is null or length(previous_hash) = 64);
alter table api_keys add column previous_until integer
  check ((previous_until is null) = (previous_hash is null));
create unique index api_keys_previous on api_keys (previous_hash)
  where previous_hash is not null;

-- Null waits for an administrator: it gets no work before.
alter table providers add column approved_at integer;
update providers set approved_at = created_at;

-- Made anew, because a token needs an id by which it can be named without being told.
create table join_tokens_with_id (
  id text primary key check (length(id) = 26),
  hash text not null unique check (length(hash) = 64),
  owner_id text not null references members (id),
  name text collate nocase,
  -- The provider whose machine enrols again: it keeps its id, its name and its shares.
  replaces text references providers (id) on delete cascade,
  created_at integer not null check (created_at > 0),
  expires_at integer not null,
  used_at integer,
  revoked_at integer,
  -- Spent means that it became a provider: neither without the other.
  provider_id text references providers (id) on delete set null,
  check (used_at is not null or provider_id is null),
  check (used_at is null or revoked_at is null)
) strict;

insert into join_tokens_with_id
  (id, hash, owner_id, name, created_at, expires_at, used_at, provider_id)
select upper(substr(hash, 1, 26)),
  hash, owner_id, name, created_at, expires_at, used_at, provider_id
from join_tokens;
drop table join_tokens;
alter table join_tokens_with_id rename to join_tokens;

create table networks (
  id text primary key check (length(id) = 26),
  name text not null collate nocase unique
    check (length(name) between 1 and 64 and instr(name, '@') = 0 and instr(name, '/') = 0),
  owner_id text not null references members (id),
  created_at integer not null check (created_at > 0)
) strict;

-- The owner is a member like every other.
create table network_members (
  network_id text not null references networks (id) on delete cascade,
  member_id text not null references members (id),
  joined_at integer not null check (joined_at > 0),
  primary key (network_id, member_id)
) strict, without rowid;

create index network_members_member on network_members (member_id);

-- What an owner lets others use. Nothing is shared that has no row here.
create table shares (
  id text primary key check (length(id) = 26),
  provider_id text not null references providers (id) on delete cascade,
  -- One service, one model, or neither: all that the provider serves.
  service_id text check (service_id is null or length(service_id) between 1 and 256),
  model text check (model is null or length(model) between 1 and 256),
  -- With whom: a network or a member.
  network_id text references networks (id) on delete cascade,
  member_id text references members (id),
  -- What they may take at most; null is no limit of its own.
  max_slots integer check (max_slots between 1 and 1024),
  max_tokens integer check (max_tokens between 1 and 1000000),
  -- Minutes of the day in the zone; from the later to the earlier goes over midnight.
  hours_from integer check (hours_from between 0 and 1439),
  hours_until integer check (hours_until between 0 and 1439),
  hours_zone text,
  created_at integer not null check (created_at > 0),
  check (service_id is null or model is null),
  check ((network_id is null) <> (member_id is null)),
  check ((hours_from is null) = (hours_until is null)),
  check ((hours_from is null) = (hours_zone is null)),
  check (hours_from is null or hours_from <> hours_until)
) strict;

-- The same shared twice with the same is one share. Null is not equal to itself in an index.
create unique index shares_once on shares (
  provider_id, coalesce(service_id, ''), coalesce(model, ''),
  coalesce(network_id, ''), coalesce(member_id, ''));
create index shares_network on shares (network_id) where network_id is not null;
create index shares_member on shares (member_id) where member_id is not null;

-- Whom an owner keeps from all that is theirs, whatever they share with a network.
create table blocks (
  owner_id text not null references members (id),
  member_id text not null references members (id),
  created_at integer not null check (created_at > 0),
  primary key (owner_id, member_id),
  check (owner_id <> member_id)
) strict, without rowid;

-- Single use: whoever has the secret becomes the member that it was made for.
create table invites (
  id text primary key check (length(id) = 26),
  hash text not null unique check (length(hash) = 64),
  email text not null collate nocase check (email like '%_@_%' and length(email) <= 254),
  role text not null check (role in ('member', 'admin')),
  network_id text references networks (id) on delete set null,
  created_at integer not null check (created_at > 0),
  expires_at integer not null,
  used_at integer,
  revoked_at integer,
  member_id text references members (id),
  check ((used_at is null) = (member_id is null)),
  check (used_at is null or revoked_at is null)
) strict;

-- A browser that is logged in. Rows go when the session ends.
create table member_sessions (
  id text primary key check (length(id) = 26),
  hash text not null unique check (length(hash) = 64),
  member_id text not null references members (id),
  address text not null,
  user_agent text not null check (length(user_agent) <= 256),
  created_at integer not null check (created_at > 0),
  last_used_at integer not null,
  expires_at integer not null
) strict;

create index member_sessions_member on member_sessions (member_id);
create index member_sessions_expiry on member_sessions (expires_at);

-- A machine that asks to be let in, and waits for somebody to type its code (RFC 8628). Rows go an
-- hour after their time is over.
create table device_logins (
  id text primary key check (length(id) = 26),
  device_hash text not null unique check (length(device_hash) = 64),
  -- As people read it: `BCDF-GHJK`.
  user_code text not null check (length(user_code) = 9),
  -- What the provider is to be called; null leaves it to the coordinator.
  name text collate nocase,
  -- The machine as it calls itself, and where it asked from: for whoever decides.
  host text check (length(host) <= 64),
  address text not null,
  created_at integer not null check (created_at > 0),
  expires_at integer not null,
  wrong_tries integer not null default 0 check (wrong_tries between 0 and 5),
  state text not null default 'pending'
    check (state in ('pending', 'approved', 'denied', 'done')),
  owner_id text references members (id),
  -- Whether the provider is approved with it, whatever the policy.
  approves_provider integer not null default 0 check (approves_provider in (0, 1)),
  provider_id text references providers (id) on delete set null,
  check ((owner_id is not null) = (state in ('approved', 'done'))),
  check (state = 'done' or provider_id is null),
  check (wrong_tries < 5 or state <> 'pending')
) strict;

create unique index device_logins_code on device_logins (user_code) where state = 'pending';
create index device_logins_expiry on device_logins (expires_at);

-- Every change of who may do what, written in the transaction that makes it.
create table audit_log (
  id text primary key check (length(id) = 26),
  at integer not null check (at > 0),
  -- `cli:<user of the machine>`, `member:<id>`, `agent`, `invite` or `system`.
  actor text not null,
  -- `key.create`: the command's noun and verb.
  action text not null,
  subject_kind text not null,
  subject_id text not null,
  -- As it was called then.
  subject_name text not null,
  -- What differs; null where there was, or is, nothing. Never a secret.
  before text check (before is null or json_valid(before)),
  after text check (after is null or json_valid(after))
) strict;

create index audit_log_subject on audit_log (subject_id, id desc);

create trigger audit_log_is_append_only before update on audit_log begin
  select raise(abort, 'the audit log is append-only');
end;
create trigger audit_log_keeps_all before delete on audit_log begin
  select raise(abort, 'the audit log is append-only');
end;
-- INSERT OR REPLACE deletes without asking the trigger above.
create trigger audit_log_replaces_none before insert on audit_log
  when exists (select 1 from audit_log where id = new.id) begin
  select raise(abort, 'the audit log is append-only');
end;
