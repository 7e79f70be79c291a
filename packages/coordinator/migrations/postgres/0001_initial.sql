-- The tables of `migrations/sqlite`, up to 0019, for PostgreSQL 15 and later: the same names, columns
-- and checks, so that operations are written once (`src/store/operations`). The reasons for columns
-- stand there. Differences:
--
-- - Texts are compared by their bytes, whatever the collation of the database. Of names and
--   addresses, upper and lower case are equal: with SQLite of A to Z, here of all letters that the
--   database's own collation knows.
-- - `rowid` is the order of insertion, which SQLite has by itself.
-- - What triggers of SQLite count (jobs of a queue, bytes of assets) is a view here: one row that
--   every job changes would be the limit of all coordinators together.

create extension if not exists citext;

create domain plain_text as text collate "C";
create domain folded_text as citext collate "C";
create domain json_text as text collate "C" check (value is null or value::json is not null);
create domain day_text as text collate "C" check (value ~ '^\d{4}-\d{2}-\d{2}$');

-- Functions that SQLite has, as far as operations use them.
create function json_each(list text) returns table (value plain_text)
  language sql immutable strict
  return json_array_elements_text(list::json);

create function instr(whole text, part text) returns integer
  language sql immutable strict
  return strpos(whole, part);

create table members (
  id plain_text primary key check (length(id) = 26),
  -- Letters of either case are one name: 'Anna' must not be able to pass for 'anna'.
  email folded_text not null unique check (email like '%_@_%' and length(email) <= 254),
  -- References are read as id, address or name, and OWNER/NAME: neither '@' nor '/' may be in a
  -- name.
  name folded_text not null unique
    check (length(name) between 1 and 64 and strpos(name, '@') = 0 and strpos(name, '/') = 0),
  role plain_text not null check (role in ('member', 'admin')),
  -- scrypt; null for a member who cannot log in to the dashboard yet.
  password_hash plain_text check (password_hash is null or password_hash like '$scrypt$%'),
  created_at bigint not null check (created_at > 0),
  rate_limit_requests bigint check (rate_limit_requests between 1 and 1000000),
  max_concurrent bigint check (max_concurrent between 1 and 100000),
  disabled_at bigint,
  quota json_text
);

create table api_keys (
  id plain_text primary key check (length(id) = 26),
  member_id plain_text not null references members (id),
  name folded_text not null check (length(name) between 1 and 64),
  prefix plain_text not null check (prefix like 'gwk\_%' escape '\'),
  -- SHA-256 of the secret; the secret itself is nowhere. Unique, and so the index of the one hot
  -- look-up.
  hash plain_text not null unique check (length(hash) = 64),
  scope plain_text not null check (scope in ('own', 'any')),
  created_at bigint not null check (created_at > 0),
  last_used_at bigint,
  expires_at bigint,
  disabled_at bigint,
  revoked_at bigint,
  previous_hash plain_text check (previous_hash is null or length(previous_hash) = 64),
  previous_until bigint check ((previous_until is null) = (previous_hash is null)),
  assets plain_text check (assets in ('private', 'link')),
  rules json_text
);

create unique index api_keys_name on api_keys (member_id, name) where revoked_at is null;

create table providers (
  id plain_text primary key check (length(id) = 26),
  owner_id plain_text not null references members (id),
  name folded_text not null
    check (length(name) between 1 and 64 and strpos(name, '@') = 0 and strpos(name, '/') = 0),
  token_hash plain_text not null unique check (length(token_hash) = 64),
  created_at bigint not null check (created_at > 0),
  last_seen_at bigint,
  draining smallint not null default 0 check (draining in (0, 1)),
  approved_at bigint,
  paused smallint not null default 0 check (paused in (0, 1)),
  unique (owner_id, name)
);

create table provider_snapshots (
  provider_id plain_text primary key references providers (id) on delete cascade,
  services json_text not null,
  host json_text
);

create table usage (
  rowid bigint generated always as identity unique,
  request_id plain_text primary key,
  at bigint not null check (at > 0),
  member_id plain_text not null,
  key_id plain_text not null,
  provider_id plain_text,
  model plain_text not null,
  service_type plain_text not null,
  endpoint plain_text not null,
  prompt_tokens bigint not null check (prompt_tokens >= 0),
  completion_tokens bigint not null check (completion_tokens >= 0),
  queue_ms bigint not null check (queue_ms >= 0),
  first_byte_ms bigint check (first_byte_ms >= 0),
  total_ms bigint not null check (total_ms >= 0),
  attempts bigint not null check (attempts >= 0),
  outcome plain_text not null check (outcome in ('ok', 'failed', 'canceled')),
  error_code plain_text,
  source plain_text not null check (source in ('api', 'console')),
  audio_ms bigint not null default 0 check (audio_ms >= 0),
  images bigint not null default 0 check (images >= 0),
  estimated smallint not null default 0 check (estimated in (0, 1))
);

create table write_probe (
  id bigint primary key check (id = 1),
  writes bigint not null
);

create table assets (
  -- Random and not a ULID: an id must not tell when another one was made.
  id plain_text primary key check (length(id) = 22),
  member_id plain_text not null references members (id),
  -- No foreign key: history outlives the provider.
  provider_id plain_text,
  request_id plain_text not null,
  model plain_text not null,
  endpoint plain_text not null,
  content_type plain_text not null,
  bytes bigint not null check (bytes >= 0),
  sha256 plain_text not null check (length(sha256) = 64),
  seconds double precision check (seconds >= 0),
  created_at bigint not null check (created_at > 0),
  expires_at bigint not null,
  key_id plain_text
);

create index assets_member on assets (member_id, created_at desc, id desc);
create index assets_age on assets (created_at desc, id desc);
create index assets_expiry on assets (expires_at, id);

create table usage_daily (
  day day_text not null,
  member_id plain_text not null,
  key_id plain_text not null,
  -- Empty for calls that no provider took: null would not be equal to itself in a key.
  provider_id plain_text not null,
  model plain_text not null,
  endpoint plain_text not null,
  source plain_text not null check (source in ('api', 'console')),
  outcome plain_text not null check (outcome in ('ok', 'failed', 'canceled')),
  requests bigint not null check (requests > 0),
  prompt_tokens bigint not null check (prompt_tokens >= 0),
  completion_tokens bigint not null check (completion_tokens >= 0),
  audio_ms bigint not null check (audio_ms >= 0),
  images bigint not null check (images >= 0),
  total_ms bigint not null check (total_ms >= 0),
  primary key (day, member_id, key_id, provider_id, model, endpoint, source, outcome)
);

create table batches (
  id plain_text primary key check (length(id) = 26),
  member_id plain_text not null references members (id),
  label plain_text check (length(label) <= 256),
  created_at bigint not null check (created_at > 0),
  key_id plain_text
);

create index batches_member on batches (member_id, id desc);

create table jobs (
  id plain_text primary key check (length(id) = 26),
  member_id plain_text not null references members (id),
  -- No foreign key: keys and providers go, and what was done with them stays.
  key_id plain_text not null,
  request_id plain_text not null,
  batch_id plain_text references batches (id),
  batch_index bigint check (batch_index >= 0),
  endpoint plain_text not null,
  service_type plain_text not null,
  model plain_text not null,
  scope plain_text not null check (scope in ('own', 'any')),
  needs json_text not null,
  -- Of its request.
  body_bytes bigint not null check (body_bytes >= 0),
  status plain_text not null
    check (status in ('QUEUED', 'PROCESSING', 'PROCESSED', 'FAILED', 'CANCELED')),
  created_at bigint not null check (created_at > 0),
  queued_at bigint not null,
  started_at bigint,
  finished_at bigint,
  attempt bigint not null default 0 check (attempt >= 0),
  -- Whether `attempt` counts the last claim: one that was given back does not count, unless its
  -- result comes after all.
  attempt_counted smallint not null default 0 check (attempt_counted in (0, 1)),
  max_attempts bigint not null check (max_attempts > 0),
  releases bigint not null default 0 check (releases >= 0),
  generation bigint not null default 1 check (generation > 0),
  -- Where it stands in the queue. All jobs of a lane can run on the same providers.
  lane plain_text not null,
  fair_key double precision not null,
  -- Providers that gave it back, and until when they are not asked; those that failed it.
  excluded json_text not null default '[]',
  excluded_until bigint,
  avoided json_text not null default '[]',
  not_before bigint,
  -- Who has it. The last claim stays, so that a late result is known for what it is.
  -- It is found by the last one, which is the current one too: a second index would cost every
  -- claim and every end.
  claim_id plain_text,
  last_claim_id plain_text unique,
  provider_id plain_text,
  session_id plain_text,
  service_id plain_text,
  accepted_at bigint,
  lease_until bigint,
  run_deadline bigint,
  error json_text,
  failed_attempts plain_text not null default '[]',
  api plain_text,
  share_id plain_text,
  alias plain_text,
  served_model plain_text,
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
);

create index jobs_runnable on jobs (service_type, model, lane, fair_key, id)
  where status = 'QUEUED' and not_before is null;
create index jobs_order on jobs (service_type, model, fair_key, id, member_id)
  where status = 'QUEUED' and not_before is null;
create index jobs_waiting on jobs (service_type, model, member_id, queued_at)
  where status = 'QUEUED';
create index jobs_not_before on jobs (not_before)
  where status = 'QUEUED' and not_before is not null;
create index jobs_excluded on jobs (excluded_until)
  where status = 'QUEUED' and excluded_until is not null;
create index jobs_held on jobs (id) where status = 'QUEUED'
  and (not_before is not null or excluded_until is not null or avoided <> '[]');
create index jobs_lease on jobs (lease_until) where status = 'PROCESSING';
create index jobs_provider on jobs (provider_id) where status = 'PROCESSING';
create index jobs_status on jobs (status, id desc);
create index jobs_batch on jobs (batch_id, batch_index, status) where batch_id is not null;
create index jobs_finished on jobs (finished_at) where finished_at is not null;

create table job_bodies (
  job_id plain_text primary key references jobs (id) on delete cascade,
  body bytea not null,
  context json_text
);

create table job_results (
  job_id plain_text primary key references jobs (id) on delete cascade,
  result json_text not null
);

create table job_assets (
  job_id plain_text not null references jobs (id) on delete cascade,
  position bigint not null check (position >= 0),
  asset_id plain_text not null references assets (id) on delete cascade,
  primary key (job_id, position)
);

create index job_assets_asset on job_assets (asset_id);

create table idempotency_keys (
  member_id plain_text not null,
  kind plain_text not null check (kind in ('job', 'batch')),
  key plain_text not null check (length(key) between 1 and 255),
  job_id plain_text references jobs (id) on delete cascade,
  batch_id plain_text references batches (id) on delete cascade,
  primary key (member_id, kind, key),
  check ((kind = 'job') = (job_id is not null)),
  check ((kind = 'batch') = (batch_id is not null))
);

create index idempotency_keys_job on idempotency_keys (job_id) where job_id is not null;
create index idempotency_keys_batch on idempotency_keys (batch_id) where batch_id is not null;

create table fair_clocks (
  service_type plain_text not null,
  model plain_text not null,
  -- The key of the job that was claimed last.
  virtual_time double precision not null,
  primary key (service_type, model)
);

create table fair_callers (
  service_type plain_text not null,
  model plain_text not null,
  member_id plain_text not null,
  last_key double precision not null,
  primary key (service_type, model, member_id)
);

create table webhooks (
  subject_id plain_text primary key,
  subject plain_text not null check (subject in ('job', 'batch')),
  url plain_text not null,
  secret plain_text not null
);

create table webhook_deliveries (
  rowid bigint generated always as identity unique,
  id plain_text primary key,
  subject_id plain_text not null references webhooks (subject_id) on delete cascade,
  -- Whose it is: nobody's backlog may hide what others have to be told.
  member_id plain_text not null,
  created_at bigint not null,
  next_at bigint not null,
  attempts bigint not null default 0
);

create index webhook_deliveries_due on webhook_deliveries (next_at);
create index webhook_deliveries_member on webhook_deliveries (member_id, next_at);
create index webhook_deliveries_subject on webhook_deliveries (subject_id);

create table switches (
  name plain_text primary key check (name in ('queue_paused')),
  is_on smallint not null check (is_on in (0, 1))
);

create unique index api_keys_previous on api_keys (previous_hash)
  where previous_hash is not null;

create table join_tokens (
  id plain_text primary key check (length(id) = 26),
  hash plain_text not null unique check (length(hash) = 64),
  owner_id plain_text not null references members (id),
  name folded_text,
  -- The provider whose machine enrols again: it keeps its id, its name and its shares.
  replaces plain_text references providers (id) on delete cascade,
  created_at bigint not null check (created_at > 0),
  expires_at bigint not null,
  used_at bigint,
  revoked_at bigint,
  -- Spent means that it became a provider: neither without the other.
  provider_id plain_text references providers (id) on delete set null,
  check (used_at is not null or provider_id is null),
  check (used_at is null or revoked_at is null)
);

create table networks (
  id plain_text primary key check (length(id) = 26),
  name folded_text not null unique
    check (length(name) between 1 and 64 and strpos(name, '@') = 0 and strpos(name, '/') = 0),
  owner_id plain_text not null references members (id),
  created_at bigint not null check (created_at > 0)
);

create table network_members (
  network_id plain_text not null references networks (id) on delete cascade,
  member_id plain_text not null references members (id),
  joined_at bigint not null check (joined_at > 0),
  primary key (network_id, member_id)
);

create index network_members_member on network_members (member_id);

create table shares (
  rowid bigint generated always as identity unique,
  id plain_text primary key check (length(id) = 26),
  provider_id plain_text not null references providers (id) on delete cascade,
  -- One service, one model, or neither: all that the provider serves.
  service_id plain_text check (service_id is null or length(service_id) between 1 and 256),
  model plain_text check (model is null or length(model) between 1 and 256),
  -- With whom: a network or a member.
  network_id plain_text references networks (id) on delete cascade,
  member_id plain_text references members (id),
  -- What they may take at most; null is no limit of its own.
  max_slots bigint check (max_slots between 1 and 1024),
  max_tokens bigint check (max_tokens between 1 and 1000000),
  -- Minutes of the day in the zone; from the later to the earlier goes over midnight.
  hours_from bigint check (hours_from between 0 and 1439),
  hours_until bigint check (hours_until between 0 and 1439),
  hours_zone plain_text,
  created_at bigint not null check (created_at > 0),
  quota json_text,
  check (service_id is null or model is null),
  check ((network_id is null) <> (member_id is null)),
  check ((hours_from is null) = (hours_until is null)),
  check ((hours_from is null) = (hours_zone is null)),
  check (hours_from is null or hours_from <> hours_until)
);

create unique index shares_once on shares (
  provider_id, coalesce(service_id, ''), coalesce(model, ''),
  coalesce(network_id, ''), coalesce(member_id, ''));
create index shares_network on shares (network_id) where network_id is not null;
create index shares_member on shares (member_id) where member_id is not null;

create table blocks (
  owner_id plain_text not null references members (id),
  member_id plain_text not null references members (id),
  created_at bigint not null check (created_at > 0),
  primary key (owner_id, member_id),
  check (owner_id <> member_id)
);

create table invites (
  rowid bigint generated always as identity unique,
  id plain_text primary key check (length(id) = 26),
  hash plain_text not null unique check (length(hash) = 64),
  email folded_text not null check (email like '%_@_%' and length(email) <= 254),
  role plain_text not null check (role in ('member', 'admin')),
  network_id plain_text references networks (id) on delete set null,
  created_at bigint not null check (created_at > 0),
  expires_at bigint not null,
  used_at bigint,
  revoked_at bigint,
  member_id plain_text references members (id),
  invited_by plain_text references members (id) on delete cascade,
  check ((used_at is null) = (member_id is null)),
  check (used_at is null or revoked_at is null)
);

create table member_sessions (
  rowid bigint generated always as identity unique,
  id plain_text primary key check (length(id) = 26),
  hash plain_text not null unique check (length(hash) = 64),
  member_id plain_text not null references members (id),
  address plain_text not null,
  user_agent plain_text not null check (length(user_agent) <= 256),
  created_at bigint not null check (created_at > 0),
  last_used_at bigint not null,
  expires_at bigint not null
);

create index member_sessions_member on member_sessions (member_id);
create index member_sessions_expiry on member_sessions (expires_at);

create table audit_log (
  rowid bigint generated always as identity unique,
  id plain_text primary key check (length(id) = 26),
  at bigint not null check (at > 0),
  -- `cli:<user of the machine>`, `member:<id>`, `agent`, `invite` or `system`.
  actor plain_text not null,
  -- `key.create`: the command's noun and verb.
  action plain_text not null,
  subject_kind plain_text not null,
  subject_id plain_text not null,
  -- As it was called then.
  subject_name plain_text not null,
  -- What differs; null where there was, or is, nothing. Never a secret.
  before json_text,
  after json_text
);

create index audit_log_subject on audit_log (subject_id, id desc);
create index usage_member on usage (member_id, at, outcome);
create index usage_provider_failed on usage (provider_id, at)
  where outcome = 'failed' and provider_id is not null;
create index usage_daily_provider on usage_daily (provider_id, day) where provider_id <> '';

create table network_invitations (
  network_id plain_text not null references networks (id) on delete cascade,
  member_id plain_text not null references members (id),
  invited_by plain_text not null references members (id),
  created_at bigint not null check (created_at > 0),
  primary key (network_id, member_id)
);

create index network_invitations_member on network_invitations (member_id);
create index jobs_member on jobs (member_id, id desc, endpoint, model);
create index jobs_member_status on jobs (member_id, status, id desc, endpoint, model);

create table device_logins (
  rowid bigint generated always as identity unique,
  id plain_text primary key check (length(id) = 26),
  device_hash plain_text not null unique check (length(device_hash) = 64),
  -- As people read it: `BCDF-GHJK`.
  user_code plain_text not null check (length(user_code) = 9),
  -- What the provider is to be called; null leaves it to the coordinator.
  name folded_text,
  -- The machine as it calls itself, and where it asked from: for whoever decides.
  host plain_text check (length(host) <= 64),
  address plain_text not null,
  created_at bigint not null check (created_at > 0),
  expires_at bigint not null,
  wrong_tries bigint not null default 0 check (wrong_tries >= 0),
  state plain_text not null default 'pending'
    check (state in ('pending', 'approved', 'denied', 'done')),
  owner_id plain_text references members (id),
  -- Whether the provider is approved with it, whatever the policy.
  approves_provider smallint not null default 0 check (approves_provider in (0, 1)),
  provider_id plain_text references providers (id) on delete set null,
  check ((owner_id is not null) = (state in ('approved', 'done'))),
  check (state = 'done' or provider_id is null)
);

create unique index device_logins_code on device_logins (user_code) where state = 'pending';
create index device_logins_expiry on device_logins (expires_at);

create table device_guesses (
  -- `user:<id>`, `address:<address>`, of IPv6 its first half, or `actor:<actor of the audit log>`.
  guesser plain_text primary key,
  wrong_tries bigint not null check (wrong_tries > 0),
  last_at bigint not null
);

create table audit_upkeep (
  id bigint primary key check (id = 1),
  is_open smallint not null check (is_open in (0, 1))
);

create index invites_by_inviter on invites (invited_by);

create table nodes (
  id plain_text primary key,
  -- Counts its starts.
  epoch bigint not null,
  seen_at bigint not null
);

create table provider_links (
  provider_id plain_text primary key references providers (id) on delete cascade,
  -- Counts the provider's links: the highest is the newest.
  epoch bigint not null,
  node_id plain_text not null,
  link_id plain_text not null,
  linked_at bigint not null,
  -- Null while the link is open.
  ended_at bigint
);

create index provider_links_by_node on provider_links (node_id);

create table served_models (
  provider_id plain_text not null references providers (id) on delete cascade,
  service_type plain_text not null,
  model plain_text not null,
  service_id plain_text not null,
  -- 0: the service takes its owner's work alone.
  takes_foreign smallint not null check (takes_foreign in (0, 1)),
  advertised json_text not null,
  -- When the provider's list left it out; null: it is in the last list.
  left_at bigint,
  primary key (provider_id, service_type, model, service_id)
);

create index served_models_by_model on served_models (service_type, model);

create table epochs (
  name plain_text primary key check (name in ('keys', 'sharing')),
  value bigint not null
);

create table share_usage (
  share_id plain_text not null,
  day day_text not null,
  requests bigint not null check (requests > 0),
  tokens bigint not null check (tokens >= 0),
  images bigint not null check (images >= 0),
  audio_ms bigint not null check (audio_ms >= 0),
  primary key (share_id, day)
);

create table files (
  asset_id plain_text primary key references assets (id) on delete cascade,
  purpose plain_text not null check (purpose in ('batch', 'batch_output')),
  filename plain_text not null,
  -- The path of the API that all its lines are for.
  path plain_text not null,
  lines bigint not null check (lines >= 0)
);

create table file_batches (
  batch_id plain_text primary key references batches (id) on delete cascade,
  input_file_id plain_text not null,
  path plain_text not null,
  scope plain_text not null,
  request_id plain_text not null,
  metadata json_text,
  window_ms bigint not null check (window_ms > 0),
  -- From the creation of its output files to their expiry; null is the configured retention.
  output_lifetime_ms bigint check (output_lifetime_ms > 0),
  lines bigint not null check (lines > 0),
  -- Lines that were read, and the place in the file where the next one begins.
  fed_lines bigint not null default 0 check (fed_lines between 0 and lines),
  fed_bytes bigint not null default 0 check (fed_bytes >= 0),
  -- How often its jobs were retried by their caller.
  retries bigint not null default 0,
  expires_at bigint not null,
  finalizing_at bigint,
  cancelling_at bigint,
  expired_at bigint,
  ended_at bigint,
  -- Counts of the ended batch; until then its jobs are counted.
  completed bigint not null default 0 check (completed >= 0),
  failed bigint not null default 0 check (failed >= 0),
  output_file_id plain_text,
  error_file_id plain_text,
  -- JSON: why it cannot go on, or could not.
  fault json_text
);

create index file_batches_open on file_batches (batch_id) where ended_at is null;
create index file_batches_ended on file_batches (ended_at) where ended_at is not null;
create index file_batches_input on file_batches (input_file_id) where ended_at is null;

create table batch_lines (
  batch_id plain_text not null references batches (id) on delete cascade,
  line bigint not null check (line > 0),
  custom_id plain_text not null,
  job_id plain_text,
  error json_text,
  primary key (batch_id, line),
  check ((job_id is null) <> (error is null))
);

create index batch_lines_refused on batch_lines (batch_id) where job_id is null;
create index jobs_batch_open on jobs (batch_id)
  where batch_id is not null and status in ('QUEUED', 'PROCESSING');

create table aliases (
  id plain_text primary key check (length(id) = 26),
  member_id plain_text references members (id),
  name plain_text not null check (length(name) between 1 and 128),
  -- JSON: the ids of the models, the first choice first.
  models json_text not null check (json_array_length(models::json) between 1 and 8),
  created_at bigint not null check (created_at > 0),
  updated_at bigint not null check (updated_at >= created_at)
);

create unique index aliases_name on aliases (coalesce(member_id, ''), name);

-- The jobs of each member's queues. SQLite keeps this as a table.
create view queue_counts as
  select member_id, service_type, model,
    count(*) filter (where status = 'QUEUED') as queued,
    count(*) filter (where status = 'PROCESSING') as processing,
    sum(body_bytes) as bytes
  from jobs where status in ('QUEUED', 'PROCESSING')
  group by member_id, service_type, model;

create index jobs_unfinished on jobs (member_id, service_type, model) include (body_bytes)
  where status in ('QUEUED', 'PROCESSING');

-- The bytes of each member's assets, and under '' of all. SQLite keeps this as a table.
create view asset_space as
  select member_id, sum(bytes) as bytes from assets group by member_id
  union all select '', coalesce(sum(bytes), 0) from assets;

create index assets_space on assets (member_id) include (bytes);

-- Changes of what coordinators keep in memory: see migrations/sqlite/0013_epochs.sql.
create function count_change() returns trigger language plpgsql as $$
begin
  update epochs set value = value + 1 where name = tg_argv[0];
  return null;
end $$;

create trigger api_keys_changed after update of
  member_id, name, prefix, hash, scope, assets, created_at, expires_at, previous_hash,
  previous_until, disabled_at, revoked_at, rules on api_keys
  for each row execute function count_change('keys');
create trigger api_keys_deleted after delete on api_keys
  for each row execute function count_change('keys');
create trigger members_of_keys_changed after update of
  email, name, rate_limit_requests, max_concurrent, disabled_at, quota on members
  for each row execute function count_change('keys');
create trigger members_of_sharing_changed after update of name, disabled_at on members
  for each row execute function count_change('sharing');
create trigger members_deleted after delete on members
  for each row execute function count_change('sharing');
create trigger providers_changed after insert or delete or update of
  owner_id, name, approved_at, draining, paused on providers
  for each row execute function count_change('sharing');
create trigger network_members_changed after insert or delete on network_members
  for each row execute function count_change('sharing');
create trigger shares_changed after insert or delete or update on shares
  for each row execute function count_change('sharing');
create trigger blocks_changed after insert or delete on blocks
  for each row execute function count_change('sharing');
create trigger aliases_changed after insert or delete or update on aliases
  for each row execute function count_change('sharing');

create function forget_share() returns trigger language plpgsql as $$
begin
  delete from share_usage where share_id = old.id;
  return null;
end $$;

create trigger shares_forgotten after delete on shares
  for each row execute function forget_share();

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '%', tg_argv[0] using errcode = 'integrity_constraint_violation';
end $$;

create trigger asset_stays before update on assets
  for each row execute function refuse_change('an asset does not change');
create trigger job_goes before delete on jobs
  for each row when (old.status in ('QUEUED', 'PROCESSING'))
  execute function refuse_change('a job that has not ended is not deleted');

-- Outside of operations that erase a member or end a retention, and open the log for it.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if (select is_open from audit_upkeep) = 0 then
    raise exception 'the audit log is append-only' using errcode = 'integrity_constraint_violation';
  end if;
  return coalesce(new, old);
end $$;

create trigger audit_log_is_append_only before update or delete on audit_log
  for each row execute function refuse_audit_change();

-- A caller without queued jobs begins anew in the fair order of a model.
create function job_moves() returns trigger language plpgsql as $$
begin
  delete from fair_callers
  where service_type = new.service_type and model = new.model and member_id = new.member_id
    and not exists (
      select 1 from jobs
      where member_id = new.member_id and service_type = new.service_type and model = new.model
        and status = 'QUEUED');
  return null;
end $$;

create trigger job_moves after update of status on jobs
  for each row when (old.status <> new.status and new.status <> 'QUEUED')
  execute function job_moves();

create function file_batch_is_retried() returns trigger language plpgsql as $$
begin
  update file_batches set retries = retries + 1 where batch_id = new.batch_id;
  return null;
end $$;

create trigger file_batch_is_retried after update of generation on jobs
  for each row when (new.batch_id is not null and new.generation <> old.generation)
  execute function file_batch_is_retried();

insert into write_probe (id, writes) values (1, 0);
insert into audit_upkeep (id, is_open) values (1, 0);
insert into epochs (name, value) values ('keys', 1), ('sharing', 1);
