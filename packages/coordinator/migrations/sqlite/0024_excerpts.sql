-- A short text by which a member finds their work again (shared/src/openai/excerpt.ts).
alter table jobs add column excerpt text;
alter table assets add column excerpt text;
-- 0: nothing of the member's requests is kept.
alter table members
  add column excerpts integer not null default 1 check (excerpts in (0, 1));

-- Nothing else of an asset changes: an update would pass the sums by.
drop trigger asset_stays;
create trigger asset_stays before update of
  id, member_id, key_id, provider_id, request_id, model, endpoint, content_type, bytes, sha256,
  seconds, created_at, expires_at on assets
begin
  select raise(abort, 'an asset does not change');
end;

-- Finds those that have been kept for long enough, and those of members who keep none any more.
create index jobs_excerpt on jobs (member_id, created_at) where excerpt is not null;
create index assets_excerpt on assets (member_id, created_at) where excerpt is not null;
-- The file of a request: usage names requests.
create index assets_request on assets (request_id);
