-- Jobs, batches, and the webhooks that tell of them. `core/job.ts` has the states and what moves a
-- job between them; the checks here restate what must hold in each.

create table batches (
  id text primary key check (length(id) = 26),
  member_id text not null references members (id),
  label text check (length(label) <= 256),
  created_at integer not null check (created_at > 0)
) strict;

create index batches_member on batches (member_id, id desc);

-- Narrow: bodies and results lie in tables of their own.
create table jobs (
  id text primary key check (length(id) = 26),
  member_id text not null references members (id),
  -- No foreign key: keys and providers go, and what was done with them stays.
  key_id text not null,
  request_id text not null,
  batch_id text references batches (id),
  batch_index integer check (batch_index >= 0),
  endpoint text not null,
  service_type text not null,
  model text not null,
  scope text not null check (scope in ('own', 'any')),
  needs text not null check (json_valid(needs)),
  -- Of its request.
  body_bytes integer not null check (body_bytes >= 0),
  status text not null
    check (status in ('QUEUED', 'PROCESSING', 'PROCESSED', 'FAILED', 'CANCELED')),
  created_at integer not null check (created_at > 0),
  queued_at integer not null,
  started_at integer,
  finished_at integer,
  attempt integer not null default 0 check (attempt >= 0),
  -- Whether `attempt` counts the last claim: one that was given back does not count, unless its
  -- result comes after all.
  attempt_counted integer not null default 0 check (attempt_counted in (0, 1)),
  max_attempts integer not null check (max_attempts > 0),
  releases integer not null default 0 check (releases >= 0),
  generation integer not null default 1 check (generation > 0),

  -- Where it stands in the queue. All jobs of a lane can run on the same providers.
  lane text not null,
  fair_key real not null,
  -- Providers that gave it back, and until when they are not asked; those that failed it.
  excluded text not null default '[]' check (json_valid(excluded)),
  excluded_until integer,
  avoided text not null default '[]' check (json_valid(avoided)),
  not_before integer,

  -- Who has it. The last claim stays, so that a late result is known for what it is.
  -- It is found by the last one, which is the current one too: a second index would cost every
  -- claim and every end.
  claim_id text,
  last_claim_id text unique,
  provider_id text,
  session_id text,
  service_id text,
  accepted_at integer,
  lease_until integer,
  run_deadline integer,

  error text check (json_valid(error)),

  check ((batch_id is null) = (batch_index is null)),
  -- A claim and its lease are there while it is being run, and at no other time.
  check ((status = 'PROCESSING') = (claim_id is not null)),
  check ((status = 'PROCESSING') = (lease_until is not null)),
  check (status <> 'PROCESSING' or (provider_id is not null and service_id is not null)),
  check (status = 'PROCESSING' or accepted_at is null),
  check (claim_id is null or claim_id = last_claim_id),
  check ((status in ('PROCESSED', 'FAILED', 'CANCELED')) = (finished_at is not null)),
  check (status <> 'FAILED' or error is not null),
  check (status = 'QUEUED' or not_before is null),
  check (status in ('QUEUED', 'PROCESSING') or excluded_until is null)
) strict;

-- What may run now, lane by lane in its order: the first of each is one step away, however many
-- wait.
create index jobs_runnable on jobs (service_type, model, lane, fair_key, id)
  where status = 'QUEUED' and not_before is null;
-- In the order of the queue, whatever the lane: for the position of a job.
create index jobs_order on jobs (service_type, model, fair_key, id, member_id)
  where status = 'QUEUED' and not_before is null;
-- The oldest that waits, by member and model.
create index jobs_waiting on jobs (service_type, model, member_id, queued_at)
  where status = 'QUEUED';
create index jobs_not_before on jobs (not_before)
  where status = 'QUEUED' and not_before is not null;
create index jobs_excluded on jobs (excluded_until)
  where status = 'QUEUED' and excluded_until is not null;
-- The few that something holds back, or keeps from a provider.
create index jobs_held on jobs (id) where status = 'QUEUED'
  and (not_before is not null or excluded_until is not null or avoided <> '[]');
create index jobs_lease on jobs (lease_until) where status = 'PROCESSING';
create index jobs_provider on jobs (provider_id) where status = 'PROCESSING';
-- A member's own lists and an administrator's, a page at a time, and the retention.
create index jobs_member on jobs (member_id, id desc);
create index jobs_member_status on jobs (member_id, status, id desc);
create index jobs_status on jobs (status, id desc);
-- With the status in it, a page of batches is counted from the index alone.
create index jobs_batch on jobs (batch_id, batch_index, status) where batch_id is not null;
create index jobs_finished on jobs (finished_at) where finished_at is not null;

-- Erased as soon as the job is PROCESSED: until then it may have to be sent again.
create table job_bodies (
  job_id text primary key references jobs (id) on delete cascade,
  body blob not null
) strict;

create table job_results (
  job_id text primary key references jobs (id) on delete cascade,
  result text not null check (json_valid(result))
) strict;

create table job_assets (
  job_id text not null references jobs (id) on delete cascade,
  position integer not null check (position >= 0),
  asset_id text not null references assets (id) on delete cascade,
  primary key (job_id, position)
) strict, without rowid;

create index job_assets_asset on job_assets (asset_id);

-- What was submitted under which key, for as long as the job or batch is kept.
create table idempotency_keys (
  member_id text not null,
  kind text not null check (kind in ('job', 'batch')),
  key text not null check (length(key) between 1 and 255),
  job_id text references jobs (id) on delete cascade,
  batch_id text references batches (id) on delete cascade,
  primary key (member_id, kind, key),
  check ((kind = 'job') = (job_id is not null)),
  check ((kind = 'batch') = (batch_id is not null))
) strict, without rowid;

create index idempotency_keys_job on idempotency_keys (job_id) where job_id is not null;
create index idempotency_keys_batch on idempotency_keys (batch_id) where batch_id is not null;

-- How many jobs wait or run, and how long the waiting bodies are: counted row by row, a full queue
-- would cost every submission milliseconds. Kept by triggers, in the transaction of the row.
create table queue_counts (
  member_id text not null,
  service_type text not null,
  model text not null,
  queued integer not null check (queued >= 0),
  processing integer not null check (processing >= 0),
  bytes integer not null check (bytes >= 0),
  primary key (member_id, service_type, model)
) strict, without rowid;

-- For the length of one model's queue, whoever waits in it.
create index queue_counts_model on queue_counts (service_type, model);

create trigger job_enters_queue after insert on jobs begin
  insert into queue_counts values (
    new.member_id, new.service_type, new.model,
    new.status = 'QUEUED', new.status = 'PROCESSING', new.body_bytes)
  on conflict do update set
    queued = queued + excluded.queued,
    processing = processing + excluded.processing,
    bytes = bytes + excluded.bytes;
end;

create trigger job_moves after update of status on jobs when old.status <> new.status begin
  insert or ignore into queue_counts
    values (new.member_id, new.service_type, new.model, 0, 0, 0);
  update queue_counts set
    queued = queued + (new.status = 'QUEUED') - (old.status = 'QUEUED'),
    processing = processing + (new.status = 'PROCESSING') - (old.status = 'PROCESSING'),
    bytes = bytes
      + iif(new.status in ('QUEUED', 'PROCESSING'), new.body_bytes, 0)
      - iif(old.status in ('QUEUED', 'PROCESSING'), old.body_bytes, 0)
  where member_id = new.member_id and service_type = new.service_type and model = new.model;
  delete from queue_counts
  where member_id = new.member_id and service_type = new.service_type and model = new.model
    and queued = 0 and processing = 0;
  -- Who has nothing left in the line begins anew: jobs that were canceled, or that nobody could
  -- run, are not held against those that come after them.
  delete from fair_callers
  where service_type = new.service_type and model = new.model and member_id = new.member_id
    and new.status <> 'QUEUED' and not exists (
      select 1 from queue_counts
      where member_id = new.member_id and service_type = new.service_type and model = new.model
        and queued > 0);
end;

create trigger job_goes before delete on jobs
  when old.status in ('QUEUED', 'PROCESSING') begin
  select raise(abort, 'a job that has not ended is not deleted');
end;

-- Weighted fair queueing (self-clocked): a new job of a caller comes one step after the caller's
-- last one for this model, or after what is being served now, whichever is later.
create table fair_clocks (
  service_type text not null,
  model text not null,
  -- The key of the job that was claimed last.
  virtual_time real not null,
  primary key (service_type, model)
) strict, without rowid;

create table fair_callers (
  service_type text not null,
  model text not null,
  member_id text not null,
  last_key real not null,
  primary key (service_type, model, member_id)
) strict, without rowid;

-- Who wants to be told when a job or a batch has ended. `webhooks` is the wish,
-- `webhook_deliveries` one message on its way; a retried job ends again, and is told of again.
create table webhooks (
  subject_id text primary key,
  subject text not null check (subject in ('job', 'batch')),
  url text not null,
  secret text not null
) strict, without rowid;

create table webhook_deliveries (
  id text primary key,
  subject_id text not null references webhooks (subject_id) on delete cascade,
  -- Whose it is: nobody's backlog may hide what others have to be told.
  member_id text not null,
  created_at integer not null,
  next_at integer not null,
  attempts integer not null default 0
) strict;

-- When the next one is due, and the longest due of each member.
create index webhook_deliveries_due on webhook_deliveries (next_at);
create index webhook_deliveries_member on webhook_deliveries (member_id, next_at);
create index webhook_deliveries_subject on webhook_deliveries (subject_id);

-- What an administrator has switched, and must hold after a restart.
create table switches (
  name text primary key check (name in ('queue_paused')),
  is_on integer not null check (is_on in (0, 1))
) strict, without rowid;
