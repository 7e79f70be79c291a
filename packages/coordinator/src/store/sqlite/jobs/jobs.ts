import type { TranslationContext } from '@inference-gateway/shared/openai/translation';
import type { Database } from 'better-sqlite3';
import { nextStatus } from '../../../core/jobs/job.js';
import type { FailedAttempt, JobStatus } from '../../../core/jobs/job.js';
import type { Job, QueueLimits, JobQuery, ListOrder, PageQuery } from '../../port.js';
import { ASSET_COLUMNS, toAsset } from '../assets/assets.js';
import type { AssetRow } from '../assets/assets.js';
import { claimer } from './claims.js';
import { jobFinder, toJob, enqueueKeys, JOB_COLUMNS } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import type { Operations } from '../engine/operations.js';
import { queueLimitReader, submissionWriter } from './submissions.js';
import { queuePositions } from './queue-positions.js';
import { jobTransitions } from './transitions.js';

type JobOperations = Pick<
  Operations,
  | 'createJob'
  | 'findJob'
  | 'findJobBody'
  | 'findJobContext'
  | 'listJobs'
  | 'queuePositions'
  | 'findSubmittedJob'
  | 'cancelJob'
  | 'retryJob'
  | 'deleteOldJobs'
>;

export function jobOperations(database: Database): JobOperations {
  const positionsOf = queuePositions(database);
  return {
    createJob: jobCreator(database, positionsOf),
    findSubmittedJob: submittedJobFinder(database),
    findJob: jobReader(database),
    findJobBody: bodyReader(database),
    findJobContext: contextReader(database),
    listJobs: jobLister(database),
    queuePositions: positionsOf,
    cancelJob: jobTransitions(database).cancel,
    retryJob: jobRetry(database),
    deleteOldJobs: jobRetention(database),
  };
}

/**
 * The idempotency key and the limits are read first. Only this connection writes, and an operation
 * runs without a pause: what was read still holds at the insert, which the unique index guards.
 */
function jobCreator(
  database: Database,
  positionsOf: Operations['queuePositions'],
): Operations['createJob'] {
  const { replayed, writeJob, writeSubject } = submissionWriter(database);
  const claimJob = claimer(database);
  const refusalOf = queueLimitReader(database);
  const find = jobFinder(database);
  return ({ claim = null, ...submission }, limits, now) => {
    const { id, memberId, item } = submission;
    const known = replayed('job', submission);
    if (known !== null) return { kind: 'replayed', value: written(known) };
    const refusal = refusalOf({ memberId, jobs: 1, bytes: item.body.byteLength }, limits);
    if (refusal !== null) return refusal;
    writeJob({ id, submission, item, batch: null }, now);
    writeSubject({ kind: 'job', id }, submission);
    const value = written(id);
    const claimed = claim && claimJob({ ...claim, jobId: id }, now);
    const [position = null] = claimed === null ? positionsOf([id]) : [];
    return { kind: 'created', value, claimed, position };
  };

  function written(id: string): Job {
    const row = find(id, null);
    if (row === undefined) throw new Error(`the job ${id} is not there`);
    return toJob(row);
  }
}

function submittedJobFinder(database: Database): Operations['findSubmittedJob'] {
  const { replayed } = submissionWriter(database);
  const find = jobFinder(database);
  return (memberId, idempotencyKey) => {
    const id = replayed('job', { memberId, idempotencyKey });
    const row = id === null ? undefined : find(id, memberId);
    return row === undefined ? null : toJob(row);
  };
}

function jobReader(database: Database): Operations['findJob'] {
  const find = jobFinder(database);
  const resultOf = database
    .prepare<[string], string>('select result from job_results where job_id = ?')
    .pluck();
  const assetsOf = database.prepare<[string], AssetRow>(
    `select ${ASSET_COLUMNS} from job_assets join assets on assets.id = job_assets.asset_id
     where job_assets.job_id = ? order by job_assets.position`,
  );
  return (id, memberId) => {
    const row = find(id, memberId);
    if (row === undefined) return null;
    return {
      job: toJob(row),
      failedAttempts: JSON.parse(row.failed_attempts) as FailedAttempt[],
      result: resultOf.get(id) ?? null,
      assets: assetsOf.all(id).map(toAsset),
    };
  };
}

function bodyReader(database: Database): Operations['findJobBody'] {
  const find = jobFinder(database);
  const bodyOf = database
    .prepare<[string], Buffer>('select body from job_bodies where job_id = ?')
    .pluck();
  return (id, memberId) => (find(id, memberId) === undefined ? null : (bodyOf.get(id) ?? null));
}

function contextReader(database: Database): Operations['findJobContext'] {
  const contextOf = database
    .prepare<[string], string | null>('select context from job_bodies where job_id = ?')
    .pluck();
  return (id) => JSON.parse(contextOf.get(id) ?? 'null') as TranslationContext | null;
}

interface Gone {
  id: string;
  batch_id: string | null;
}

/** Body, result and idempotency key are deleted with their row; a webhook is separate. */
function jobRetention(database: Database): Operations['deleteOldJobs'] {
  const deleteJobs = database.prepare<[number, number], Gone>(
    `delete from jobs where id in (
       select id from jobs where finished_at < ?
         and (batch_id is null or batch_id not in (
           select batch_id from file_batches where ended_at is null))
       order by finished_at limit ?
     ) returning id, batch_id`,
  );
  const deleteBatches = database
    .prepare<[string], string>(
      `delete from batches where id in (select value from json_each(?))
         and not exists (select 1 from jobs where batch_id = batches.id)
         and not exists (select 1 from file_batches where batch_id = batches.id)
       returning id`,
    )
    .pluck();
  const deleteFileBatches = database
    .prepare<[number, number], string>(
      `delete from batches where id in (
         select batch_id from file_batches where ended_at < ?
           and not exists (select 1 from jobs where batch_id = file_batches.batch_id) limit ?)
       returning id`,
    )
    .pluck();
  const deleteWebhooks = database.prepare(
    'delete from webhooks where subject_id in (select value from json_each(?))',
  );
  return (finishedBefore, limit) => {
    const jobs = deleteJobs.all(finishedBefore, limit);
    const batchIds = new Set(jobs.flatMap(({ batch_id: id }) => id ?? []));
    const batches = deleteBatches.all(JSON.stringify([...batchIds]));
    const read = deleteFileBatches.all(finishedBefore, limit);
    deleteWebhooks.run(JSON.stringify([...jobs.map(({ id }) => id), ...batches, ...read]));
    return jobs.length;
  };
}

/** Moves it behind its caller's other jobs, as if it had been submitted now. */
function jobRetry(database: Database): Operations['retryJob'] {
  const find = jobFinder(database);
  const { apply } = jobTransitions(database);
  const refusalOf = queueLimitReader(database);
  const forgetResult = database.prepare('delete from job_results where job_id = ?');
  const forgetAssets = database.prepare('delete from job_assets where job_id = ?');
  const nextKey = enqueueKeys(database);
  const hasEnded = database.prepare<[string | null]>(
    'select 1 from file_batches where batch_id = ? and ended_at is not null',
  );
  return (...[id, memberId, limits, now]) => {
    const row = find(id, memberId);
    if (row === undefined) return { kind: 'unknown' };
    // Of a batch whose output files are written, and whose jobs are being deleted.
    const isOver = hasEnded.get(row.batch_id) !== undefined;
    if (isOver || nextStatus(row.status, 'retry') === null) {
      return { kind: 'not_retryable', job: toJob(row) };
    }
    const refusal = refusalOf(additionOf(row), limits);
    if (refusal !== null) return refusal;
    const { service_type: serviceType, model, member_id } = row;
    const fairKey = nextKey({ serviceType, model, memberId: member_id });
    const queued = apply(row, { event: 'retry' }, { now, random: 0, fairKey });
    if (queued === null) throw new Error(`the job ${id} could not be retried as ${row.status}`);
    forgetResult.run(id);
    forgetAssets.run(id);
    return { kind: 'queued', job: toJob({ ...queued, first_asset_id: null }) };
  };
}

function additionOf(row: JobRow): QueueLimits & { readonly memberId: string } {
  return { memberId: row.member_id, jobs: 1, bytes: row.body_bytes };
}

/**
 * True for every job without a filter. Evaluated along the index of the list until a page is full:
 * at worst nothing matches, and the index of all of a member's jobs is read, which
 * takes 3 ms for 10,000 jobs (test/web/many-jobs.test.ts). `instr` has no wildcards. Both
 * sides use SQLite's `lower`, which changes only A to Z: with JavaScript's, Ä would not match
 * itself.
 */
const FITS = `(@endpoints is null or endpoint in (select value from json_each(@endpoints)))
       and (@keyId is null or key_id = @keyId)
       and (@model is null or instr(lower(model), lower(@model)) > 0
         or instr(lower(alias), lower(@model)) > 0)`;

interface Page {
  readonly memberId: string | null;
  readonly keyId: string | null;
  readonly status: JobStatus | null;
  /** A JSON array. */
  readonly endpoints: string | null;
  readonly model: string | null;
  /** Only jobs after this id. */
  readonly start: string;
  readonly limit: number;
}

/** One statement per index: one statement for all could use none of them. */
function jobLister(database: Database): Operations['listJobs'] {
  const lists = { asc: statementsOf(database, 'asc'), desc: statementsOf(database, 'desc') };
  const startOf = pageStart(database, 'jobs');
  return (query) => {
    const start = startOf(query, query.order);
    return start === null ? [] : read(query, start).map(toJob);
  };

  function read(query: JobQuery, start: string): JobRow[] {
    const { memberId, statuses, order, limit } = query;
    const page = firstPage(query, start);
    const { all, ofMember, ofStatus, ofBoth } = lists[order];
    if (statuses === null) return (memberId === null ? all : ofMember).all(page);
    // Jobs of one status are adjacent in the index, those of several are not.
    const read = memberId === null ? ofStatus : ofBoth;
    const rows = [...new Set(statuses)].flatMap((status) => read.all({ ...page, status }));
    const isFirst = order === 'asc' ? isOlder : isNewer;
    return rows.toSorted((a, b) => (isFirst(a, b) ? -1 : 1)).slice(0, limit);
  }
}

function firstPage(query: JobQuery, start: string): Page {
  const { memberId, keyId = null, endpoints, model, limit } = query;
  const wanted = endpoints === null ? null : JSON.stringify(endpoints);
  return { memberId, keyId, status: null, endpoints: wanted, model, start, limit };
}

function statementsOf(database: Database, order: ListOrder) {
  const behind = order === 'asc' ? '>' : '<';
  const prepare = (condition: string) =>
    database.prepare<Page, JobRow>(
      `select ${JOB_COLUMNS} from jobs where ${condition} id ${behind} @start
       and ${FITS}
       order by id ${order} limit @limit`,
    );
  return {
    all: prepare(''),
    ofStatus: prepare('status = @status and'),
    ofMember: prepare('member_id = @memberId and'),
    ofBoth: prepare('member_id = @memberId and status = @status and'),
  };
}

function isOlder(a: JobRow, b: JobRow): boolean {
  return a.id < b.id;
}

function isNewer(a: JobRow, b: JobRow): boolean {
  return a.id > b.id;
}

/** Before and after every ULID. */
const ENDS = { asc: '', desc: '~' } as const;

/**
 * The id after which a page of a list begins; null if `after` is unknown. Paging must not reveal
 * whether another's job or batch exists.
 */
export function pageStart(
  database: Database,
  table: 'jobs' | 'batches',
): (query: PageQuery, order: keyof typeof ENDS) => string | null {
  const find = database
    .prepare<{ after: string; memberId: string | null; keyId: string | null }, string>(
      `select id from ${table}
       where id = @after and (@memberId is null or member_id = @memberId)
         and (@keyId is null or key_id = @keyId)`,
    )
    .pluck();
  return ({ after, memberId, keyId = null }, order) =>
    after === null ? ENDS[order] : (find.get({ after, memberId, keyId }) ?? null);
}
