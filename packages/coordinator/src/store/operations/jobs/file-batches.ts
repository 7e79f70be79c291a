/** Batches whose requests are the lines of a file. */
import { ulid } from '@inference-gateway/shared/ids';
import type { JobError, JobStatus } from '../../../core/jobs/job.js';
import { MAX_OPEN_FILE_BATCHES } from '../../../core/jobs/file-batch.js';
import type { EndedLine, OpenFileBatch } from '../../port.js';
import { lockAssets } from '../assets/assets.js';
import { writeFiles } from '../assets/files.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import { cancelOpenJobs, writtenBatch } from './batches.js';
import { FILE_COLUMNS, toBatchFile } from './file-batch-rows.js';
import type { FileColumns } from './file-batch-rows.js';
import { forUpdate } from './job-rows.js';
import { fullBy, lockSubmissions, queuedBy, replayed } from './submissions.js';
import { writeJobs, writeSubject } from './submissions.js';
import type { SubmittedJob } from './submissions.js';

type FileBatchOperations = Pick<
  Operations,
  | 'createFileBatch'
  | 'openFileBatches'
  | 'feedFileBatch'
  | 'expireFileBatch'
  | 'finalizeFileBatch'
  | 'fileBatchRetries'
  | 'endedLines'
  | 'jobResults'
  | 'faultFileBatch'
  | 'endFileBatch'
  | 'clearFileBatch'
>;

const OPEN_JOBS = `select 1 from jobs
  where batch_id = @id and status in ('QUEUED', 'PROCESSING')`;

const expire = statement<{ id: string; now: number }>(
  `update file_batches set expired_at = @now, finalizing_at = coalesce(finalizing_at, @now)
   where batch_id = @id and ended_at is null and expired_at is null and cancelling_at is null`,
);
const finalize = statement<{ id: string; now: number }>(
  `update file_batches set finalizing_at = @now
   where batch_id = @id and ended_at is null and finalizing_at is null and fed_lines = lines
     and not exists (${OPEN_JOBS})`,
);
/** In order of the ids, which `json_each` tells on SQLite only. */
const results = valueOf<{ ids: string }, string | null>({
  sqlite: `select result from json_each(@ids) as asked
       left join job_results on job_id = asked.value order by asked.key`,
  postgres: `select result
     from json_array_elements_text(cast(cast(@ids as text) as json))
       with ordinality as asked (value, position)
       left join job_results on job_id = asked.value order by asked.position`,
});
const fault = statement<{ id: string; fault: string }>(
  'update file_batches set fault = @fault where batch_id = @id and ended_at is null',
);
const retriesOf = valueOf<{ id: string }, number>(
  'select retries from file_batches where batch_id = @id',
);

export const fileBatchOperations: FileBatchOperations = {
  createFileBatch,
  openFileBatches: readOpenBatches,
  feedFileBatch,

  *expireFileBatch(id, now) {
    yield* expire.run({ id, now });
    return yield* cancelOpenJobs(id, now);
  },

  *finalizeFileBatch(id, now) {
    yield* finalize.run({ id, now });
  },

  *fileBatchRetries(id) {
    return (yield* retriesOf.get({ id })) ?? 0;
  },

  endedLines: readEndedLines,
  jobResults: (ids) => results.all({ ids: JSON.stringify(ids) }),

  *faultFileBatch(id, error) {
    yield* fault.run({ id, fault: JSON.stringify(error) });
  },

  endFileBatch,

  *clearFileBatch(id, limit) {
    const gone = yield* clearJobs.run({ id, limit });
    return gone > 0 ? gone : yield* clearLines.run({ id, limit });
  },
};

type Carried<Name extends keyof FileBatchOperations> = ReturnType<FileBatchOperations[Name]>;

const linesOf = valueOf<{ fileId: string; memberId: string }, number>(
  `select lines from files join assets on assets.id = asset_id
   where asset_id = @fileId and member_id = @memberId and purpose = 'batch'`,
);
const countOpen = valueOf<{ memberId: string }, number>(
  `select count(*) from file_batches join batches on batches.id = batch_id
   where ended_at is null and member_id = @memberId`,
);
const insertBatch = statement(
  'insert into batches (id, member_id, key_id, created_at) values (@id, @memberId, @keyId, @now)',
);
const insertFileBatch = statement(
  `insert into file_batches (
     batch_id, input_file_id, path, scope, request_id, metadata, window_ms, output_lifetime_ms,
     lines, expires_at)
   values (
     @id, @fileId, @path, @scope, @requestId, @metadata, @windowMs, @outputLifetimeMs,
     @lines, @expiresAt)`,
);

function* createFileBatch(
  ...[{ webhook, ...batch }, now]: Parameters<Operations['createFileBatch']>
): Carried<'createFileBatch'> {
  const { memberId, fileId } = batch;
  yield* lockSubmissions(memberId);
  const known = yield* replayed('batch', batch);
  if (known !== null) return { kind: 'replayed', value: yield* writtenBatch(known) };
  // Files of open batches are kept: the file must not be deleted before its batch is there.
  yield* lockAssets();
  const lines = (yield* linesOf.get({ fileId, memberId })) ?? 0;
  if (lines === 0) return { kind: 'no_file' };
  const open = (yield* countOpen.get({ memberId })) ?? 0;
  if (open >= MAX_OPEN_FILE_BATCHES) return { kind: 'too_many' };
  const id = ulid(now);
  yield* insertBatch.run({ id, memberId, keyId: batch.keyId, now });
  const { path, scope, requestId, metadata, windowMs, outputLifetimeMs } = batch;
  const row = { id, fileId, path, scope, requestId, metadata, windowMs, outputLifetimeMs };
  yield* insertFileBatch.run({ ...row, lines, expiresAt: now + windowMs });
  yield* writeSubject({ kind: 'batch', id }, { ...batch, webhook });
  return { kind: 'created', value: yield* writtenBatch(id) };
}

interface OpenRow extends FileColumns {
  batch_id: string;
  member_id: string;
  key_id: string;
  scope: OpenFileBatch['scope'];
  request_id: string;
  output_lifetime_ms: number | null;
  fed_bytes: number;
  open_jobs: number;
}

const openBatches = statement<object, OpenRow>(
  `select file_batches.batch_id, batches.member_id, coalesce(batches.key_id, '') as key_id,
     file_batches.scope, file_batches.request_id, file_batches.output_lifetime_ms,
     file_batches.fed_bytes, ${FILE_COLUMNS},
     (select count(*) from jobs where jobs.batch_id = file_batches.batch_id
        and status in ('QUEUED', 'PROCESSING')) as open_jobs
   from file_batches join batches on batches.id = file_batches.batch_id
   where file_batches.ended_at is null or exists (
     select 1 from batch_lines where batch_lines.batch_id = file_batches.batch_id)
   order by file_batches.batch_id`,
);

function* readOpenBatches(): Carried<'openFileBatches'> {
  return (yield* openBatches.all({})).flatMap((row): OpenFileBatch[] => {
    const file = toBatchFile(row);
    if (file === null) return [];
    return [
      {
        ...file,
        id: row.batch_id,
        memberId: row.member_id,
        keyId: row.key_id,
        scope: row.scope,
        requestId: row.request_id,
        outputLifetimeMs: row.output_lifetime_ms,
        fedLines: row.fed_lines ?? 0,
        fedBytes: row.fed_bytes,
        openJobs: row.open_jobs,
      },
    ];
  });
}

interface Feeding {
  key_id: string;
  scope: OpenFileBatch['scope'];
  request_id: string;
}

const FED = `select coalesce(key_id, '') as key_id, scope, request_id
  from file_batches join batches on batches.id = batch_id
  where batch_id = @batchId and fed_bytes = @fromByte and ended_at is null
    and finalizing_at is null and cancelling_at is null`;
const memberOf = valueOf<{ id: string }, string>('select member_id from batches where id = @id');
/** Until the lines are written, it is not canceled, expired or read by another coordinator. */
const findFed = statement<{ batchId: string; fromByte: number }, Feeding>({
  sqlite: FED,
  postgres: `${FED} for update of file_batches`,
});
const advance = statement<{ batchId: string; lines: number; toByte: number }>(
  `update file_batches set fed_lines = fed_lines + @lines, fed_bytes = @toByte
   where batch_id = @batchId`,
);
const insertLine = statement(
  `insert into batch_lines (batch_id, line, custom_id, job_id, error)
   values (@batchId, @line, @customId, @id, @error)`,
);

function* feedFileBatch(
  ...[request, limits, now]: Parameters<Operations['feedFileBatch']>
): Carried<'feedFileBatch'> {
  const { batchId, fromByte, toByte, lines, maxAttempts } = request;
  const memberId = yield* memberOf.get({ id: batchId });
  if (memberId === undefined) return { kind: 'stale' };
  yield* lockSubmissions(memberId);
  const batch = yield* findFed.get({ batchId, fromByte });
  if (batch === undefined) return { kind: 'stale' };
  const items = lines.flatMap(({ made }) => ('body' in made ? made : []));
  const bytes = items.reduce((sum, { body }) => sum + body.byteLength, 0);
  const queued = yield* queuedBy(memberId);
  const refusal = fullBy(queued, { jobs: items.length, bytes }, limits);
  if (refusal !== null) return refusal;
  const submission = {
    memberId,
    keyId: batch.key_id,
    scope: batch.scope,
    requestId: batch.request_id,
    maxAttempts,
    idempotencyKey: null,
    webhook: null,
  };
  const common = { submission, keepsExcerpt: queued.excerpts === 1, now };
  // Lists are in order of ids: sorted ids keep the order of the lines.
  const ids = items.map(() => ulid(now)).toSorted();
  const jobs: SubmittedJob[] = [];
  const rows = lines.map(({ line, customId, made }) => {
    const id = 'body' in made ? (ids.shift() ?? null) : null;
    if (id === null || !('body' in made)) {
      return { batchId, line, customId, id: null, error: JSON.stringify(made) };
    }
    jobs.push({ id, item: made, batch: { id: batchId, index: line - 1 }, ...common });
    return { batchId, line, customId, id, error: null };
  });
  yield* writeJobs(jobs);
  yield* insertLine.each(rows);
  yield* advance.run({ batchId, lines: lines.length, toByte });
  return { kind: 'fed' };
}

interface LineRow {
  line: number;
  custom_id: string;
  job_id: string | null;
  status: JobStatus | null;
  error: string | null;
  result_bytes: number | null;
}

const endedLines = statement<{ id: string; after: number; limit: number }, LineRow>(
  `select line, custom_id, jobs.id as job_id, status, coalesce(jobs.error, lines.error) as error,
     octet_length(result) as result_bytes
   from batch_lines as lines
   left join jobs on jobs.id = lines.job_id
   left join job_results on job_results.job_id = jobs.id
   where lines.batch_id = @id and line > @after order by line limit @limit`,
);

function* readEndedLines(
  ...[id, after, limit]: Parameters<Operations['endedLines']>
): Carried<'endedLines'> {
  return (yield* endedLines.all({ id, after, limit })).map((row): EndedLine => ({
    line: row.line,
    customId: row.custom_id,
    jobId: row.job_id,
    status: row.status,
    error: JSON.parse(row.error ?? 'null') as JobError | null,
    resultBytes: row.result_bytes ?? 0,
  }));
}

/** Until its end is written, none of its jobs is retried. */
const unchanged = statement<{ id: string; retries: number }>(
  forUpdate(
    `select batch_id from file_batches where batch_id = @id and ended_at is null
       and retries = @retries and not exists (${OPEN_JOBS})`,
  ),
);
const end = statement(
  `update file_batches set ended_at = @now, finalizing_at = coalesce(finalizing_at, @now),
     completed = @completed, failed = @failed, output_file_id = @output,
     error_file_id = @errors, fault = @fault
   where batch_id = @id`,
);
const announce = statement(
  `insert into webhook_deliveries (id, subject_id, member_id, created_at, next_at)
   select @message, subject_id, member_id, @now, @now
   from webhooks join batches on batches.id = subject_id where subject_id = @id
   on conflict (id) do nothing`,
);

function* endFileBatch(
  ...[batch, limits, now]: Parameters<Operations['endFileBatch']>
): Carried<'endFileBatch'> {
  const { batchId: id, retries, completed, failed, fault: reason, output, errors } = batch;
  if ((yield* unchanged.get({ id, retries })) === undefined) return 'changed';
  const made = [output, errors].flatMap((file) => file ?? []);
  const space = yield* writeFiles(made, limits);
  if (space !== 'created') return space;
  const [outputId, errorsId] = [output?.asset.id ?? null, errors?.asset.id ?? null];
  const told = reason && JSON.stringify(reason);
  const ended = { id, now, completed, failed, output: outputId, errors: errorsId, fault: told };
  yield* end.run(ended);
  yield* announce.run({ message: `msg_${id}_1`, id, now });
  return 'ended';
}

const clearJobs = statement<{ id: string; limit: number }>(
  `delete from jobs where id in (
     select jobs.id from jobs join file_batches on file_batches.batch_id = jobs.batch_id
     where jobs.batch_id = @id and ended_at is not null
       and status in ('PROCESSED', 'FAILED', 'CANCELED') limit @limit)`,
);
const clearLines = statement<{ id: string; limit: number }>(
  `delete from batch_lines where (batch_id, line) in (
     select lines.batch_id, line from batch_lines as lines
       join file_batches on file_batches.batch_id = lines.batch_id
     where lines.batch_id = @id and ended_at is not null limit @limit)`,
);
