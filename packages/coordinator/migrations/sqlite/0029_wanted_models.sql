-- Models that members asked for and that no provider served, for 30 days: what at least three
-- members of a network want is shown to its members.

create table wanted_models (
  member_id text not null references members (id),
  -- Only what looks like the id of a model, see core/access/wanted-model.ts.
  model text not null check (length(model) between 1 and 96),
  -- The last day, in UTC: its first millisecond, in Unix ms.
  asked_on integer not null check (asked_on >= 0),
  primary key (member_id, model)
) strict, without rowid;
