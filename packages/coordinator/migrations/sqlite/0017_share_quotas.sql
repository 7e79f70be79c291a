-- What others may use of a share in a day and in a month: `quota` as JSON, and what they have used.

alter table shares add column quota text check (quota is null or json_valid(quota));

-- The share of the last claim; null if the caller owns the machine.
alter table jobs add column share_id text;

create table share_usage (
  share_id text not null,
  day text not null check (day glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
  requests integer not null check (requests > 0),
  tokens integer not null check (tokens >= 0),
  images integer not null check (images >= 0),
  audio_ms integer not null check (audio_ms >= 0),
  primary key (share_id, day)
) strict, without rowid;

create trigger shares_forgotten after delete on shares
begin delete from share_usage where share_id = old.id; end;
