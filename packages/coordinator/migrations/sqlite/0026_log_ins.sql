-- Ways to log in besides the password, and links that set a new password.

-- How its member has logged in.
alter table member_sessions add column method text not null default 'password'
  check (method in ('password', 'passkey', 'oidc'));

create table passkeys (
  id text primary key check (length(id) = 26),
  member_id text not null references members (id),
  -- As its owner calls it.
  name text not null,
  -- Base64url, as the browser names it.
  credential_id text not null unique check (length(credential_id) between 1 and 1400),
  -- COSE.
  public_key blob not null,
  -- Of uses, as the authenticator counts them; 0 for those that do not count.
  counter integer not null check (counter >= 0),
  -- JSON: how the browser reaches the authenticator.
  transports text not null check (json_valid(transports)),
  created_at integer not null check (created_at > 0),
  last_used_at integer
) strict;

create index passkeys_member on passkeys (member_id);

-- Accounts of OpenID providers that belong to members: one a member and provider.
create table oidc_identities (
  issuer text not null,
  subject text not null,
  member_id text not null references members (id),
  -- As the provider last told it; null if it told none.
  email text,
  created_at integer not null check (created_at > 0),
  last_used_at integer,
  primary key (issuer, subject)
) strict, without rowid;

create unique index oidc_identities_member on oidc_identities (member_id, issuer);

-- Challenges of passkeys and states of log-ins that have been used, until they expire.
create table spent_challenges (
  hash text primary key check (length(hash) = 64),
  expires_at integer not null
) strict, without rowid;

-- Links by which a member sets a new password. One that was used is kept for a week, in which the
-- member is told.
create table password_resets (
  hash text primary key check (length(hash) = 64),
  member_id text not null references members (id),
  created_at integer not null check (created_at > 0),
  expires_at integer not null,
  used_at integer
) strict, without rowid;

create index password_resets_member on password_resets (member_id);
