-- Names that stand for an ordered chain of models: of a member, or of the gateway (null).
create table aliases (
  id text primary key check (length(id) = 26),
  member_id text references members (id),
  name text not null check (length(name) between 1 and 128),
  -- JSON: the ids of the models, the first choice first.
  models text not null check (json_valid(models) and json_array_length(models) between 1 and 8),
  created_at integer not null check (created_at > 0),
  updated_at integer not null check (updated_at >= created_at)
) strict;

create unique index aliases_name on aliases (coalesce(member_id, ''), name);

create trigger aliases_added after insert on aliases
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger aliases_changed after update on aliases
begin update epochs set value = value + 1 where name = 'sharing'; end;

create trigger aliases_deleted after delete on aliases
begin update epochs set value = value + 1 where name = 'sharing'; end;

-- The alias under which a job was submitted: `model` is then the first model of its chain at that
-- moment, in whose queue the job stands. `served_model`: the one that its last claim took.
alter table jobs add column alias text;
alter table jobs add column served_model text;
