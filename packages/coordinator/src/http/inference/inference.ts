/** Every inference endpoint, driven by the rows of the endpoint table. */
import { callPath, ENDPOINTS, ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { API_NAMES, TRANSLATED_APIS } from '@inference-gateway/shared/openai/translated-apis';
import type { ApiName, Translated } from '@inference-gateway/shared/openai/translated-apis';
import type Router from '@koa/router';
import type { ServerResponse } from 'node:http';
import { askedAmount } from '../../core/usage/quota.js';
import { accountsOf } from '../../core/usage/quotas.js';
import type { Reservations } from '../../core/usage/quotas.js';
import { askedTokens } from '../../core/usage/usage-bounds.js';
import { sessionIn } from '../../relay/conversations.js';
import type { Relay } from '../../relay/relay.js';
import { quotaExceeded, shuttingDown } from '../../run/failure.js';
import type { Call, Outcome } from '../../run/work.js';
import { NOTHING_MEASURED } from '../../assets/measures.js';
import type { Measures } from '../../assets/measures.js';
import type { AnswerParts } from '../answers/call-answers.js';
import { writeSparse } from '@inference-gateway/shared/json/sparse';
import { requireEndpoint } from '../edge/authenticate.js';
import { callerOf, departureOf } from '../edge/context.js';
import type { Context, RequestState } from '../edge/context.js';
import { Chain } from './chain.js';
import type { Asked, Turn } from './chain.js';
import type { FittedCall } from './fit-call.js';
import { CALL_KINDS, relayedKind } from './kinds.js';
import type { CallKind } from './kinds.js';
import { callOf, readCall } from './read-call.js';
import type { ReadCall, ReadingParts } from './read-call.js';
import { REASONING_HEADER, reasoningFieldOf } from './reasoning-field.js';
import { readSubmission, submitJob } from '../jobs/submit-job.js';
import type { SubmissionParts } from '../jobs/submit-job.js';
import type { ResponseStore } from '../jobs/responses.js';
import type { Store } from '../../store/port.js';

export interface InferenceParts extends AnswerParts, ReadingParts, SubmissionParts {
  readonly relay: Relay;
  readonly isDraining: () => boolean;
  /** False while it is not known who may use what. */
  readonly isCurrent: () => boolean;
  readonly quotas: Reservations;
  readonly store: ResponseStore & Pick<Store, 'noteWanted'>;
  /** Counts a finished call. */
  readonly meter: (work: Call, outcome: Outcome, measures: Measures) => void;
}

export function inferenceRoutes(router: Router<RequestState>, parts: InferenceParts): void {
  for (const endpoint of ENDPOINT_KEYS) {
    const { method, path, kind } = ENDPOINTS[endpoint];
    if (CALL_KINDS[kind].serve.from === 'translation') continue;
    router.register(`/v1${path}`, [method], routeOf({ endpoint, api: null }, parts));
  }
  for (const api of API_NAMES) {
    const { path, endpoint } = TRANSLATED_APIS[api];
    router.register(`/v1${path}`, ['POST'], routeOf({ endpoint, api }, parts));
  }
}

/** What a route serves; `api` is null for requests in the form of the endpoint. */
interface Served {
  readonly endpoint: EndpointKey;
  readonly api: ApiName | null;
}

function routeOf(served: Served, parts: InferenceParts): (ctx: Context) => Promise<void> {
  const { endpoint } = served;
  const path = callPath(served);
  const handle = handlerOf(CALL_KINDS[ENDPOINTS[endpoint].kind]);
  return async (ctx) => {
    if (parts.isDraining()) throw shuttingDown();
    // Before the body is read; reads without a body show nothing that is not listed anyway.
    if (ctx.method === 'POST') requireEndpoint(callerOf(ctx), path);
    const call = await readAny(ctx, served, parts);
    if (call === null) return;
    try {
      ctx.state.inference = { model: call.request.model };
      nameIgnoredTools(ctx, call.translated);
      await handle(ctx, { endpoint, call }, parts);
    } catch (error) {
      noteUnserved(ctx, { endpoint, call }, { error, ...parts });
      throw error;
    } finally {
      await call.remove();
    }
  };
}

interface Unserved extends Pick<InferenceParts, 'links' | 'store'> {
  readonly error: unknown;
}

/** What nobody serves for its caller is wanted; the name of an alias is that of no model. */
function noteUnserved(ctx: Context, asked: Asked, { error, links, store }: Unserved): void {
  if (!(error instanceof ApiError) || error.code !== 'model_not_found') return;
  const { memberId } = callerOf(ctx);
  const { alias } = new Chain(asked, callerOf(ctx), links);
  if (alias === null) store.noteWanted({ memberId, model: asked.call.request.model });
}

/** Null if it was submitted before, and has been answered. */
async function readAny(
  ctx: Context,
  { endpoint, api }: Served,
  parts: InferenceParts,
): Promise<ReadCall | null> {
  if (ENDPOINTS[endpoint].inferenceType === null) return readCall(ctx, endpoint, parts);
  const judge = () => parts.bodies.readRequest(ctx, { endpoint, api, limits: parts.limits });
  const submission = await readSubmission(ctx, judge, parts);
  return submission === null ? null : callOf(submission.take());
}

/** Tools of the caller's API that only its maker can run. */
const IGNORED_TOOLS_HEADER = 'x-ignored-tools';
/** Names in the header, and characters of each. */
const MAX_NAMED_TOOLS = 32;
const MAX_NAME_CHARACTERS = 64;

/** They are the caller's own words. */
function nameIgnoredTools(ctx: Context, translated: Translated | undefined): void {
  if (translated === undefined) return;
  const names = [...new Set(translated.ignoredTools)].slice(0, MAX_NAMED_TOOLS);
  const told = names.map((name) => name.slice(0, MAX_NAME_CHARACTERS).replaceAll(/[^\w.-]/g, '_'));
  if (told.length > 0) ctx.set(IGNORED_TOOLS_HEADER, told.join(', '));
}

type Handler = (ctx: Context, asked: Asked, parts: InferenceParts) => Promise<void>;

function handlerOf({ serve }: CallKind): Handler {
  if (serve.from !== 'memory') return run;
  return async (ctx, asked, parts) => {
    ctx.body = serve.tell(new Chain(asked, callerOf(ctx), parts.links).serving());
  };
}

function run(ctx: Context, asked: Asked, parts: InferenceParts): Promise<void> {
  return asked.call.request.async ? submitJob(ctx, asked, parts) : relay(ctx, asked, parts);
}

/** Runs the call now and answers it on the raw response. */
async function relay(ctx: Context, asked: Asked, parts: InferenceParts): Promise<void> {
  const { endpoint, call } = asked;
  const kind = relayedKind(endpoint);
  const chain = new Chain(asked, callerOf(ctx), parts.links);
  const { fitted } = chain.turn;
  const { res } = ctx;
  const departure = departureOf(ctx);
  let told: readonly string[] = [];
  // They describe an answer that may not arrive, or come from another model.
  const tell = (headers: FittedCall['headers']): void => {
    for (const name of told) ctx.remove(name);
    told = Object.keys(headers);
    ctx.set(headers);
  };
  const onTurn = (): void => tell(chain.turn.fitted.headers);
  const work = toCall(ctx, { asked, chain, signal: departure.signal, onTurn });
  // Before a GPU works: there must be space for the result.
  const makesFiles = ENDPOINTS[endpoint].media !== null;
  const spaceBytes = makesFiles ? await parts.library.requireSpace(work.caller.memberId) : 0;
  const answered = { ctx, work, call, spaceBytes, departure };
  const answer = kind.answer({ ...answered, fitted: () => chain.turn.fitted }, parts);
  // Last, so that nothing fails between the reservation and the run, whose meter ends it.
  await reserveQuota(work, fitted, parts.quotas);
  tell(fitted.headers);
  ctx.respond = false;
  const outcome = await parts.relay.run(work, answer);
  const { model } = outcome;
  ctx.state.inference = { model, outcome, ...(chain.alias && { alias: chain.alias.name }) };
  // For a file that broke off, the part that the caller got.
  const isSent = outcome.kind === 'ok' || answer.committed;
  parts.meter({ ...work, model }, outcome, isSent ? answer.measures : NOTHING_MEASURED);
  const isTold = outcome.kind === 'ok' || answer.fail(outcome.error);
  limitFlush(res, parts.timing.stallMs);
  if (outcome.error === null) return;
  ctx.respond = !isTold;
  if (!isTold) tell({});
  // Even if it was already sent: the error boundary logs its cause.
  throw outcome.error;
}

/** Throws `quota_exceeded` if a limit of the caller's key or account is reached. */
async function reserveQuota(work: Call, fitted: FittedCall, quotas: Reservations): Promise<void> {
  const accounts = accountsOf(work.caller);
  if (accounts.length === 0) return;
  const asked = askedAmount(work.endpoint, work.body, () => fitted.body);
  const refusal = await quotas.claim(work.requestId, accounts, asked);
  if (refusal !== null) throw quotaExceeded(refusal);
}

interface Calling {
  readonly asked: Asked;
  readonly chain: Chain;
  readonly signal: AbortSignal;
  /** Another model of the chain takes over. */
  readonly onTurn: () => void;
}

/** The call to the model whose turn it is. */
function toCall(ctx: Context, { asked, chain, signal, onTurn }: Calling): Call {
  const { endpoint, call } = asked;
  const receivedAt = call.files.length > 0 ? performance.now() : ctx.state.receivedAt;
  const session = sessionOf(ctx, call);
  const common = {
    requestId: ctx.state.requestId,
    caller: chain.caller,
    endpoint,
    uploads: call.files,
    ...(call.reading !== undefined && { prefixes: call.reading.prefixes }),
    ...(session !== null && { session }),
    stream: call.request.stream,
    receivedAt,
    signal,
    limitMs: readClientTimeout(ctx, receivedAt),
    // A translation reads the default, and has its own form for it.
    ...(ctx.get(REASONING_HEADER) !== '' &&
      call.translated === undefined && { reasoningField: reasoningFieldOf(ctx) }),
  };
  const next = (): Call | null => {
    if (chain.next() === null) return null;
    onTurn();
    return ofTurn();
  };
  const ofTurn = (): Call => ({
    ...common,
    ...sentTo(chain.turn, endpoint),
    ...(chain.alias && { alias: chain.alias, next }),
  });
  return ofTurn();
}

function sentTo({ model, fitted }: Turn, endpoint: EndpointKey) {
  const asked = askedTokens(endpoint, () => fitted.body);
  const body = writeSparse(fitted.body);
  // Answers are computed in parallel.
  return { model, needs: fitted.needs, body, slots: asked?.sequences ?? 1, asked };
}

/** Headers in which programs name the session of a call. */
const SESSION_HEADERS = ['x-session-id', 'x-session-affinity'];

function sessionOf(ctx: Context, { reading, request }: ReadCall): string | null {
  const named = SESSION_HEADERS.map((name) => ctx.get(name)).find((value) => value !== '');
  return named ?? (reading === undefined ? sessionIn(request.body) : reading.session);
}

/** An answer that its caller does not read would otherwise stay in memory without limit. */
function limitFlush(response: ServerResponse, stallMs: number): void {
  if (response.writableLength > 0) response.setTimeout(stallMs, () => response.destroy());
}

/** SDKs send their timeout, including the upload; computing for longer would be useless. */
function readClientTimeout(ctx: Context, receivedAt: number): number | null {
  const seconds = Number(ctx.get('x-stainless-timeout'));
  if (!Number.isFinite(seconds) || seconds <= 0) return null;
  return Math.max(1, seconds * 1000 - (receivedAt - ctx.state.receivedAt));
}
