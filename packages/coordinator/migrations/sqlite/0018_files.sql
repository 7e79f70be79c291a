-- Files of the API, and batches whose requests are the lines of such a file.

-- What an asset has besides as a file of the API. An asset without it was made by a model.
create table files (
  asset_id text primary key references assets (id) on delete cascade,
  purpose text not null check (purpose in ('batch', 'batch_output')),
  filename text not null,
  -- The path of the API that all its lines are for.
  path text not null,
  lines integer not null check (lines >= 0)
) strict, without rowid;

-- What a batch has besides if its requests come from a file.
create table file_batches (
  batch_id text primary key references batches (id) on delete cascade,
  input_file_id text not null,
  path text not null,
  scope text not null,
  request_id text not null,
  metadata text check (metadata is null or json_valid(metadata)),
  window_ms integer not null check (window_ms > 0),
  -- From the creation of its output files to their expiry; null is the configured retention.
  output_lifetime_ms integer check (output_lifetime_ms > 0),
  lines integer not null check (lines > 0),
  -- Lines that were read, and the place in the file where the next one begins.
  fed_lines integer not null default 0 check (fed_lines between 0 and lines),
  fed_bytes integer not null default 0 check (fed_bytes >= 0),
  -- How often its jobs were retried by their caller.
  retries integer not null default 0,
  expires_at integer not null,
  finalizing_at integer,
  cancelling_at integer,
  expired_at integer,
  ended_at integer,
  -- Counts of the ended batch; until then its jobs are counted.
  completed integer not null default 0 check (completed >= 0),
  failed integer not null default 0 check (failed >= 0),
  output_file_id text,
  error_file_id text,
  -- JSON: why it cannot go on, or could not.
  fault text check (fault is null or json_valid(fault))
) strict, without rowid;

create index file_batches_open on file_batches (batch_id) where ended_at is null;
create index file_batches_ended on file_batches (ended_at) where ended_at is not null;
create index file_batches_input on file_batches (input_file_id) where ended_at is null;

-- The lines that were read. A line that became no job has an error.
create table batch_lines (
  batch_id text not null references batches (id) on delete cascade,
  line integer not null check (line > 0),
  custom_id text not null,
  job_id text,
  error text check (error is null or json_valid(error)),
  primary key (batch_id, line),
  check ((job_id is null) <> (error is null))
) strict, without rowid;

create index batch_lines_refused on batch_lines (batch_id) where job_id is null;

create trigger file_batch_is_retried after update of generation on jobs
  when new.batch_id is not null and new.generation <> old.generation begin
  update file_batches set retries = retries + 1 where batch_id = new.batch_id;
end;

create index jobs_batch_open on jobs (batch_id)
  where batch_id is not null and status in ('QUEUED', 'PROCESSING');
