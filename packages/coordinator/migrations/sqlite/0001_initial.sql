-- Members, their keys, the machines that serve, and what was used. Tables are STRICT: a number that
-- arrives as text is a bug of ours, and shows at once. Times are Unix milliseconds. Ids are ULIDs,
-- so that an id sorts by its age and two coordinators never make the same.

create table members (
  id text primary key check (length(id) = 26),
  -- Letters of either case are one name: 'Anna' must not be able to pass for 'anna'.
  email text not null collate nocase unique check (email like '%_@_%' and length(email) <= 254),
  -- References are read as id, address or name, and OWNER/NAME: neither '@' nor '/' may be in a
  -- name.
  name text not null collate nocase unique
    check (length(name) between 1 and 64 and instr(name, '@') = 0 and instr(name, '/') = 0),
  role text not null check (role in ('member', 'admin')),
  -- scrypt; null for a member who cannot log in to the dashboard yet.
  password_hash text check (password_hash is null or password_hash like '$scrypt$%'),
  created_at integer not null check (created_at > 0)
) strict;

create table api_keys (
  id text primary key check (length(id) = 26),
  member_id text not null references members (id),
  name text not null collate nocase check (length(name) between 1 and 64),
  prefix text not null check (prefix like 'gwk\_%' escape '\'),
  -- SHA-256 of the secret; the secret itself is nowhere. Unique, and so the index of the one hot
  -- look-up.
  hash text not null unique check (length(hash) = 64),
  scope text not null check (scope in ('own', 'any')),
  created_at integer not null check (created_at > 0),
  last_used_at integer,
  expires_at integer,
  disabled_at integer,
  revoked_at integer
) strict;

-- A revoked key gives its name free: its successor is called the same in every script.
create unique index api_keys_name on api_keys (member_id, name) where revoked_at is null;

create table providers (
  id text primary key check (length(id) = 26),
  owner_id text not null references members (id),
  name text not null collate nocase
    check (length(name) between 1 and 64 and instr(name, '@') = 0 and instr(name, '/') = 0),
  token_hash text not null unique check (length(token_hash) = 64),
  created_at integer not null check (created_at > 0),
  last_seen_at integer,
  draining integer not null default 0 check (draining in (0, 1)),
  unique (owner_id, name)
) strict;

-- What a provider last advertised, up to 256 KiB: in a table of its own, or every "last seen" would
-- rewrite it.
create table provider_snapshots (
  provider_id text primary key references providers (id) on delete cascade,
  services text not null check (json_valid(services)),
  host text check (host is null or json_valid(host))
) strict;

create table join_tokens (
  hash text primary key check (length(hash) = 64),
  owner_id text not null references members (id),
  name text collate nocase,
  created_at integer not null check (created_at > 0),
  expires_at integer not null,
  used_at integer,
  -- Spent means that it became a provider: neither without the other.
  provider_id text references providers (id) on delete set null,
  check (used_at is not null or provider_id is null)
) strict;

-- One row a request. No foreign keys: history outlives what it points to.
create table usage (
  request_id text primary key,
  at integer not null check (at > 0),
  member_id text not null,
  key_id text not null,
  provider_id text,
  model text not null,
  service_type text not null,
  endpoint text not null,
  prompt_tokens integer not null check (prompt_tokens >= 0),
  completion_tokens integer not null check (completion_tokens >= 0),
  queue_ms integer not null check (queue_ms >= 0),
  first_byte_ms integer check (first_byte_ms >= 0),
  total_ms integer not null check (total_ms >= 0),
  attempts integer not null check (attempts >= 0),
  outcome text not null check (outcome in ('ok', 'failed', 'canceled')),
  error_code text,
  source text not null check (source in ('api', 'console'))
) strict;

create index usage_member on usage (member_id, at);

-- One row whose only purpose is to be written: /readyz learns from it whether a write commits.
create table write_probe (
  id integer primary key check (id = 1),
  writes integer not null
) strict;

insert into write_probe values (1, 0);
