-- A transaction may claim and end the jobs of many members, while another one adds jobs of the same
-- members: it must not wait for them. A row that another transaction holds is that of a caller who
-- is submitting a job just now, and stays. And only a job that leaves the queue can be its caller's
-- last one there.
create or replace function job_moves() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from jobs
    where service_type = new.service_type and model = new.model and member_id = new.member_id
      and status = 'QUEUED') then
    return null;
  end if;
  delete from fair_callers where ctid in (
    select ctid from fair_callers
    where service_type = new.service_type and model = new.model and member_id = new.member_id
    for update skip locked);
  return null;
end $$;

drop trigger job_moves on jobs;
create trigger job_moves after update of status on jobs
  for each row when (old.status = 'QUEUED' and new.status <> 'QUEUED')
  execute function job_moves();
