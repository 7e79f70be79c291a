/** From a checked request to a queued job and its answer. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import type { Translated } from '@inference-gateway/shared/openai/translated-apis';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type { WebhookTarget } from '@inference-gateway/shared/openai/webhook';
import type { AssetLibrary } from '../../assets/asset-library.js';
import type { AssetLinks } from '../../assets/asset-links.js';
import { restrictedTo } from '../../core/access/caller.js';
import type { Links } from '../../core/routing/links.js';
import type { Asking } from '../../core/routing/match.js';
import type { JobActions, Submitter, Waiting } from '../../jobs/job-actions.js';
import type { Job, NewJobItem, QueueFull, SubmitOutcome } from '../../store/port.js';
import { writeSparse } from '@inference-gateway/shared/json/sparse';
import { callerOf } from '../edge/context.js';
import type { Context } from '../edge/context.js';
import { Chain } from '../inference/chain.js';
import type { Asked } from '../inference/chain.js';
import { excerptOfCall } from '../inference/read-call.js';
import { answerResponse, presentResponse } from './responses.js';
import type { ResponseStore } from './responses.js';
import { presentJob } from './present-job.js';
import type { Presentation } from './present-job.js';
import type { Judged, JudgedRequest } from '../bodies/judge-body.js';

export interface SubmissionParts {
  /** Null: asynchronous processing is not enabled. */
  readonly jobActions: JobActions | null;
  /** Limits of a member's queued jobs. */
  readonly queueLimits: { readonly maxQueuedJobs: number; readonly maxQueuedBytes: number };
  /** Throws an `ApiError` if a webhook's address is not permitted. */
  readonly checkWebhook: (url: string) => void;
  readonly links: Links;
  readonly library: AssetLibrary;
  readonly assetLinks: AssetLinks;
  readonly store: ResponseStore;
}

/** Queues the call instead of running it (specification, Async submission 1 and 2). */
export async function submitJob(ctx: Context, asked: Asked, parts: SubmissionParts): Promise<void> {
  const { jobActions, links, library } = parts;
  if (jobActions === null) throw asyncDisabled();
  const submitter = submitterOf(ctx, asked.call.request.webhook, parts);
  const chain = new Chain(asked, callerOf(ctx), links);
  // Online or not: a model that never existed is probably a typing error, and refused at once.
  chain.requireKnown();
  const { item, headers } = toJobItem(asked, chain);
  if (ENDPOINTS[asked.endpoint].media !== null) await library.requireSpace(submitter.memberId);
  const { job, waiting } = acceptedOf(ctx, await jobActions.submit(submitter, item), parts);
  ctx.set(headers);
  const { translated } = asked.call;
  if (translated?.isBackground === true) {
    ctx.body = presentResponse(job, translated.context);
    return;
  }
  const places = waiting === null ? [] : [[job.id, waiting] as const];
  answer(ctx, job, { urlOf: urlsOf(ctx, parts), waiting: new Map(places) });
}

/**
 * The body of a request that may be a submission, before it is checked. Null if nothing needs to be
 * checked: its `Idempotency-Key` created a job before, which is returned with any body.
 * Throws `async_disabled` before any other error of a submission.
 */
export async function readSubmission(
  ctx: Context,
  judge: () => Promise<Judged<JudgedRequest>>,
  { jobActions, assetLinks, store }: Pick<SubmissionParts, 'jobActions' | 'assetLinks' | 'store'>,
): Promise<Judged<JudgedRequest> | null> {
  const read = await readOrFault(judge);
  const isReadable = 'take' in read;
  if (isReadable && read.submission === null) return read;
  if (isReadable && jobActions === null) throw asyncDisabled();
  // Whether an unreadable body was a submission is only known from a known key.
  if (jobActions !== null && (isReadable || hasUsableKey(ctx))) {
    const earlier = await earlierOf(ctx, (memberId, key) =>
      jobActions.findSubmitted(memberId, key),
    );
    if (earlier !== null) {
      const isBackground = isReadable && read.submission === 'background';
      if (isBackground && earlier.api === 'responses') await replayResponse(ctx, earlier, store);
      else await answerJob(ctx, earlier, { jobActions, assetLinks });
      return null;
    }
  }
  if (isReadable) return read;
  throw read.fault;
}

async function replayResponse(ctx: Context, job: Job, store: ResponseStore): Promise<void> {
  const detail = await store.findJob(job.id, callerOf(ctx).memberId);
  await answerResponse(ctx, detail ?? { job, result: null }, store);
}

/** The caller's earlier submission with this `Idempotency-Key`, with the header that says so. */
export async function earlierOf<T>(
  ctx: Context,
  find: (memberId: string, key: string) => Promise<T | null>,
): Promise<T | null> {
  const key = readIdempotencyKey(ctx);
  const earlier = key === null ? null : await find(callerOf(ctx).memberId, key);
  if (earlier !== null) ctx.set(REPLAYED, 'true');
  return earlier;
}

type Read = Judged<JudgedRequest> | { readonly fault: unknown };

async function readOrFault(judge: () => Promise<Judged<JudgedRequest>>): Promise<Read> {
  try {
    return await judge();
  } catch (fault) {
    return { fault };
  }
}

const REPLAYED = 'Idempotency-Replayed';

/** The item of a job, and the headers that tell how it was fitted to the available models. */
export function toJobItem(
  { endpoint, call }: Asked,
  { alias, turn }: Chain<Asking>,
): { readonly item: NewJobItem; readonly headers: Readonly<Record<string, string>> } {
  const { body, needs, headers } = turn.fitted;
  const { stream: _stream, stream_options: _options, ...whole } = body;
  const named = { model: turn.model, ...(alias && { alias: alias.name }) };
  const excerpt = excerptOfCall(endpoint, call);
  const item = { endpoint, ...named, needs, body: writeSparse(whole), excerpt };
  if (call.translated === undefined) return { item, headers };
  return { item: { ...item, translation: translationOf(call.translated) }, headers };
}

/** Characters, as JSON, of what the answer of a job needs of its request. */
const MAX_CONTEXT_CHARACTERS = 64 * 1024;

function translationOf({ api, context }: Translated): NonNullable<NewJobItem['translation']> {
  const { length } = JSON.stringify(context);
  if (length <= MAX_CONTEXT_CHARACTERS) return { api, context };
  const message =
    `The names of the tools take ${length} characters in a job; ${MAX_CONTEXT_CHARACTERS} are ` +
    'allowed. Send fewer tools, or the request without a job.';
  throw new ApiError('invalid_value', message, { param: 'tools' });
}

/** Throws `invalid_value` if the webhook or the header `Idempotency-Key` is invalid. */
export function submitterOf(
  ctx: Context,
  webhook: WebhookTarget | null,
  { checkWebhook }: Pick<SubmissionParts, 'checkWebhook'>,
): Submitter {
  if (webhook !== null) checkWebhook(webhook.url);
  const { memberId, keyId, scope } = callerOf(ctx);
  const { requestId } = ctx.state;
  return { memberId, keyId, scope, requestId, idempotencyKey: readIdempotencyKey(ctx), webhook };
}

/** The created job, or that of an earlier submission with the same key. Throws an `ApiError`. */
export function acceptedOf<T>(
  ctx: Context,
  outcome: SubmitOutcome<T>,
  { queueLimits }: Pick<SubmissionParts, 'queueLimits'>,
): T {
  if (outcome.kind === 'queue_full') throw queueFull(outcome, queueLimits);
  if (outcome.kind === 'member_gone') {
    throw new ApiError('invalid_api_key', 'Your account was deleted meanwhile. Ask the admin.');
  }
  if (outcome.kind === 'replayed') ctx.set(REPLAYED, 'true');
  return outcome.value;
}

/** 202 with the current state of the job. */
export async function answerJob(ctx: Context, job: Job, parts: PresentingParts): Promise<void> {
  answer(ctx, job, await presentationOf(ctx, [job], parts));
}

function answer(ctx: Context, job: Job, presentation: Presentation): void {
  ctx.status = 202;
  ctx.body = presentJob(job, presentation);
}

export interface PresentingParts {
  readonly jobActions: JobActions;
  readonly assetLinks: AssetLinks;
}

/** Reads positions only if one of them is QUEUED. */
export async function presentationOf(
  ctx: Context,
  jobs: readonly Job[],
  { jobActions, assetLinks }: PresentingParts,
): Promise<Presentation> {
  const queued = jobs.filter(({ status }) => status === 'QUEUED');
  const waiting =
    queued.length === 0 ? new Map<string, Waiting>() : await jobActions.waiting(queued);
  return { urlOf: urlsOf(ctx, { assetLinks }), waiting };
}

function urlsOf(ctx: Context, { assetLinks }: Pick<PresentingParts, 'assetLinks'>) {
  return assetLinks.urlsFor(callerOf(ctx).assets ?? null);
}

/** Specification, Async submission 7. */
export function asyncDisabled(): ApiError {
  const message = 'Asynchronous processing is not enabled on this gateway. Leave async away.';
  return new ApiError('async_disabled', message);
}

/** A queue empties slowly, but clients that retry by themselves wait at most a minute. */
const QUEUE_FULL_RETRY_S = 30;

export function queueFull(
  { limit, queued }: QueueFull,
  { maxQueuedJobs, maxQueuedBytes }: SubmissionParts['queueLimits'],
): ApiError {
  const full =
    limit === 'jobs'
      ? `You have ${queued} jobs queued, and ${maxQueuedJobs} are allowed.`
      : `Your queued requests have ${queued} bytes, and ${maxQueuedBytes} are allowed.`;
  const message = `${full} Try again in ${QUEUE_FULL_RETRY_S} seconds.`;
  return new ApiError('queue_full', message, { retryAfterS: QUEUE_FULL_RETRY_S });
}

const MAX_KEY_CHARACTERS = 255;
const USABLE_KEY = new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_CHARACTERS}}$`);
/** Characters of an invalid key that are repeated in the error. */
const MAX_SHOWN = 80;

function readIdempotencyKey(ctx: Context): string | null {
  const written = ctx.headers['idempotency-key'];
  if (written === undefined) return null;
  const key = String(written);
  // A restricted key replays no submission of another one.
  const own = restrictedTo(callerOf(ctx));
  if (USABLE_KEY.test(key)) return own === null ? key : hashSecret(`${own} ${key}`);
  const shown = JSON.stringify(key.slice(0, MAX_SHOWN));
  const message =
    `The header Idempotency-Key is ${shown} (${key.length} characters): ` +
    `it must be 1 to ${MAX_KEY_CHARACTERS} printable ASCII characters, for example a UUID.`;
  throw new ApiError('invalid_value', message, { param: 'Idempotency-Key' });
}

function hasUsableKey(ctx: Context): boolean {
  return USABLE_KEY.test(ctx.get('idempotency-key'));
}
