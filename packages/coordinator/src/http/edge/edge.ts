/** Middleware before routing: request id, path, CORS, log line. */
import { requestId } from '@inference-gateway/shared/ids';
import { LiveObjects } from '@inference-gateway/shared/live-objects';
import type { Clock } from '@inference-gateway/shared/clock';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { onceClosed } from './context.js';
import type { Context, Middleware } from './context.js';

const EXPOSED_HEADERS = [
  'x-request-id',
  'request-id',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'x-provider',
  'x-model',
  'x-attempts',
  'x-queue-ms',
  'x-gateway-overhead-ms',
  'x-max-tokens',
  'x-usage',
  'x-asset-url',
  'x-downgraded',
  'x-voice-fallback',
  'x-ignored-tools',
  'idempotency-replayed',
  'accept-ranges',
  'content-range',
  'etag',
].join(', ');

/**
 * Koa parses other targets with Node's old `url.parse`, which throws for `http://[::1/` or `//][#`;
 * in a listener that would end the process.
 */
const PLAIN_TARGET = /^\/[^#\s]*$/;
const ANY_ORIGIN = 'http://gateway';

const METHODS = 'GET, HEAD, POST, DELETE, OPTIONS';

/**
 * Sets the request's id and clock, and writes a log line when its answer has ended and its route
 * has: an answer often ends before the outcome is known.
 */
export function identify(logger: Logger, { now }: Clock): Middleware {
  return async (ctx, next) => {
    ctx.state.closers = [];
    ctx.res.once('close', () => close(ctx));
    ctx.state.requestId = requestId(now());
    ctx.state.receivedAt = performance.now();
    ctx.state.now = now;
    // Read now, because a closed socket has no address.
    ctx.state.ip = ctx.ip;
    ctx.set('x-request-id', ctx.state.requestId);
    passOnClose(ctx);
    try {
      await next();
    } finally {
      onceClosed(ctx, () => logRequest(logger, ctx));
    }
  };
}

function close({ state }: Context): void {
  const closers = state.closers ?? [];
  state.closers = null;
  for (const act of closers) act();
}

/**
 * Warns once about a proxy in front that is not trusted: all callers then have one address, and one
 * of them who guesses passwords blocks the log-in for all others.
 */
export function hintAtProxy(logger: Logger): Middleware {
  let isSaid = false;
  return (ctx, next) => {
    if (!isSaid && ctx.get('x-forwarded-for') !== '') {
      isSaid = true;
      const message =
        'a request names its caller in X-Forwarded-For, which is not believed: behind a proxy, ' +
        'all callers look like one address. Set GATEWAY_TRUST_PROXY to the number of proxies.';
      logger.warn({ ip: ctx.state.ip }, message);
    }
    return next();
  };
}

const UNTIDY = /\/\/|.\/$/;

/** Paths of other APIs that are served in the same form. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([['/v2/rerank', '/v1/rerank']]);

/** `/v1//models` and `/v1/models/` are `/v1/models`: base URLs often end in a slash. */
export const tidyPath: Middleware = (ctx, next) => {
  if (!PLAIN_TARGET.test(ctx.url)) ctx.url = toPlainTarget(ctx.url);
  const { path } = ctx;
  const tidy = UNTIDY.test(path) ? path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '') : path;
  const known = OTHER_NAMES.get(tidy) ?? tidy;
  if (known !== path) ctx.path = known;
  return next();
};

/** Whether the answer has the form of Anthropic's API. */
export function isMessagesCall(ctx: Context): boolean {
  const { path } = ctx;
  if (path === '/v1/messages' || path.startsWith('/v1/messages/')) return true;
  // Both APIs have it.
  const isModels = path === '/v1/models' || path.startsWith('/v1/models/');
  return isModels && ctx.get('anthropic-version') !== '';
}

/** Under the name at which clients of Anthropic's API look, too. */
export const nameRequest: Middleware = (ctx, next) => {
  if (isMessagesCall(ctx)) ctx.set('request-id', ctx.state.requestId);
  return next();
};

/** Browsers may call the API from anywhere with a key: `forbidOtherOrigins` for what has none. */
export const cors: Middleware = (ctx, next) => {
  if (!isPublicApi(ctx.path)) return next();
  ctx.set('Access-Control-Allow-Origin', '*');
  ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
  if (ctx.method !== 'OPTIONS') return next();
  const requested = ctx.get('Access-Control-Request-Headers');
  if (requested !== '') ctx.set('Access-Control-Allow-Headers', requested);
  ctx.vary('Access-Control-Request-Headers');
  ctx.set('Access-Control-Allow-Methods', METHODS);
  ctx.set('Access-Control-Max-Age', '86400');
  ctx.status = 204;
  return undefined;
};

/** Answers to requests with a cookie are only for the gateway's own pages. */
export function forbidOtherOrigins(ctx: Context): void {
  ctx.remove('Access-Control-Allow-Origin');
  ctx.remove('Access-Control-Expose-Headers');
}

/** The paths with the API's rules: key, CORS, rate-limit headers. */
export function isPublicApi(path: string): boolean {
  return path === '/v1' || path.startsWith('/v1/') || path.startsWith('/api/inference/');
}

/** Absolute URLs, which proxies may send, are reduced to their path; invalid ones get a 404. */
function toPlainTarget(target: string): string {
  const url = URL.canParse(target, ANY_ORIGIN) ? new URL(target, ANY_ORIGIN) : null;
  if (url?.pathname.startsWith('/') === true) return url.pathname + url.search;
  return `/${encodeURIComponent(target)}`;
}

/**
 * Node reports a closed connection only to its current response. One that waits behind another on
 * the same connection (pipelining) would hold its memory and its slot for ever.
 */
function passOnClose(ctx: Context): void {
  const { req, res } = ctx;
  const open = openOn(req.socket);
  open.add(res);
  onceClosed(ctx, () => open.delete(res));
}

const openAnswers = new WeakMap<Socket, LiveObjects<ServerResponse>>();

/** The answers of a connection that have not ended: a caller may send many requests at once. */
function openOn(socket: Socket): LiveObjects<ServerResponse> {
  const known = openAnswers.get(socket);
  if (known !== undefined) return known;
  const open = new LiveObjects<ServerResponse>();
  openAnswers.set(socket, open);
  socket.once('close', () => {
    for (const response of open.all()) response.emit('close');
  });
  return open;
}

function logRequest(logger: Logger, ctx: Context): void {
  const { requestId: req, receivedAt, ip, caller, inference } = ctx.state;
  const outcome = inference?.outcome;
  logger.info(
    {
      req,
      method: ctx.method,
      path: ctx.path,
      status: ctx.res.statusCode,
      ms: Math.round(performance.now() - receivedAt),
      ip,
      member: caller?.memberId,
      key: caller?.keyId,
      model: inference?.model,
      alias: inference?.alias,
      provider: outcome?.providerId ?? undefined,
      attempts: outcome?.attempts,
      outcome: outcome?.kind,
      code: outcome?.error?.code,
    },
    'request',
  );
}
