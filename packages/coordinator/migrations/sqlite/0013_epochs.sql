-- Counts the changes of what a coordinator keeps in memory, whichever process makes them: `keys` of
-- what a presented key stands for, `sharing` of who may use what, and of the settings of providers.

create table epochs (
  name text primary key check (name in ('keys', 'sharing')),
  value integer not null
) strict, without rowid;

insert into epochs (name, value) values ('keys', 1), ('sharing', 1);

-- Not `last_used_at`, which is written all the time, nor a new key: an unknown one is not kept.
create trigger api_keys_changed after update of
  member_id, name, prefix, hash, scope, assets, created_at, expires_at, previous_hash, previous_until,
  disabled_at, revoked_at on api_keys
begin update epochs set value = value + 1 where name = 'keys'; end;

create trigger api_keys_deleted after delete on api_keys
begin update epochs set value = value + 1 where name = 'keys'; end;

create trigger members_of_keys_changed after update of
  email, name, rate_limit_requests, max_concurrent, disabled_at on members
begin update epochs set value = value + 1 where name = 'keys'; end;

create trigger members_of_sharing_changed after update of name, disabled_at on members
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger members_deleted after delete on members
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger providers_added after insert on providers
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger providers_changed after update of
  owner_id, name, approved_at, draining, paused on providers
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger providers_deleted after delete on providers
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger network_members_added after insert on network_members
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger network_members_deleted after delete on network_members
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger shares_added after insert on shares
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger shares_changed after update on shares
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger shares_deleted after delete on shares
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger blocks_added after insert on blocks
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger blocks_deleted after delete on blocks
begin update epochs set value = value + 1 where name = 'sharing'; end;
