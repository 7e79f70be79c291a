/** Pages ask every few seconds, and mostly nothing has changed: then the answer is only that. */
import { createHash } from 'node:crypto';
import type { Context, Middleware } from './context.js';

const POLLED = /^\/api\/(console\/v1\/|inference\/queue\/summary$)/;

/**
 * What moves all the time, and tells nothing that `worker_stalled` does not: answers that differ in
 * it alone are the same to whoever holds one. No text has this, whose quotes are escaped.
 */
const MOVING = /"last_tick_at":(?:"[^"]*"|\d+)/;

/** Of a SHA-256: as many as make two answers never look the same by chance. */
const TAG_CHARACTERS = 22;

export const entityTags: Middleware = async (ctx, next) => {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  if (!isRead || !POLLED.test(ctx.path)) return next();
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.vary('Cookie');
  await next();
  if (isJson(ctx)) tag(ctx);
};

/** What is streamed has no body here, and what must not be kept needs no name. */
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
 * RFC 9110, 13.1.2: whether the reader holds what has this tag. Weak or strong is the same here: a
 * proxy that compresses anew makes the one of the other.
 *
 * Koa's own look heeds a `Cache-Control: no-cache` in the request, which browsers add to whatever
 * names a tag itself: they would never be told that nothing has changed.
 */
export function isHeld(ifNoneMatch: string, etag: string): boolean {
  const held = ifNoneMatch.split(',').map((one) => opaque(one.trim()));
  return held.includes('*') || held.includes(opaque(etag));
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}
