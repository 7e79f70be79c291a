-- Wrong codes of waiting machines count against whoever types them, and end no log-in any more:
-- `wrong_tries` is what it is called, for whoever decides, and has no upper bound.
create table device_logins_unbounded (
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
  wrong_tries integer not null default 0 check (wrong_tries >= 0),
  state text not null default 'pending'
    check (state in ('pending', 'approved', 'denied', 'done')),
  owner_id text references members (id),
  -- Whether the provider is approved with it, whatever the policy.
  approves_provider integer not null default 0 check (approves_provider in (0, 1)),
  provider_id text references providers (id) on delete set null,
  check ((owner_id is not null) = (state in ('approved', 'done'))),
  check (state = 'done' or provider_id is null)
) strict;

insert into device_logins_unbounded
  (id, device_hash, user_code, name, host, address, created_at, expires_at, wrong_tries, state,
   owner_id, approves_provider, provider_id)
select id, device_hash, user_code, name, host, address, created_at, expires_at, wrong_tries, state,
   owner_id, approves_provider, provider_id
from device_logins;

drop table device_logins;
alter table device_logins_unbounded rename to device_logins;

create unique index device_logins_code on device_logins (user_code) where state = 'pending';
create index device_logins_expiry on device_logins (expires_at);

-- Rows go a quarter of an hour after the last wrong code.
create table device_guesses (
  -- `user:<id>`, `address:<address>`, of IPv6 its first half, or `actor:<actor of the audit log>`.
  guesser text primary key,
  wrong_tries integer not null check (wrong_tries > 0),
  last_at integer not null
) strict;
