/** `/v1/jobs`: a member's own asynchronous requests. */
import { ApiError } from '@inference-gateway/shared/errors';
import type Router from '@koa/router';
import { ENDPOINT_KEYS, ENDPOINTS, INFERENCE_TYPES } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { restrictedTo, seesWorkOf } from '../../core/access/caller.js';
import { isFinished, JOB_STATUSES } from '../../core/jobs/job.js';
import type { JobStatus } from '../../core/jobs/job.js';
import type { JobActions } from '../../jobs/job-actions.js';
import type { JobDetail, JobQuery, ListOrder, NamedJob, Store } from '../../store/port.js';
import { callerOf, departureOf } from '../edge/context.js';
import type { Context, RequestState } from '../edge/context.js';
import { presentJob, presentNames, writeJobDetail } from './present-job.js';
import { foundOf, queryText, readPage, readSearch, searchRows } from '../edge/read-query.js';
import type { Found } from '../edge/read-query.js';
import { nameReasoning, reasoningFieldOf } from '../inference/reasoning-field.js';
import { answerJob, presentationOf, queueFull } from './submit-job.js';
import type { SubmissionParts } from './submit-job.js';

/** A longer wait is likely to be cut off by a proxy, or by the client itself. */
const MAX_WAIT_S = 60;

export interface JobRouteParts extends Pick<SubmissionParts, 'assetLinks' | 'queueLimits'> {
  readonly jobActions: JobActions;
  readonly store: Pick<Store, 'findOwnJob' | 'listOwnJobs' | 'searchEnd'>;
}

export function jobRoutes(router: Router<RequestState>, parts: JobRouteParts): void {
  const { jobActions, store } = parts;

  router.get('/v1/jobs', async (ctx) => {
    const { limit, ...query } = readJobQuery(ctx);
    // One more than requested shows whether there are more.
    const found = await findJobs({ ...query, limit: limit + 1 }, store);
    const shown = found.rows.slice(0, limit).map(({ job }) => job);
    const presentation = await presentationOf(ctx, shown, parts);
    ctx.body = foundOf(found, limit, ({ job, names }) => ({
      ...presentJob(job, presentation),
      ...presentNames(names),
    }));
  });

  router.get('/v1/jobs/:id', async (ctx) => {
    const waitMs = readWaitMs(ctx);
    const reasoningField = reasoningFieldOf(ctx);
    const detail = await findJob(ctx, store);
    const isOver = waitMs === 0 || isFinished(detail.job.status);
    const latest = isOver ? detail : await awaitEnd(ctx, waitMs, parts);
    const presentation = await presentationOf(ctx, [latest.job], parts);
    const result = latest.result && nameReasoning(latest.result, reasoningField);
    ctx.type = 'json';
    ctx.body = writeJobDetail({ ...latest, result }, presentation);
  });

  router.post('/v1/jobs/:id/cancel', async (ctx) => {
    const id = await visibleId(ctx, store);
    const outcome = await jobActions.cancel(id, callerOf(ctx).memberId);
    if (outcome.kind === 'unknown') throw jobNotFound(id);
    ctx.body = { id, status: outcome.job.status, canceled: outcome.kind === 'canceled' };
  });

  router.post('/v1/jobs/:id/retry', async (ctx) => {
    const id = await visibleId(ctx, store);
    const outcome = await jobActions.retry(id, callerOf(ctx).memberId);
    switch (outcome.kind) {
      case 'unknown':
        throw jobNotFound(id);
      case 'not_retryable':
        throw notRetryable(id, outcome.job.status);
      case 'queue_full':
        throw queueFull(outcome, parts.queueLimits);
      case 'queued':
        await answerJob(ctx, outcome.job, parts);
    }
  });
}

type OwnJobs = JobQuery & { readonly memberId: string };

async function findJobs(query: OwnJobs, store: JobRouteParts['store']): Promise<Found<NamedJob>> {
  if (query.search === null) return { rows: await store.listOwnJobs(query), next: null };
  return await searchRows(query, {
    endOf: (after, rows) => store.searchEnd({ ...query, after }, rows),
    read: (page) => store.listOwnJobs({ ...query, ...page }),
  });
}

/** Answers earlier if the job ends; stops if the caller leaves. */
async function awaitEnd(ctx: Context, waitMs: number, parts: JobRouteParts): Promise<OwnJob> {
  const { jobActions, store } = parts;
  const departure = departureOf(ctx);
  await jobActions.whenEnded(idOf(ctx), waitMs, departure.signal);
  return await findJob(ctx, store);
}

type OwnJob = JobDetail & Pick<NamedJob, 'names'>;

async function findJob(ctx: Context, store: JobRouteParts['store']): Promise<OwnJob> {
  const id = idOf(ctx);
  const caller = callerOf(ctx);
  const detail = await store.findOwnJob(id, caller.memberId);
  if (detail === null || !seesWorkOf(caller, detail.job.keyId)) throw jobNotFound(id);
  return detail;
}

/** For changes, which check the member themselves, but not the key. */
async function visibleId(ctx: Context, store: JobRouteParts['store']): Promise<string> {
  if (restrictedTo(callerOf(ctx)) === null) return idOf(ctx);
  return (await findJob(ctx, store)).job.id;
}

function readWaitMs(ctx: Context): number {
  const written = queryText(ctx, 'wait') ?? '0';
  const seconds = /^\d{1,2}(\.\d{1,3})?$/.test(written) ? Number(written) : Infinity;
  if (seconds <= MAX_WAIT_S) return seconds * 1000;
  const message = `wait is '${written}': it must be from 0 to ${MAX_WAIT_S} seconds.`;
  throw new ApiError('invalid_value', message, { param: 'wait' });
}

function idOf(ctx: Context & { params?: Record<string, string> }): string {
  return ctx.params?.['id'] ?? '';
}

function jobNotFound(id: string): ApiError {
  return new ApiError('job_not_found', `You have no job '${id}'. GET /v1/jobs lists yours.`);
}

function notRetryable(id: string, status: JobStatus): ApiError {
  const message = `The job '${id}' is ${status}. Only FAILED and CANCELED jobs can be retried.`;
  return new ApiError('job_not_retryable', message);
}

// Filters of the list of jobs.

const MAX_LIMIT = 500;

/** Characters of the searched part of a model's id. */
const MAX_MODEL_CHARACTERS = 256;

const ACTIVE: readonly JobStatus[] = ['QUEUED', 'PROCESSING'];

/** Throws `invalid_value` if a parameter of the query is invalid. */
function readJobQuery(ctx: Context): OwnJobs {
  const caller = callerOf(ctx);
  return {
    memberId: caller.memberId,
    keyId: restrictedTo(caller),
    statuses: readStatuses(ctx),
    endpoints: readEndpoints(ctx),
    model: readModel(ctx, 'model'),
    modelId: readModel(ctx, 'model_id'),
    batch: readBatch(ctx),
    search: readSearch(ctx),
    order: readOrder(ctx),
    ...readPage(ctx, MAX_LIMIT),
  };
}

/** Null: every status. Two filters select what matches both. */
function readStatuses(ctx: Context): readonly JobStatus[] | null {
  const asked = readStatus(ctx);
  if (!readActive(ctx)) return asked === null ? null : [asked];
  return ACTIVE.filter((status) => asked === null || status === asked);
}

function readStatus(ctx: Context): JobStatus | null {
  const written = queryText(ctx, 'status');
  const status = JOB_STATUSES.find((one) => one === written);
  if (written === null || status !== undefined) return status ?? null;
  const message = `status is '${written}': it must be one of ${JOB_STATUSES.join(', ')}.`;
  throw new ApiError('invalid_value', message, { param: 'status' });
}

function readActive(ctx: Context): boolean {
  const written = queryText(ctx, 'active') ?? '0';
  if (written === '0' || written === '1') return written === '1';
  const message = `active is '${written}': it must be 1, for what has not ended, or 0, for all.`;
  throw new ApiError('invalid_value', message, { param: 'active' });
}

/** Endpoints of one inference type; null: all. */
function readEndpoints(ctx: Context): readonly EndpointKey[] | null {
  const written = queryText(ctx, 'type');
  if (written === null) return null;
  const type = INFERENCE_TYPES.find((one) => one === written);
  if (type !== undefined) {
    return ENDPOINT_KEYS.filter((key) => ENDPOINTS[key].inferenceType === type);
  }
  const message = `type is '${written}': it must be one of ${INFERENCE_TYPES.join(', ')}.`;
  throw new ApiError('invalid_value', message, { param: 'type' });
}

/** A part of an id, or a whole id. */
function readModel(ctx: Context, param: 'model' | 'model_id'): string | null {
  const written = queryText(ctx, param);
  if (written === null) return null;
  const { length } = written;
  if (length >= 1 && length <= MAX_MODEL_CHARACTERS) return written;
  const what = param === 'model' ? "a part of a model's id" : "a model's id";
  const range = `from 1 to ${MAX_MODEL_CHARACTERS}`;
  const message = `${param} has ${length} characters: it must be ${what}, ${range}.`;
  throw new ApiError('invalid_value', message, { param });
}

function readBatch(ctx: Context): string | null {
  const written = queryText(ctx, 'batch_id');
  if (written === null || written === 'none' || /^[0-9A-Z]{26}$/.test(written)) return written;
  const message = `batch_id is '${written}': it must be the id of a batch, or none.`;
  throw new ApiError('invalid_value', message, { param: 'batch_id' });
}

function readOrder(ctx: Context): ListOrder {
  const written = queryText(ctx, 'order') ?? 'desc';
  if (written === 'asc' || written === 'desc') return written;
  const message = `order is '${written}': it must be desc, the newest first, or asc, the oldest.`;
  throw new ApiError('invalid_value', message, { param: 'order' });
}
