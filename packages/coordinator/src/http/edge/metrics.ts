/**
 * `GET /metrics` for Prometheus. The caller's address does not grant access, because behind a proxy
 * every caller has the loopback address: it requires a token, or its own port.
 */
import { readBearer } from '@inference-gateway/shared/bearer';
import { ApiError } from '@inference-gateway/shared/errors';
import type Router from '@koa/router';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, RequestState } from './context.js';

export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface MetricsAccess {
  readonly source: MetricsSource;
  /** Null: no token is required. */
  readonly token: string | null;
}

export function metricsRoutes(router: Router<RequestState>, access: MetricsAccess): void {
  router.get('/metrics', async (ctx) => {
    if (access.token !== null) demandToken(ctx, access.token);
    ctx.set('Content-Type', access.source.contentType);
    ctx.body = await access.source.text();
  });
}

function demandToken(ctx: Context, token: string): void {
  const given = readBearer(ctx.get('authorization'));
  if (given === null) {
    const message =
      "The metrics need their token. Send 'Authorization: Bearer …' with the value of " +
      'GATEWAY_METRICS_TOKEN.';
    throw new ApiError('missing_api_key', message);
  }
  if (isEqual(given, token)) return;
  const message = 'This is not the token of the metrics. Send the value of GATEWAY_METRICS_TOKEN.';
  throw new ApiError('invalid_api_key', message);
}

/** In constant time: it reveals neither where the two differ nor the length of the token. */
function isEqual(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
