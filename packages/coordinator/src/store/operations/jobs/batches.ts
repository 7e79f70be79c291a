import { ulid } from '@inference-gateway/shared/ids';
import type { JobStatus } from '../../../core/jobs/job.js';
import type { Batch, BatchJob, Canceled, PageQuery } from '../../port.js';
import type { Operations } from '../operations.js';
import { statement } from '../statement.js';
import type { Operation, SqlText } from '../statement.js';
import { countsOfFile, FILE_COLUMNS, toBatchFile } from './file-batch-rows.js';
import type { FileColumns } from './file-batch-rows.js';
import { forUpdate, JOB_COLUMNS } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import { pageStart } from './jobs.js';
import { lockSubmissions, queuedBy, refusalOf, replayed } from './submissions.js';
import { writeJobs, writeSubject } from './submissions.js';
import type { SubmittedJob } from './submissions.js';
import { cancelRow } from './transitions.js';

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

const PAGE_COLUMNS = 'page.id, page.member_id, page.key_id, page.label, page.created_at';

const findOne = statement<{ id: string; memberId: string | null }, Row>(
  counted('where id = @id and (member_id = @memberId or @memberId is null)'),
);
const jobsOf = statement<{ id: string }, BatchJob>(
  `select id, batch_index as "index", status, endpoint from jobs
   where batch_id = @id order by batch_index`,
);
const insert = statement(
  `insert into batches (id, member_id, key_id, label, created_at)
   values (@id, @memberId, @keyId, @label, @now)`,
);

const PAGE = 'id < @start order by id desc limit @limit';
const OF_KEY = '(key_id = @keyId or @keyId is null)';
type Page = Omit<PageQuery, 'after'> & { readonly start: string };
const listOwn = statement<Page, Row>(
  counted(`where member_id = @memberId and ${OF_KEY} and ${PAGE}`),
);
const listAll = statement<Page, Row>(counted(`where ${OF_KEY} and ${PAGE}`));
const startOf = pageStart('batches');

const stopReading = statement<{ id: string; now: number }>(
  `update file_batches set cancelling_at = @now
   where batch_id = @id and ended_at is null and cancelling_at is null`,
);

export const batchOperations: BatchOperations = {
  /** Like a single job: all items if they are within the limits together, else none. */
  *createBatch(submission, limits, now) {
    const { memberId, keyId, label, items } = submission;
    yield* lockSubmissions(memberId);
    const known = yield* replayed('batch', submission);
    if (known !== null) return { kind: 'replayed', value: yield* writtenBatch(known) };
    const bytes = items.reduce((sum, { body }) => sum + body.byteLength, 0);
    const queued = yield* queuedBy(memberId);
    const refusal = refusalOf(queued, { jobs: items.length, bytes }, limits);
    if (refusal !== null) return refusal;
    const common = { submission, keepsExcerpt: queued.excerpts === 1, now };
    const batchId = ulid(now);
    yield* insert.run({ id: batchId, memberId, keyId, label, now });
    // Lists are in order of ids: sorted ids keep the order of the request.
    const ids = items.map(() => ulid(now)).toSorted();
    const jobs = ids.flatMap((id, index): SubmittedJob[] => {
      const item = items[index];
      if (item === undefined) return [];
      return [{ id, item, batch: { id: batchId, index }, ...common }];
    });
    yield* writeJobs(jobs);
    yield* writeSubject({ kind: 'batch', id: batchId }, submission);
    return { kind: 'created', value: yield* writtenBatch(batchId) };
  },

  *findSubmittedBatch(memberId, idempotencyKey) {
    const id = yield* replayed('batch', { memberId, idempotencyKey });
    return id === null ? null : yield* findBatch(id, memberId);
  },

  findBatch: findBatchDetail,

  *listBatches(query) {
    const { memberId, keyId = null, limit } = query;
    const start = yield* startOf(query, 'desc');
    if (start === null) return [];
    const list = memberId === null ? listAll : listOwn;
    return (yield* list.all({ memberId, keyId, limit, start })).map(toBatch);
  },

  *cancelBatch(id, memberId, now) {
    if ((yield* findBatch(id, memberId)) === null) return null;
    yield* stopReading.run({ id, now });
    const canceled = yield* cancelOpenJobs(id, now);
    const batch = yield* findBatch(id, memberId);
    return batch === null ? null : { batch, canceled };
  },
};

/** The batch that was just written. */
export function* writtenBatch(id: string): Operation<Batch> {
  const batch = yield* findBatch(id, null);
  if (batch === null) throw new Error(`the batch ${id} is not there`);
  return batch;
}

export function* findBatchDetail(
  ...[id, memberId]: Parameters<Operations['findBatch']>
): ReturnType<Operations['findBatch']> {
  const batch = yield* findBatch(id, memberId);
  return batch && { batch, jobs: batch.file === null ? yield* jobsOf.all({ id }) : [] };
}

function* findBatch(id: string, memberId: string | null): Operation<Batch | null> {
  const row = yield* findOne.get({ id, memberId });
  return row === undefined ? null : toBatch(row);
}

/**
 * Selects the batches of a page before counting their jobs. PostgreSQL wants to see that a group
 * has one row of each table.
 */
function counted(choice: string): SqlText {
  const rows = `select ${PAGE_COLUMNS},
      ${count('QUEUED')} as queued, ${count('PROCESSING')} as processing,
      ${count('PROCESSED')} as processed, ${count('FAILED')} as failed,
      ${count('CANCELED')} as canceled, ${FILE_COLUMNS}
    from (select id, member_id, key_id, label, created_at from batches ${choice}) as page
    left join file_batches on file_batches.batch_id = page.id
    left join jobs on jobs.batch_id = page.id`;
  return {
    sqlite: `${rows} group by page.id order by page.id desc`,
    postgres: `${rows} group by ${PAGE_COLUMNS}, file_batches.batch_id order by page.id desc`,
  };
}

function count(status: JobStatus): string {
  return `count(*) filter (where jobs.status = '${status}')`;
}

const openJobs = statement<{ id: string }, JobRow>(
  forUpdate(
    `select ${JOB_COLUMNS} from jobs
     where batch_id = @id and status in ('QUEUED', 'PROCESSING') order by id`,
  ),
);

/** Cancels the jobs of a batch that have not ended. */
export function* cancelOpenJobs(id: string, now: number): Operation<Canceled[]> {
  const canceled: Canceled[] = [];
  for (const row of yield* openJobs.all({ id })) {
    const outcome = yield* cancelRow(row, now);
    if (outcome.kind === 'canceled') canceled.push(outcome);
  }
  return canceled;
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
