-- The attempts of a job that failed and were followed by another: which provider, when, and why. A
-- JSON list in the order in which they failed.
alter table jobs add column failed_attempts text not null default '[]';
