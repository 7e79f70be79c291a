-- The token of a member's Atom feed.

-- SHA-256 of the token, hex; null: the member has no feed.
alter table members add column if not exists feed_hash plain_text;
-- Unix ms.
alter table members add column if not exists feed_made_at bigint;

create unique index if not exists members_by_feed on members (feed_hash) where feed_hash is not null;
