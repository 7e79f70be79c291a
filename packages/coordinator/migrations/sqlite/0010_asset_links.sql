-- Whether the files that a key's answers name are fetched with a key, or by a link.

-- 'private' or 'link'; null: as the operator has set.
alter table api_keys add column assets text check (assets in ('private', 'link'));
