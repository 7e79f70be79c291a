/** `/v1/responses/{id}`: jobs that were submitted there with `background: true`. */
import { ApiError } from '@inference-gateway/shared/errors';
import { pendingResponse } from '@inference-gateway/shared/openai/responses/translation';
import type { PendingStatus } from '@inference-gateway/shared/openai/responses/translation';
import type { TranslationContext } from '@inference-gateway/shared/openai/translation';
import type Router from '@koa/router';
import type { JobStatus } from '../../core/jobs/job.js';
import type { JobActions } from '../../jobs/job-actions.js';
import type { Job, JobDetail, Store } from '../../store/port.js';
import { seesWorkOf } from '../../core/access/caller.js';
import type { Caller } from '../../core/access/caller.js';
import { callerOf } from '../edge/context.js';
import type { Context, RequestState } from '../edge/context.js';

export type ResponseStore = Pick<Store, 'findJob' | 'findJobContext'>;

export interface ResponseRouteParts {
  readonly jobActions: JobActions;
  readonly store: ResponseStore;
}

export function responseRoutes(router: Router<RequestState>, parts: ResponseRouteParts): void {
  const { jobActions, store } = parts;

  router.get('/v1/responses/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const detail = await findBackground(store, id, callerOf(ctx));
    if (ctx.query['stream'] === 'true') throw notStreamed();
    await answerResponse(ctx, detail, store);
  });

  router.post('/v1/responses/:id/cancel', async (ctx) => {
    const caller = callerOf(ctx);
    const id = ctx.params['id'] ?? '';
    const { job } = await findBackground(store, id, caller);
    await jobActions.cancel(job.id, caller.memberId);
    await answerResponse(ctx, await findBackground(store, id, caller), store);
  });
}

/** The submitted job, as its caller's API shows it. */
export function presentResponse(job: Job, context: TranslationContext): object {
  const { id } = job;
  const model = job.servedModel ?? job.alias ?? job.model;
  const createdAt = Math.floor(job.createdAt / 1000);
  const error = job.status === 'FAILED' ? job.error : null;
  return pendingResponse({ id, createdAt, model, context }, { status: PENDING[job.status], error });
}

/** Its result is stored in the form of the API. */
export async function answerResponse(
  ctx: Context,
  { job, result }: Pick<JobDetail, 'job' | 'result'>,
  store: ResponseStore,
): Promise<void> {
  if (result === null) {
    ctx.body = presentResponse(job, (await store.findJobContext(job.id)) ?? {});
    return;
  }
  ctx.type = 'json';
  ctx.body = result;
}

const PENDING: Readonly<Record<JobStatus, PendingStatus>> = {
  QUEUED: 'queued',
  PROCESSING: 'in_progress',
  // Erased between two reads.
  PROCESSED: 'in_progress',
  FAILED: 'failed',
  CANCELED: 'cancelled',
};

const PREFIX = 'resp_';

async function findBackground(
  store: ResponseStore,
  id: string,
  caller: Caller,
): Promise<JobDetail> {
  const isOurs = id.startsWith(PREFIX);
  const detail = isOurs ? await store.findJob(id.slice(PREFIX.length), caller.memberId) : null;
  if (detail?.job.api === 'responses' && seesWorkOf(caller, detail.job.keyId)) return detail;
  const message =
    `You have no response '${id}'. The gateway keeps only those that were requested with ` +
    "'background': true.";
  throw new ApiError('job_not_found', message);
}

function notStreamed(): ApiError {
  const message =
    "'stream' is true. A response in the background is fetched when it is complete: leave it away.";
  return new ApiError('unsupported_value', message, { param: 'stream' });
}
