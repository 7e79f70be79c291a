-- What callers and the dashboard are shown of jobs.

-- The attempts of a job that failed and were followed by another: which provider, when, and why. A
-- JSON list in the order in which they failed.
alter table jobs add column failed_attempts text not null default '[]';

-- A member's list is filtered by type and model in the index alone: jobs that do not fit are not
-- read.
drop index jobs_member;
create index jobs_member on jobs (member_id, id desc, endpoint, model);
drop index jobs_member_status;
create index jobs_member_status on jobs (member_id, status, id desc, endpoint, model);
