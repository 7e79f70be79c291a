/** `/v1/jobs`: a member's own asynchronous requests. */
import { ApiError } from '@inference-gateway/shared/errors';
import type Router from '@koa/router';
import { isFinished } from '../../core/jobs/job.js';
import type { JobStatus } from '../../core/jobs/job.js';
import type { JobActions } from '../../jobs/job-actions.js';
import type { JobDetail, Store } from '../../store/port.js';
import { callerOf } from '../edge/context.js';
import type { Context, RequestState } from '../edge/context.js';
import { presentJob, writeJobDetail } from './present-job.js';
import { readJobQuery } from './read-job-query.js';
import { listOf, queryText } from '../edge/read-query.js';
import { nameReasoning, reasoningFieldOf } from '../inference/reasoning-field.js';
import { answerJob, presentationOf, queueFull } from './submit-job.js';
import type { SubmissionParts } from './submit-job.js';

/** Whoever waits longer is likely to be cut off by a proxy, or by their own client. */
const MAX_WAIT_S = 60;

export interface JobRouteParts extends Pick<SubmissionParts, 'assetLinks' | 'queueLimits'> {
  readonly desk: JobActions;
  readonly store: Pick<Store, 'findJob' | 'listJobs'>;
}

export function jobRoutes(router: Router<RequestState>, parts: JobRouteParts): void {
  const { desk, store } = parts;

  router.get('/v1/jobs', async (ctx) => {
    const { limit, ...query } = readJobQuery(ctx);
    // One more than asked for tells whether there are more.
    const jobs = await store.listJobs({ ...query, limit: limit + 1 });
    const presentation = await presentationOf(ctx, jobs.slice(0, limit), parts);
    ctx.body = listOf(jobs, limit, (job) => presentJob(job, presentation));
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
    const id = idOf(ctx);
    const outcome = await desk.cancel(id, callerOf(ctx).memberId);
    if (outcome.kind === 'unknown') throw jobNotFound(id);
    ctx.body = { id, status: outcome.job.status, canceled: outcome.kind === 'canceled' };
  });

  router.post('/v1/jobs/:id/retry', async (ctx) => {
    const id = idOf(ctx);
    const outcome = await desk.retry(id, callerOf(ctx).memberId);
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

/** Answers sooner where the job ends; whoever leaves is not waited for. */
async function awaitEnd(ctx: Context, waitMs: number, parts: JobRouteParts): Promise<JobDetail> {
  const { desk, store } = parts;
  const departure = new AbortController();
  ctx.res.once('close', () => departure.abort());
  if (ctx.res.destroyed) departure.abort();
  await desk.whenEnded(idOf(ctx), waitMs, departure.signal);
  return await findJob(ctx, store);
}

async function findJob(ctx: Context, store: JobRouteParts['store']): Promise<JobDetail> {
  const id = idOf(ctx);
  const detail = await store.findJob(id, callerOf(ctx).memberId);
  if (detail === null) throw jobNotFound(id);
  return detail;
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
