/** The error boundary: turns errors into answers. */
import { ApiError, errorRow } from '@inference-gateway/shared/errors';
import { messagesError } from '@inference-gateway/shared/openai/messages/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Middleware } from './context.js';
import { isMessagesCall } from './edge.js';

/** How long a refused upload is still read, so that its sender gets the answer and not a reset. */
const LINGER_MS = 1_000;

export function errorBoundary(logger: Logger): Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      answerError(ctx, toApiError(error, ctx, logger));
    }
  };
}

function toApiError(error: unknown, ctx: Context, logger: Logger): ApiError {
  if (error instanceof ApiError) {
    const internal = error.status >= 500 && error.cause !== undefined;
    if (internal) logger.error({ err: error.cause, req: ctx.state.requestId }, error.message);
    return error;
  }
  logger.error({ err: error, req: ctx.state.requestId }, 'internal error');
  const message = `The gateway failed. Tell its admin the request id ${ctx.state.requestId}.`;
  return new ApiError('internal_error', message, { cause: error });
}

function answerError(ctx: Context, error: ApiError): void {
  if (ctx.headerSent || ctx.res.destroyed) return;
  const row = errorRow(error.code);
  const { status, body } = isMessagesCall(ctx) ? messagesError(error, ctx.state.requestId) : error;
  ctx.status = status;
  ctx.set(error.headers);
  if (row.shouldRetry !== undefined) ctx.set('x-should-retry', String(row.shouldRetry));
  if (error.retryAfterS !== undefined) {
    setRetryAfter(ctx, error.retryAfterS, row.waitsLong === true ? Infinity : MAX_WAIT_S);
  }
  if (error.status === 401) ctx.set('WWW-Authenticate', 'Bearer');
  ctx.body = body;
  if (row.closes !== true) return;
  ctx.set('Connection', 'close');
  ctx.respond = false;
  answerAndLinger(ctx.req, ctx.res, JSON.stringify(body));
}

/** Some clients give up on a longer wait. */
const MAX_WAIT_S = 60;

/** Whole seconds, at least 1. */
function setRetryAfter(ctx: Context, seconds: number, most: number): void {
  const whole = Math.min(most, Math.max(1, Math.ceil(seconds)));
  ctx.set('Retry-After', String(whole));
  ctx.set('retry-after-ms', String(whole * 1000));
}

/**
 * Closing at once would reset a connection on which the caller is still sending, and lose the
 * answer.
 */
function answerAndLinger(request: IncomingMessage, response: ServerResponse, body: string): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.write(body);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('end', end).once('close', end).resume();
}
