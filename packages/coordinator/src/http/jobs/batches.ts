/**
 * `/v1/batches`: asynchronous requests that are submitted together, up to 256 in the body or the
 * lines of a file.
 */
import { callPath } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import type { ParsedFileBatch } from '@inference-gateway/shared/openai/batch-files';
import { asItem, bodyOf } from '@inference-gateway/shared/openai/batch-requests';
import type { RequestLimits } from '@inference-gateway/shared/openai/requests';
import type Router from '@koa/router';
import { restrictedTo, seesWorkOf } from '../../core/access/caller.js';
import { MAX_OPEN_FILE_BATCHES } from '../../core/jobs/file-batch.js';
import type { JobActions } from '../../jobs/job-actions.js';
import { shuttingDown } from '../../run/failure.js';
import type { Batch, Store } from '../../store/port.js';
import type { JsonBodies } from '../bodies/body.js';
import { requireEndpoint } from '../edge/authenticate.js';
import { callerOf } from '../edge/context.js';
import type { Context, RequestState } from '../edge/context.js';
import { fileNotFound, ownFile } from '../assets/files.js';
import { presentBatch, presentOwnBatch } from './present-job.js';
import { mapInTurns } from '../bodies/map-in-turns.js';
import { Chain } from '../inference/chain.js';
import { callOf } from '../inference/read-call.js';
import { listOf, readPage } from '../edge/read-query.js';
import { acceptedOf, earlierOf, submitterOf, toJobItem } from './submit-job.js';
import type { SubmissionParts } from './submit-job.js';

/** Specification, section 8. */
const MAX_LIMIT = 50;

export interface BatchRouteParts extends Pick<
  SubmissionParts,
  'links' | 'queueLimits' | 'checkWebhook' | 'assetLinks'
> {
  readonly jobActions: JobActions;
  readonly store: Pick<Store, 'findOwnBatch' | 'listBatches' | 'findFile'>;
  readonly bodies: JsonBodies;
  readonly limits: RequestLimits;
  readonly isDraining: () => boolean;
}

export function batchRoutes(router: Router<RequestState>, parts: BatchRouteParts): void {
  const { jobActions, store } = parts;

  router.post('/v1/batches', async (ctx) => {
    if (parts.isDraining()) throw shuttingDown();
    await submitBatch(ctx, parts);
  });

  router.get('/v1/batches', async (ctx) => {
    const { limit, after } = readPage(ctx, MAX_LIMIT);
    // One more than requested shows whether there are more.
    const caller = callerOf(ctx);
    const query = {
      memberId: caller.memberId,
      keyId: restrictedTo(caller),
      limit: limit + 1,
      after,
    };
    ctx.body = listOf(await store.listBatches(query), limit, presentBatch);
  });

  router.get('/v1/batches/:id', async (ctx) => {
    const batch = await findBatch(ctx, ctx.params['id'] ?? '', store);
    ctx.body = presentOwnBatch(batch, parts.assetLinks.urlsFor(callerOf(ctx).assets ?? null));
  });

  router.post('/v1/batches/:id/cancel', async (ctx) => {
    const { id } = (await findBatch(ctx, ctx.params['id'] ?? '', store)).batch;
    const batch = await jobActions.cancelBatch(id, callerOf(ctx).memberId);
    if (batch === null) throw batchNotFound(id);
    ctx.body = presentBatch(batch);
  });
}

type OwnBatch = NonNullable<Awaited<ReturnType<Store['findOwnBatch']>>>;

async function findBatch(
  ctx: Context,
  id: string,
  store: BatchRouteParts['store'],
): Promise<OwnBatch> {
  const caller = callerOf(ctx);
  const detail = await store.findOwnBatch(id, caller.memberId);
  if (detail === null || !seesWorkOf(caller, detail.batch.keyId)) throw batchNotFound(id);
  return detail;
}

/**
 * A known `Idempotency-Key` is answered regardless of the body. All items are checked before any is
 * created; then all are created, or none.
 */
async function submitBatch(ctx: Context, parts: BatchRouteParts): Promise<void> {
  const { jobActions, bodies, limits, links } = parts;
  const earlier = await earlierOf(ctx, (memberId, key) =>
    jobActions.findSubmittedBatch(memberId, key),
  );
  if (earlier !== null) return answerBatch(ctx, earlier);
  const read = await bodies.readBatch(ctx, limits);
  if ('inputFileId' in read) return submitFileBatch(ctx, read, parts);
  const { items, label, webhook } = read;
  const submitter = { ...submitterOf(ctx, webhook, parts), label };
  const jobItems = await mapInTurns(items, ({ endpoint, ...judged }, index) =>
    asItem(bodyOf(index), () => {
      const api = judged.translated?.api ?? null;
      requireEndpoint(callerOf(ctx), callPath({ endpoint, api }));
      const asked = { endpoint, call: callOf(judged) };
      return toJobItem(asked, new Chain(asked, callerOf(ctx), links)).item;
    }),
  );
  answerBatch(ctx, acceptedOf(ctx, await jobActions.submitBatch(submitter, jobItems), parts));
}

async function submitFileBatch(
  ctx: Context,
  asked: ParsedFileBatch,
  parts: BatchRouteParts,
): Promise<void> {
  const { inputFileId, webhook, ...options } = asked;
  requireEndpoint(callerOf(ctx), asked.path);
  const file = await ownFile(ctx, inputFileId, parts.store);
  if (file === null) throw fileNotFound(inputFileId, 'input_file_id');
  if (file.purpose !== 'batch') {
    const message = `The file '${inputFileId}' is an output of a batch. Name an uploaded one.`;
    throw new ApiError('unsupported_value', message, { param: 'input_file_id' });
  }
  if (file.path !== asked.path) {
    const message =
      `'endpoint' is '${asked.path}', but the requests of the file are for '${file.path}'. ` +
      'Send the endpoint of the file.';
    throw new ApiError('invalid_value', message, { param: 'endpoint' });
  }
  const submitter = { ...submitterOf(ctx, webhook, parts), fileId: file.asset.id, ...options };
  const outcome = await parts.jobActions.submitFileBatch(submitter);
  switch (outcome.kind) {
    case 'no_file':
      throw fileNotFound(inputFileId, 'input_file_id');
    case 'too_many':
      throw tooManyBatches();
    case 'created':
    case 'replayed':
      return answerBatch(ctx, acceptedOf(ctx, outcome, parts));
  }
}

/** The status is that of the form in which the batch was submitted. */
function answerBatch(ctx: Context, batch: Batch): void {
  ctx.status = batch.file === null ? 202 : 200;
  ctx.body = presentBatch(batch);
}

const OPEN_BATCHES_RETRY_S = 60;

function tooManyBatches(): ApiError {
  const message =
    `You have ${MAX_OPEN_FILE_BATCHES} batches of files that have not ended, and no more are ` +
    'allowed. Wait until one has ended, or cancel one.';
  return new ApiError('queue_full', message, { retryAfterS: OPEN_BATCHES_RETRY_S });
}

function batchNotFound(id: string): ApiError {
  return new ApiError('batch_not_found', `You have no batch '${id}'. GET /v1/batches lists yours.`);
}
