/** Every inference endpoint, driven by the rows of the endpoint table. */
import { ENDPOINTS, ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import {
  parseChatRequest,
  parseCompletionRequest,
  parseModelRequest,
} from '@inference-gateway/shared/openai/requests';
import type { ParsedRequest } from '@inference-gateway/shared/openai/requests';
import type Router from '@koa/router';
import type { ServerResponse } from 'node:http';
import type { Sessions } from '../../core/sessions.js';
import { modelNotFound } from '../../dispatch/absence.js';
import type { Direct } from '../../dispatch/direct.js';
import { shuttingDown } from '../../dispatch/failure.js';
import { CALLER_STALLED } from '../../dispatch/work.js';
import type { Outcome, Work } from '../../dispatch/work.js';
import { writeJson } from '../body.js';
import type { JsonBodies } from '../body.js';
import { callerOf } from '../context.js';
import type { Context, RequestState } from '../context.js';
import { JsonAnswer } from '../json-answer.js';
import { StreamAnswer } from '../stream-answer.js';
import type { StreamTiming } from '../stream-answer.js';
import { readUploadFields } from '../upload.js';

export interface InferenceParts {
  readonly direct: Direct;
  readonly sessions: Sessions;
  readonly bodies: JsonBodies;
  readonly timing: StreamTiming;
  readonly isDraining: () => boolean;
  /** Counts a finished call. */
  readonly meter: (work: Work, outcome: Outcome) => void;
}

/** Endpoints whose requests are relayed; a call of any other finds no provider. */
const PARSERS: Partial<Record<EndpointKey, (value: unknown) => ParsedRequest>> = {
  chat: parseChatRequest,
  completions: parseCompletionRequest,
};

export function inferenceRoutes(router: Router<RequestState>, parts: InferenceParts): void {
  for (const key of ENDPOINT_KEYS) {
    const { method, path } = ENDPOINTS[key];
    router.register(`/v1${path}`, [method], async (ctx: Context) => {
      if (parts.isDraining()) {
        throw shuttingDown();
      }
      const parse = PARSERS[key];
      if (parse === undefined) await refuseUnserved(ctx, key, parts);
      else await relay(ctx, toWork(ctx, key, parse(await parts.bodies.read(ctx))), parts);
    });
  }
}

type Prepared = Omit<Work, 'signal'>;

function toWork(ctx: Context, endpoint: EndpointKey, request: ParsedRequest): Prepared {
  refuseAsync(request);
  ctx.state.inference = { model: request.model };
  return {
    requestId: ctx.state.requestId,
    caller: callerOf(ctx),
    endpoint,
    model: request.model,
    body: writeJson(request.body),
    stream: request.stream,
    receivedAt: ctx.state.receivedAt,
    limitMs: readClientTimeout(ctx),
  };
}

/** Runs the call and answers it on the raw response. */
async function relay(ctx: Context, prepared: Prepared, parts: InferenceParts): Promise<void> {
  const { res } = ctx;
  const departure = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) departure.abort();
  });
  const work: Work = { ...prepared, signal: departure.signal };
  const sink = work.stream
    ? new StreamAnswer(res, parts.timing, () => departure.abort(CALLER_STALLED))
    : new JsonAnswer(res);
  ctx.respond = false;
  const outcome = await parts.direct.run(work, sink);
  ctx.state.inference = { model: work.model, outcome };
  parts.meter(work, outcome);
  const error = outcome.kind === 'failed' ? outcome.error : null;
  const isTold = error !== null && sink instanceof StreamAnswer && sink.fail(error);
  limitFlush(res, parts.timing.stallMs);
  if (error === null) return;
  ctx.respond = !isTold;
  // Even where it is told already: the boundary logs what lies behind it.
  throw error;
}

/** A whole answer that its caller does not fetch would stay in memory for as long as they like. */
function limitFlush(response: ServerResponse, stallMs: number): void {
  if (response.writableLength > 0) response.setTimeout(stallMs, () => response.destroy());
}

/** Reads as much as an answer needs: who calls is known, what for is the model. */
async function refuseUnserved(
  ctx: Context,
  key: EndpointKey,
  parts: InferenceParts,
): Promise<void> {
  const model = await readModel(ctx, key, parts);
  ctx.state.inference = { model };
  throw modelNotFound({ caller: callerOf(ctx), endpoint: key, model }, parts.sessions);
}

async function readModel(ctx: Context, key: EndpointKey, parts: InferenceParts): Promise<string> {
  switch (ENDPOINTS[key].body) {
    case 'json': {
      const request = parseModelRequest(await parts.bodies.read(ctx));
      refuseAsync(request);
      return request.model;
    }
    case 'multipart':
      return modelField(await readUploadFields(ctx));
    case 'query':
      return parseModelRequest({ model: ctx.query['model'] }).model;
  }
}

function modelField(fields: ReadonlyMap<string, string>): string {
  const asked = fields.get('async');
  if (asked === 'true') {
    const message = 'Uploads cannot run as jobs. Leave the field async away.';
    throw new ApiError('async_not_supported', message, { param: 'async' });
  }
  return parseModelRequest({ model: fields.get('model') }).model;
}

function refuseAsync(request: ParsedRequest): void {
  if (request.async) throw asyncDisabled();
}

/** Specification, Async submission 7. */
export function asyncDisabled(): ApiError {
  const message = 'Asynchronous processing is not enabled on this gateway. Leave async away.';
  return new ApiError('async_disabled', message);
}

/** The SDKs tell how long they wait; to compute for longer would be for nobody. */
function readClientTimeout(ctx: Context): number | null {
  const seconds = Number(ctx.get('x-stainless-timeout'));
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}
