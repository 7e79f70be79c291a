import type { TranslationContext } from '@inference-gateway/shared/openai/translation';
import { nextStatus } from '../../../core/jobs/job.js';
import type { FailedAttempt, JobStatus } from '../../../core/jobs/job.js';
import type {
  CreateOutcome,
  Job,
  JobFilter,
  JobQuery,
  JobSubmission,
  ListOrder,
  MemberGone,
  PageQuery,
  QueueFull,
  QueueLimits,
} from '../../port.js';
import { ASSET_COLUMNS, toAsset } from '../assets/assets.js';
import type { AssetRow } from '../assets/assets.js';
import type { Operations } from '../operations.js';
import { isFound, searched, searchTexts, withSmallAscii } from '../search.js';
import type { SearchTexts } from '../search.js';
import { lock, statement, together, valueOf, withList } from '../statement.js';
import type { Operation } from '../statement.js';
import { claimEach } from './claims.js';
import {
  BATCH_LABEL,
  CUSTOM_ID,
  enqueueKeys,
  findJobRow,
  forUpdate,
  JOB_COLUMNS,
  lockJobRow,
  toJob,
} from './job-rows.js';
import type { JobRow } from './job-rows.js';
import { positionsOf, queuePositions } from './queue-positions.js';
import type { Place } from './queue-positions.js';
import {
  lockSubmissions,
  NOBODY,
  queuedBy,
  queueRefusal,
  refusalOf,
  replayed,
  writeJobs,
  writeSubject,
} from './submissions.js';
import type { Queued, SubmittedJob } from './submissions.js';
import { applyEvent, cancelJobOf } from './transitions.js';

type JobOperations = Pick<
  Operations,
  | 'createJob'
  | 'findJob'
  | 'findJobBody'
  | 'findJobContext'
  | 'listJobs'
  | 'searchEnd'
  | 'countJobs'
  | 'queuePositions'
  | 'findSubmittedJob'
  | 'cancelJob'
  | 'retryJob'
  | 'deleteOldJobs'
>;

const resultOf = valueOf<{ id: string }, string>(
  'select result from job_results where job_id = @id',
);
const assetsOf = statement<{ id: string }, AssetRow>(
  `select ${ASSET_COLUMNS} from job_assets join assets on assets.id = job_assets.asset_id
   where job_assets.job_id = @id order by job_assets.position`,
);
const bodyOf = valueOf<{ id: string }, Buffer>('select body from job_bodies where job_id = @id');
const contextOf = valueOf<{ id: string }, string | null>(
  'select context from job_bodies where job_id = @id',
);

export const jobOperations: JobOperations = {
  *createJob(submission, limits, now) {
    const [outcome] = yield* createJobs([{ submission, limits, now }]);
    if (outcome === undefined) throw new Error('a submission had no outcome');
    return outcome;
  },

  *findSubmittedJob(memberId, idempotencyKey) {
    const id = yield* replayed('job', { memberId, idempotencyKey });
    const row = id === null ? undefined : yield* findJobRow(id, memberId);
    return row === undefined ? null : toJob(row);
  },

  findJob,

  *findJobBody(id, memberId) {
    if ((yield* findJobRow(id, memberId)) === undefined) return null;
    return (yield* bodyOf.get({ id })) ?? null;
  },

  *findJobContext(id) {
    return JSON.parse((yield* contextOf.get({ id })) ?? 'null') as TranslationContext | null;
  },

  listJobs,
  searchEnd,

  *countJobs(filter, statuses, limit) {
    const page = firstPage({ ...filter, limit }, ENDS.desc, 'desc');
    const counts = new Map<JobStatus, number>();
    for (const status of statuses) {
      const count = filter.memberId === null ? counted.ofStatus : counted.ofBoth;
      counts.set(status, (yield* count.get({ ...page, status })) ?? 0);
    }
    return counts;
  },

  queuePositions,
  cancelJob: cancelJobOf,
  retryJob,
  deleteOldJobs,
};

export function* findJob(
  ...[id, memberId]: Parameters<Operations['findJob']>
): ReturnType<Operations['findJob']> {
  const row = yield* findJobRow(id, memberId);
  if (row === undefined) return null;
  return {
    job: toJob(row),
    failedAttempts: JSON.parse(row.failed_attempts) as FailedAttempt[],
    result: (yield* resultOf.get({ id })) ?? null,
    assets: (yield* assetsOf.all({ id })).map(toAsset),
  };
}

export function* listJobs(query: JobQuery): Operation<Job[]> {
  const start = yield* startOf(query, query.order);
  return start === null ? [] : (yield* readPage(query, start)).map(toJob);
}

/** The arguments of `createJob`. */
export interface JobCreation {
  readonly submission: JobSubmission;
  readonly limits: QueueLimits;
  readonly now: number;
}

/**
 * Several at once, of any members. The idempotency keys and the limits are read first: what was
 * read still holds at the insert.
 */
export function* createJobs(creations: readonly JobCreation[]): Operation<CreateOutcome[]> {
  const members = [...new Set(creations.map(({ submission }) => submission.memberId))].toSorted();
  const [, known, queued] = yield* together([
    together(members.map(lockSubmissions)),
    together(creations.map(({ submission }) => replayed('job', submission))),
    together(members.map(queuedBy)),
  ]);
  const decide = decider(new Map(members.map((id, i) => [id, queued[i] ?? NOBODY])));
  const decisions = creations.map((creation, i) => decide(creation, known[i] ?? null));
  const added = decisions.flatMap((one) => (one.kind === 'add' ? one : []));
  const created = yield* writeCreated(added);
  const outcomes: CreateOutcome[] = [];
  for (const decision of decisions) outcomes.push(yield* outcomeOf(decision, created));
  return outcomes;
}

type Decision =
  | { readonly kind: 'add'; readonly creation: JobCreation; readonly keepsExcerpt: boolean }
  /** A job with the same idempotency key. */
  | { readonly kind: 'known'; readonly id: string }
  | QueueFull
  | MemberGone;

/** Decides one creation after the other, and adds those before to what is queued. */
function decider(queues: Map<string, Queued>) {
  const added = new Map<string, string>();
  return (creation: JobCreation, knownId: string | null): Decision => {
    const { submission, limits } = creation;
    const { id, memberId, idempotencyKey, item } = submission;
    const name = JSON.stringify([memberId, idempotencyKey]);
    const twin = knownId ?? added.get(name);
    if (twin !== undefined) return { kind: 'known', id: twin };
    const queue = queues.get(memberId) ?? NOBODY;
    const bytes = item.body.byteLength;
    const refusal = refusalOf(queue, { jobs: 1, bytes }, limits);
    if (refusal !== null) return refusal;
    queues.set(memberId, { ...queue, jobs: queue.jobs + 1, bytes: queue.bytes + bytes });
    if (idempotencyKey !== null) added.set(name, id);
    return { kind: 'add', creation, keepsExcerpt: queue.excerpts === 1 };
  };
}

/** Rows of these jobs, in any order. */
export const jobRows = statement<{ ids: string }, JobRow>(
  withList((isIn) => `select ${JOB_COLUMNS} from jobs where ${isIn('id', '@ids')}`),
);

type Created = Extract<CreateOutcome, { kind: 'created' }>;

type Added = Extract<Decision, { kind: 'add' }>;

/** By their ids. */
function* writeCreated(added: readonly Added[]): Operation<Map<string, Created>> {
  if (added.length === 0) return new Map();
  const creations = added.map(({ creation }) => creation);
  const jobs = added.map(({ creation: { submission, now }, keepsExcerpt }): SubmittedJob => {
    return { id: submission.id, submission, item: submission.item, batch: null, keepsExcerpt, now };
  });
  yield* writeJobs(jobs);
  const claims = creations.flatMap(({ submission: { id: jobId, claim = null }, now }) => {
    return claim === null ? [] : { ...claim, jobId, now };
  });
  const [, rows, claimed] = yield* together([
    together(jobs.map(({ id, submission }) => writeSubject({ kind: 'job', id }, submission))),
    jobRows.all({ ids: JSON.stringify(jobs.map(({ id }) => id)) }),
    claimEach(claims),
  ]);
  const taken = new Map(claimed.flatMap((one) => (one === null ? [] : [[one[0].job.id, one]])));
  const waiting = rows.filter(({ id }) => !taken.has(id)).toSorted(inQueueOrder);
  const positions = new Map(
    (yield* positionsOf(waiting)).map((position) => [position.jobId, position]),
  );
  const created = rows.map((row): [string, Created] => {
    const claim = taken.get(row.id) ?? null;
    const position = positions.get(row.id) ?? null;
    return [row.id, { kind: 'created', value: toJob(row), claimed: claim, position }];
  });
  return new Map(created);
}

function inQueueOrder(a: Place, b: Place): number {
  if (a.service_type !== b.service_type) return a.service_type < b.service_type ? -1 : 1;
  if (a.model !== b.model) return a.model < b.model ? -1 : 1;
  return a.fair_key - b.fair_key || (a.id < b.id ? -1 : 1);
}

function* outcomeOf(
  decision: Decision,
  created: ReadonlyMap<string, Created>,
): Operation<CreateOutcome> {
  if (decision.kind === 'queue_full' || decision.kind === 'member_gone') return decision;
  if (decision.kind === 'known') return { kind: 'replayed', value: yield* writtenJob(decision.id) };
  const outcome = created.get(decision.creation.submission.id);
  if (outcome === undefined) throw new Error('a job was not created');
  return outcome;
}

function* writtenJob(id: string): Operation<Job> {
  const row = yield* findJobRow(id, null);
  if (row === undefined) throw new Error(`the job ${id} is not there`);
  return toJob(row);
}

interface Gone {
  id: string;
  batch_id: string | null;
}

interface Old {
  readonly finishedBefore: number;
  readonly limit: number;
}

const deleteJobs = statement<Old, Gone>(
  `delete from jobs where id in (
     select id from jobs where finished_at < @finishedBefore
       and (batch_id is null or batch_id not in (
         select batch_id from file_batches where ended_at is null))
     order by finished_at limit @limit
   ) returning id, batch_id`,
);
const deleteBatches = valueOf<{ ids: string }, string>(
  `delete from batches where id in (select value from json_each(@ids))
     and not exists (select 1 from jobs where batch_id = batches.id)
     and not exists (select 1 from file_batches where batch_id = batches.id)
   returning id`,
);
const deleteFileBatches = valueOf<Old, string>(
  `delete from batches where id in (
     select batch_id from file_batches where ended_at < @finishedBefore
       and not exists (select 1 from jobs where batch_id = file_batches.batch_id) limit @limit)
   returning id`,
);
const deleteWebhooks = statement<{ ids: string }>(
  'delete from webhooks where subject_id in (select value from json_each(@ids))',
);

/**
 * Body, result and idempotency key are deleted with their row; a webhook is separate. One at a
 * time: of two that deleted the last jobs of a batch, neither would find it empty.
 */
function* deleteOldJobs(finishedBefore: number, limit: number): Operation<number> {
  yield* lock('old jobs');
  const jobs = yield* deleteJobs.all({ finishedBefore, limit });
  const batchIds = new Set(jobs.flatMap(({ batch_id: id }) => id ?? []));
  const batches = yield* deleteBatches.all({ ids: JSON.stringify([...batchIds]) });
  const read = yield* deleteFileBatches.all({ finishedBefore, limit });
  const ids = JSON.stringify([...jobs.map(({ id }) => id), ...batches, ...read]);
  yield* deleteWebhooks.run({ ids });
  return jobs.length;
}

const forgetResult = statement('delete from job_results where job_id = @id');
const forgetAssets = statement('delete from job_assets where job_id = @id');
const endOfBatch = valueOf<{ batchId: string }, number | null>(
  forUpdate('select ended_at from file_batches where batch_id = @batchId'),
);

/** Moves it behind its caller's other jobs, as if it had been submitted now. */
function* retryJob(
  ...[id, memberId, limits, now]: Parameters<Operations['retryJob']>
): ReturnType<Operations['retryJob']> {
  const found = yield* findJobRow(id, memberId);
  if (found === undefined) return { kind: 'unknown' };
  yield* lockSubmissions(found.member_id);
  // Of a batch whose output files are written, and whose jobs are being deleted.
  const { batch_id: batchId } = found;
  const endedAt = batchId === null ? null : yield* endOfBatch.get({ batchId });
  // Last, as operations lock a batch before its jobs.
  const row = yield* lockJobRow(id, memberId);
  if (row === undefined) return { kind: 'unknown' };
  if (typeof endedAt === 'number' || nextStatus(row.status, 'retry') === null) {
    return { kind: 'not_retryable', job: toJob(row) };
  }
  const { service_type: serviceType, model, member_id, body_bytes: bytes } = row;
  const refusal = yield* queueRefusal({ memberId: member_id, jobs: 1, bytes }, limits);
  if (refusal !== null) return refusal;
  const fairKey = yield* enqueueKeys({ serviceType, model, memberId: member_id });
  const queued = yield* applyEvent(row, { event: 'retry' }, { now, random: 0, fairKey });
  if (queued === null) throw new Error(`the job ${id} could not be retried as ${row.status}`);
  yield* forgetResult.run({ id });
  yield* forgetAssets.run({ id });
  return { kind: 'queued', job: toJob({ ...queued, first_asset_id: null }) };
}

/** Looked up only for jobs of a batch: for every job it would be most of the time of a search. */
const BATCH_NAMES = `case when batch_id is not null then ${searched(CUSTOM_ID, BATCH_LABEL)} end`;

/**
 * True for every job without a filter. Evaluated along the index of the list until a page is full:
 * at worst nothing matches, and the index of all of a member's jobs is read, which
 * takes 3 ms for 10,000 jobs (test/web/many-jobs.test.ts). `instr` has no wildcards. `lower` of the
 * columns changes only A to Z: with JavaScript's `toLowerCase`, Ä would not match itself.
 */
const FITS = `(cast(@endpoints as text) is null
         or endpoint in (select value from json_each(@endpoints)))
       and (cast(@keyId as text) is null or key_id = @keyId)
       and (cast(@model as text) is null or instr(lower(model), @model) > 0
         or instr(lower(alias), @model) > 0)
       and ${isFound(searched('excerpt', 'alias', 'model', BATCH_NAMES))}
       and (cast(@modelId as text) is null or model = @modelId)
       and (cast(@batch as text) is null or batch_id = @batch
         or (@batch = 'none' and batch_id is null))`;

interface Page extends SearchTexts {
  readonly memberId: string | null;
  readonly keyId: string | null;
  readonly status: JobStatus | null;
  /** A JSON array. */
  readonly endpoints: string | null;
  /** With small letters A to Z. */
  readonly model: string | null;
  readonly modelId: string | null;
  readonly batch: string | null;
  /** Only jobs after this id. */
  readonly start: string;
  /** And up to this one. */
  readonly end: string;
  readonly limit: number;
}

/** One statement per index: one statement for all could use none of them. */
const lists = { asc: listsIn('asc'), desc: listsIn('desc') };

function listsIn(order: ListOrder) {
  const [behind, upTo] = order === 'asc' ? ['>', '<='] : ['<', '>='];
  const list = (condition: string, index = '') =>
    statement<Page, JobRow>(
      `select ${JOB_COLUMNS} from jobs ${index}
       where ${condition} id ${behind} @start and id ${upTo} @end and ${FITS}
       order by id ${order} limit @limit`,
    );
  const last = (condition: string) =>
    valueOf<Page, string>(
      `select id from jobs where ${condition} id ${behind} @start
         and (cast(@keyId as text) is null or key_id = @keyId)
       order by id ${order} limit 2 offset @limit`,
    );
  return {
    all: list(''),
    ofStatus: list('status = @status and'),
    ofMember: list('member_id = @memberId and'),
    // Else it is that of the status, which has the jobs of all members.
    ofBoth: list('member_id = @memberId and status = @status and', 'indexed by jobs_member_status'),
    lastOfMember: last('member_id = @memberId and'),
    lastOfBoth: last('member_id = @memberId and status = @status and'),
  };
}

/** The last of so many rows of each status, if others follow; the first of these ends. */
function* searchEnd(
  ...[query, rows]: Parameters<Operations['searchEnd']>
): ReturnType<Operations['searchEnd']> {
  const { statuses, order } = query;
  const start = yield* startOf(query, order);
  if (start === null) return null;
  const page = firstPage({ ...query, until: null, limit: rows - 1 }, start, order);
  const { lastOfMember, lastOfBoth } = lists[order];
  const lasts: string[] = [];
  for (const status of statuses ?? [null]) {
    const last = status === null ? lastOfMember : lastOfBoth;
    const [found, ...others] = yield* last.all({ ...page, status });
    if (found !== undefined && others.length > 0) lasts.push(found);
  }
  const inOrder = lasts.toSorted();
  return (order === 'asc' ? inOrder[0] : inOrder.at(-1)) ?? null;
}

const counted = {
  ofStatus: countOf('status = @status'),
  ofBoth: countOf('member_id = @memberId and status = @status'),
};

function countOf(condition: string) {
  return valueOf<Page, number>(
    `select count(*) from (
       select id from jobs where ${condition} and id >= @end and ${FITS} limit @limit) as chosen`,
  );
}

function* readPage(query: JobQuery, start: string): Operation<JobRow[]> {
  const { memberId, statuses, order, limit } = query;
  const page = firstPage(query, start, order);
  const { all, ofMember, ofStatus, ofBoth } = lists[order];
  if (statuses === null) return yield* (memberId === null ? all : ofMember).all(page);
  // Jobs of one status are adjacent in the index, those of several are not.
  const list = memberId === null ? ofStatus : ofBoth;
  const rows: JobRow[] = [];
  for (const status of new Set(statuses)) rows.push(...(yield* list.all({ ...page, status })));
  const isFirst = order === 'asc' ? isOlder : isNewer;
  return rows.toSorted((a, b) => (isFirst(a, b) ? -1 : 1)).slice(0, limit);
}

function firstPage(
  query: JobFilter & Pick<JobQuery, 'limit'>,
  start: string,
  order: ListOrder,
): Page {
  const { memberId, keyId = null, endpoints, model, search = null, limit } = query;
  const end = query.until ?? ENDS[order === 'asc' ? 'desc' : 'asc'];
  const filter = {
    endpoints: endpoints === null ? null : JSON.stringify(endpoints),
    model: model === null ? null : withSmallAscii(model),
    modelId: query.modelId ?? null,
    batch: query.batch ?? null,
    ...searchTexts(search),
  };
  return { memberId, keyId, status: null, ...filter, start, end, limit };
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
  table: 'jobs' | 'batches',
): (query: PageQuery, order: ListOrder) => Operation<string | null> {
  const find = valueOf<{ after: string; memberId: string | null; keyId: string | null }, string>(
    `select id from ${table}
     where id = @after and (member_id = @memberId or @memberId is null)
       and (key_id = @keyId or @keyId is null)`,
  );
  return function* ({ after, memberId, keyId = null }, order) {
    return after === null ? ENDS[order] : ((yield* find.get({ after, memberId, keyId })) ?? null);
  };
}

const startOf = pageStart('jobs');
