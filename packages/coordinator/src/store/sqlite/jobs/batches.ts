import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { JobStatus } from '../../../core/jobs/job.js';
import type { Batch, BatchJob, Canceled, PageQuery } from '../../port.js';
import { countsOfFile, FILE_COLUMNS, toBatchFile } from './file-batch-rows.js';
import type { FileColumns } from './file-batch-rows.js';
import { jobTransitions } from './transitions.js';
import type { Operations } from '../engine/operations.js';
import { pageStart } from './jobs.js';
import { queueLimitReader, submissionWriter } from './submissions.js';

type BatchOperations = Pick<
  Operations,
  'createBatch' | 'findSubmittedBatch' | 'findBatch' | 'listBatches' | 'cancelBatch'
>;

interface Row extends FileColumns {
  id: string;
  member_id: string;
  key_id: string | null;
  label: string | null;
  created_at: number;
  queued: number;
  processing: number;
  processed: number;
  failed: number;
  canceled: number;
}

export function batchOperations(database: Database): BatchOperations {
  const find = batchFinder(database);
  const { replayed } = submissionWriter(database);
  const jobsOf = database.prepare<[string], BatchJob>(
    `select id, batch_index as "index", status, endpoint from jobs
     where batch_id = ? order by batch_index`,
  );
  return {
    createBatch: batchCreator(database),
    findSubmittedBatch: (memberId, idempotencyKey) => {
      const id = replayed('batch', { memberId, idempotencyKey });
      return id === null ? null : find(id, memberId);
    },
    findBatch: (id, memberId) => {
      const batch = find(id, memberId);
      return batch && { batch, jobs: batch.file === null ? jobsOf.all(id) : [] };
    },
    listBatches: batchLister(database),
    cancelBatch: batchCanceller(database),
  };
}

/** Like a single job: all items if they are within the limits together, else none. */
function batchCreator(database: Database): Operations['createBatch'] {
  const { replayed, writeJob, writeSubject } = submissionWriter(database);
  const refusalOf = queueLimitReader(database);
  const insert = database.prepare(
    'insert into batches (id, member_id, key_id, label, created_at) values (?, ?, ?, ?, ?)',
  );
  const find = batchFinder(database);
  return (submission, limits, now) => {
    const { memberId, keyId, label, items } = submission;
    const known = replayed('batch', submission);
    if (known !== null) return { kind: 'replayed', value: written(known) };
    const bytes = items.reduce((sum, { body }) => sum + body.byteLength, 0);
    const refusal = refusalOf({ memberId, jobs: items.length, bytes }, limits);
    if (refusal !== null) return refusal;
    const batchId = ulid(now);
    insert.run(batchId, memberId, keyId, label, now);
    // Lists are in order of ids: sorted ids keep the order of the request.
    const ids = items.map(() => ulid(now)).toSorted();
    ids.forEach((id, index) => {
      const item = items[index];
      if (item === undefined) return;
      writeJob({ id, submission, item, batch: { id: batchId, index } }, now);
    });
    writeSubject({ kind: 'batch', id: batchId }, submission);
    return { kind: 'created', value: written(batchId) };
  };

  function written(id: string): Batch {
    const batch = find(id, null);
    if (batch === null) throw new Error(`the batch ${id} is not there`);
    return batch;
  }
}

export function batchFinder(
  database: Database,
): (id: string, memberId: string | null) => Batch | null {
  const find = database.prepare<{ id: string; memberId: string | null }, Row>(
    counted('where id = @id and (@memberId is null or member_id = @memberId)'),
  );
  return (id, memberId) => {
    const row = find.get({ id, memberId });
    return row === undefined ? null : toBatch(row);
  };
}

function batchLister(database: Database): Operations['listBatches'] {
  const page = 'id < @start order by id desc limit @limit';
  type Page = Omit<PageQuery, 'after'> & { readonly start: string };
  const ofKey = '(@keyId is null or key_id = @keyId)';
  const own = database.prepare<Page, Row>(
    counted(`where member_id = @memberId and ${ofKey} and ${page}`),
  );
  const all = database.prepare<Page, Row>(counted(`where ${ofKey} and ${page}`));
  const startOf = pageStart(database, 'batches');
  return (query) => {
    const { memberId, keyId = null, limit } = query;
    const start = startOf(query, 'desc');
    if (start === null) return [];
    return (memberId === null ? all : own).all({ memberId, keyId, limit, start }).map(toBatch);
  };
}

const PAGE_COLUMNS = 'page.id, page.member_id, page.key_id, page.label, page.created_at';

/** Selects the batches of a page before counting their jobs. */
function counted(choice: string): string {
  return `select ${PAGE_COLUMNS},
      ${count('QUEUED')} as queued, ${count('PROCESSING')} as processing,
      ${count('PROCESSED')} as processed, ${count('FAILED')} as failed,
      ${count('CANCELED')} as canceled, ${FILE_COLUMNS}
    from (select id, member_id, key_id, label, created_at from batches ${choice}) as page
    left join file_batches on file_batches.batch_id = page.id
    left join jobs on jobs.batch_id = page.id
    group by page.id order by page.id desc`;
}

function count(status: JobStatus): string {
  return `count(*) filter (where jobs.status = '${status}')`;
}

function batchCanceller(database: Database): Operations['cancelBatch'] {
  const find = batchFinder(database);
  const cancelOpen = openJobsCanceller(database);
  const stopReading = database.prepare<{ id: string; now: number }>(
    `update file_batches set cancelling_at = @now
     where batch_id = @id and ended_at is null and cancelling_at is null`,
  );
  return (id, memberId, now) => {
    if (find(id, memberId) === null) return null;
    stopReading.run({ id, now });
    const canceled = cancelOpen(id, now);
    const batch = find(id, memberId);
    return batch === null ? null : { batch, canceled };
  };
}

/** Cancels the jobs of a batch that have not ended. */
export function openJobsCanceller(database: Database): (id: string, now: number) => Canceled[] {
  const open = database
    .prepare<[string], string>(
      `select id from jobs where batch_id = ? and status in ('QUEUED', 'PROCESSING') order by id`,
    )
    .pluck();
  const { cancel } = jobTransitions(database);
  return (id, now) =>
    open.all(id).flatMap((jobId) => {
      const outcome = cancel(jobId, null, now);
      return outcome.kind === 'canceled' ? outcome : [];
    });
}

function toBatch(row: Row): Batch {
  const { id, member_id: memberId, key_id: keyId, label, created_at: createdAt } = row;
  return {
    id,
    memberId,
    keyId,
    label,
    createdAt,
    counts: countsOfFile(row, {
      QUEUED: row.queued,
      PROCESSING: row.processing,
      PROCESSED: row.processed,
      FAILED: row.failed,
      CANCELED: row.canceled,
    }),
    file: toBatchFile(row),
  };
}
