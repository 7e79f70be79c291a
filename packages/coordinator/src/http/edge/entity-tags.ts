/** Entity tags: pages poll every few seconds, and most answers are unchanged (304). */
import { createHash } from 'node:crypto';
import type { Context, Middleware } from './context.js';

const POLLED = /^\/api\/(console\/v1\/|inference\/queue\/summary$)/;

/**
 * A field that changes all the time, without more information than `worker_stalled`: answers that
 * differ only in it count as equal. Strings cannot contain it, because their quotes are escaped.
 */
const MOVING = /"last_tick_at":(?:"[^"]*"|\d+)/;

/** Characters of a SHA-256: enough to avoid collisions. */
const TAG_CHARACTERS = 22;

export const entityTags: Middleware = async (ctx, next) => {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  if (!isRead || !POLLED.test(ctx.path)) return next();
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.vary('Cookie');
  await next();
  if (isJson(ctx)) tag(ctx);
};

/** Streams have no body here, and answers that must not be cached need no tag. */
function isJson(ctx: Context): boolean {
  const { body } = ctx;
  const isText = typeof body === 'string';
  const isWhole = (isText || isObject(body)) && ctx.type === 'application/json';
  const isKept = !ctx.response.get('Cache-Control').includes('no-store');
  return ctx.status === 200 && ctx.respond !== false && isWhole && isKept;
}

function isObject(body: unknown): boolean {
  return typeof body === 'object' && body !== null;
}

function tag(ctx: Context): void {
  const text = typeof ctx.body === 'string' ? ctx.body : JSON.stringify(ctx.body);
  const named = text.replace(MOVING, '');
  const hash = createHash('sha256').update(named).digest('base64url').slice(0, TAG_CHARACTERS);
  const etag = `W/"${hash}"`;
  ctx.set('ETag', etag);
  if (isHeld(ctx.get('if-none-match'), etag)) {
    ctx.status = 304;
    ctx.body = null;
  } else {
    ctx.type = 'json';
    ctx.body = text;
  }
}

/**
 * RFC 9110, 13.1.2: whether the client has the version with this tag. Weak and strong tags count as
 * equal, because a compressing proxy turns one into the other.
 *
 * Koa's own check respects `Cache-Control: no-cache` in the request, which browsers add to requests
 * with an explicit tag: they would never get a 304.
 */
export function isHeld(ifNoneMatch: string, etag: string): boolean {
  const held = ifNoneMatch.split(',').map((one) => opaque(one.trim()));
  return held.includes('*') || held.includes(opaque(etag));
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}
