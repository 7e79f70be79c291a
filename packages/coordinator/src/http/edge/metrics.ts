/**
 * `GET /metrics` for Prometheus. Who may read it is never told by the caller's address: behind a
 * proxy everybody comes from loopback. So it takes its token, or a port of its own.
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
  /** Null: whoever reaches the route may read. */
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

/** The time that it takes tells neither where the two differ nor how long the token is. */
function isEqual(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
