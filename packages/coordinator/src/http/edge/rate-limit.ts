/** Counts each request against its member, and tells the standing on every answer. */
import { ApiError } from '@inference-gateway/shared/errors';
import { CONSOLE } from '../../core/access/caller.js';
import type { RateLimit, RateStanding } from '../../core/access/rate.js';
import { callerOf } from './context.js';
import type { Context, Middleware } from './context.js';

/** Reading jobs, batches and assets is free: polling must not eat up the limit. */
const FREE_TO_READ = /^\/(v1\/(jobs|batches)|api\/inference)(\/|$)/;

export function rateLimit(limit: RateLimit, onRefused: () => void): Middleware {
  return (ctx, next) => {
    const { memberId, limits } = callerOf(ctx);
    const now = performance.now();
    const standing = isFree(ctx)
      ? limit.look(memberId, now, limits.requests)
      : limit.take(memberId, now, limits.requests);
    ctx.set('X-RateLimit-Limit', String(standing.limit));
    ctx.set('X-RateLimit-Remaining', String(standing.remaining));
    ctx.set('X-RateLimit-Reset', String(standing.resetS));
    if (standing.allowed) return next();
    onRefused();
    throw tooMany(standing);
  };
}

function isFree(ctx: Context): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  // The dashboard polls whatever it shows, and no reading asks a GPU.
  return isRead && (callerOf(ctx).keyId === CONSOLE || FREE_TO_READ.test(ctx.path));
}

function tooMany({ limit, retryAfterS }: RateStanding): ApiError {
  const message =
    `You have sent ${limit} requests within one window of the rate limit, which is all you may. ` +
    `Try again in ${retryAfterS} seconds.`;
  return new ApiError('rate_limit_exceeded', message, { retryAfterS });
}
