/** Batches whose requests are the lines of a file. */
import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { JobError, JobStatus } from '../../../core/jobs/job.js';
import { MAX_OPEN_FILE_BATCHES } from '../../../core/jobs/file-batch.js';
import type { Batch, EndedLine, FedLine, FeedRequest, OpenFileBatch } from '../../port.js';
import { fileWriter } from '../assets/files.js';
import type { Operations } from '../engine/operations.js';
import { batchFinder, openJobsCanceller } from './batches.js';
import { FILE_COLUMNS, toBatchFile } from './file-batch-rows.js';
import type { FileColumns } from './file-batch-rows.js';
import { queueLimitReader, submissionWriter } from './submissions.js';

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

export function fileBatchOperations(database: Database): FileBatchOperations {
  const cancelOpen = openJobsCanceller(database);
  const expire = database.prepare<{ id: string; now: number }>(
    `update file_batches set expired_at = @now, finalizing_at = coalesce(finalizing_at, @now)
     where batch_id = @id and ended_at is null and expired_at is null and cancelling_at is null`,
  );
  const finalize = database.prepare<{ id: string; now: number }>(
    `update file_batches set finalizing_at = @now
     where batch_id = @id and ended_at is null and finalizing_at is null and fed_lines = lines
       and not exists (${OPEN_JOBS})`,
  );
  const results = database
    .prepare<[string], string | null>(
      `select result from json_each(?) as asked
         left join job_results on job_id = asked.value order by asked.key`,
    )
    .pluck();
  const fault = database.prepare<[string, string]>(
    'update file_batches set fault = ? where batch_id = ? and ended_at is null',
  );
  const retries = database
    .prepare<[string], number>('select retries from file_batches where batch_id = ?')
    .pluck();
  return {
    createFileBatch: fileBatchCreator(database),
    openFileBatches: openBatchReader(database),
    feedFileBatch: feeder(database),
    expireFileBatch: (id, now) => {
      expire.run({ id, now });
      return cancelOpen(id, now);
    },
    finalizeFileBatch: (id, now) => void finalize.run({ id, now }),
    fileBatchRetries: (id) => retries.get(id) ?? 0,
    endedLines: lineReader(database),
    jobResults: (ids) => results.all(JSON.stringify(ids)),
    faultFileBatch: (id, error) => void fault.run(JSON.stringify(error), id),
    endFileBatch: batchEnder(database),
    clearFileBatch: batchClearer(database),
  };
}

const OPEN_JOBS = `select 1 from jobs
  where batch_id = @id and status in ('QUEUED', 'PROCESSING')`;

function fileBatchCreator(database: Database): Operations['createFileBatch'] {
  const { replayed, writeSubject } = submissionWriter(database);
  const find = batchFinder(database);
  const fileOf = database.prepare<[string, string], { lines: number }>(
    `select lines from files join assets on assets.id = asset_id
     where asset_id = ? and member_id = ? and purpose = 'batch'`,
  );
  const open = database
    .prepare<[string], number>(
      `select count(*) from file_batches join batches on batches.id = batch_id
       where ended_at is null and member_id = ?`,
    )
    .pluck();
  const insert = database.prepare<object>(
    'insert into batches (id, member_id, key_id, created_at) values (@id, @memberId, @keyId, @now)',
  );
  const insertFile = database.prepare<object>(
    `insert into file_batches (
       batch_id, input_file_id, path, scope, request_id, metadata, window_ms, output_lifetime_ms,
       lines, expires_at)
     values (
       @id, @fileId, @path, @scope, @requestId, @metadata, @windowMs, @outputLifetimeMs,
       @lines, @now + @windowMs)`,
  );
  return ({ webhook, ...batch }, now) => {
    const { memberId, fileId } = batch;
    const known = replayed('batch', batch);
    if (known !== null) return { kind: 'replayed', value: written(known) };
    const lines = fileOf.get(fileId, memberId)?.lines ?? 0;
    if (lines === 0) return { kind: 'no_file' };
    if ((open.get(memberId) ?? 0) >= MAX_OPEN_FILE_BATCHES) return { kind: 'too_many' };
    const id = ulid(now);
    insert.run({ id, memberId, keyId: batch.keyId, now });
    const { path, scope, requestId, metadata, windowMs, outputLifetimeMs } = batch;
    const row = { id, fileId, path, scope, requestId, metadata, windowMs, outputLifetimeMs };
    insertFile.run({ ...row, lines, now });
    writeSubject({ kind: 'batch', id }, { ...batch, webhook });
    return { kind: 'created', value: written(id) };
  };

  function written(id: string): Batch {
    const batch = find(id, null);
    if (batch === null) throw new Error(`the batch ${id} is not there`);
    return batch;
  }
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

function openBatchReader(database: Database): Operations['openFileBatches'] {
  const read = database.prepare<[], OpenRow>(
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
  return () =>
    read.all().flatMap((row): OpenFileBatch[] => {
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
  member_id: string;
  key_id: string;
  scope: OpenFileBatch['scope'];
  request_id: string;
}

function feeder(database: Database): Operations['feedFileBatch'] {
  const { writeJob } = submissionWriter(database);
  const refusalOf = queueLimitReader(database);
  const find = database.prepare<[string, number], Feeding>(
    `select member_id, coalesce(key_id, '') as key_id, scope, request_id
     from file_batches join batches on batches.id = batch_id
     where batch_id = ? and fed_bytes = ? and ended_at is null and finalizing_at is null
       and cancelling_at is null`,
  );
  const advance = database.prepare<[number, number, string]>(
    'update file_batches set fed_lines = fed_lines + ?, fed_bytes = ? where batch_id = ?',
  );
  const insert = database.prepare<[string, number, string, string | null, string | null]>(
    'insert into batch_lines (batch_id, line, custom_id, job_id, error) values (?, ?, ?, ?, ?)',
  );
  return ({ batchId, fromByte, toByte, lines, maxAttempts }, limits, now) => {
    const batch = find.get(batchId, fromByte);
    if (batch === undefined) return { kind: 'stale' };
    const items = lines.flatMap(({ made }) => ('body' in made ? made : []));
    const bytes = items.reduce((sum, { body }) => sum + body.byteLength, 0);
    const refusal = refusalOf({ memberId: batch.member_id, jobs: items.length, bytes }, limits);
    if (refusal !== null) return refusal;
    // Lists are in order of ids: sorted ids keep the order of the lines.
    const ids = items.map(() => ulid(now)).toSorted();
    for (const line of lines) {
      const id = 'body' in line.made ? (ids.shift() ?? null) : null;
      if (id !== null) create({ ...line, id, batch, batchId, maxAttempts }, now);
      const error = id === null ? JSON.stringify(line.made) : null;
      insert.run(batchId, line.line, line.customId, id, error);
    }
    advance.run(lines.length, toByte, batchId);
    return { kind: 'fed' };
  };

  function create({ id, batch, batchId, line, made, maxAttempts }: NewLineJob, now: number): void {
    if (!('body' in made)) return;
    const submission = {
      memberId: batch.member_id,
      keyId: batch.key_id,
      scope: batch.scope,
      requestId: batch.request_id,
      maxAttempts,
      idempotencyKey: null,
      webhook: null,
    };
    writeJob({ id, submission, item: made, batch: { id: batchId, index: line - 1 } }, now);
  }
}

interface NewLineJob extends FedLine, Pick<FeedRequest, 'batchId' | 'maxAttempts'> {
  readonly id: string;
  readonly batch: Feeding;
}

interface LineRow {
  line: number;
  custom_id: string;
  job_id: string | null;
  status: JobStatus | null;
  error: string | null;
  result_bytes: number | null;
}

function lineReader(database: Database): Operations['endedLines'] {
  const read = database.prepare<[string, number, number], LineRow>(
    `select line, custom_id, jobs.id as job_id, status, coalesce(jobs.error, lines.error) as error,
       octet_length(result) as result_bytes
     from batch_lines as lines
     left join jobs on jobs.id = lines.job_id
     left join job_results on job_results.job_id = jobs.id
     where lines.batch_id = ? and line > ? order by line limit ?`,
  );
  return (id, after, limit) =>
    read.all(id, after, limit).map((row): EndedLine => ({
      line: row.line,
      customId: row.custom_id,
      jobId: row.job_id,
      status: row.status,
      error: JSON.parse(row.error ?? 'null') as JobError | null,
      resultBytes: row.result_bytes ?? 0,
    }));
}

function batchEnder(database: Database): Operations['endFileBatch'] {
  const isUnchanged = database
    .prepare<{ id: string; retries: number }, number>(
      `select count(*) from file_batches where batch_id = @id and ended_at is null
         and retries = @retries and not exists (${OPEN_JOBS})`,
    )
    .pluck();
  const end = database.prepare<object>(
    `update file_batches set ended_at = @now, finalizing_at = coalesce(finalizing_at, @now),
       completed = @completed, failed = @failed, output_file_id = @output,
       error_file_id = @errors, fault = @fault
     where batch_id = @id`,
  );
  const announce = database.prepare<{ id: string; now: number }>(
    `insert into webhook_deliveries (id, subject_id, member_id, created_at, next_at)
     select 'msg_' || @id || '_1', subject_id, member_id, @now, @now
     from webhooks join batches on batches.id = subject_id where subject_id = @id
     on conflict (id) do nothing`,
  );
  const write = fileWriter(database);
  return ({ batchId: id, retries, completed, failed, fault, ...files }, limits, now) => {
    if (isUnchanged.get({ id, retries }) !== 1) return 'changed';
    const { output, errors } = files;
    const made = [output, errors].flatMap((file) => file ?? []);
    const space = write(made, limits);
    if (space !== 'created') return space;
    const [outputId, errorsId] = [output?.asset.id ?? null, errors?.asset.id ?? null];
    const told = fault && JSON.stringify(fault);
    const ended = { id, now, completed, failed, output: outputId, errors: errorsId, fault: told };
    end.run(ended);
    announce.run({ id, now });
    return 'ended';
  };
}

function batchClearer(database: Database): Operations['clearFileBatch'] {
  const jobs = database.prepare<[string, number]>(
    `delete from jobs where id in (
       select jobs.id from jobs join file_batches on file_batches.batch_id = jobs.batch_id
       where jobs.batch_id = ? and ended_at is not null
         and status in ('PROCESSED', 'FAILED', 'CANCELED') limit ?)`,
  );
  const lines = database.prepare<[string, number]>(
    `delete from batch_lines where (batch_id, line) in (
       select lines.batch_id, line from batch_lines as lines
         join file_batches on file_batches.batch_id = lines.batch_id
       where lines.batch_id = ? and ended_at is not null limit ?)`,
  );
  return (id, limit) => {
    const gone = jobs.run(id, limit).changes;
    return gone > 0 ? gone : lines.run(id, limit).changes;
  };
}
