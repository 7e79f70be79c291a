/**
 * CSRF protection: other sites' pages must not use a visitor's session. Browsers send the cookie
 * with requests of any page, and name the page's origin in a header.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Context, Middleware } from './context.js';

const CONSOLE = '/api/console/';
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** `ownOrigins` is called for each request: the port is known only once the server listens. */
export function sameOrigin(ownOrigins: () => readonly string[]): Middleware {
  return (ctx, next) => {
    if (ctx.path.startsWith(CONSOLE)) requireOwnPage(ctx, ownOrigins());
    return next();
  };
}

/** Throws `foreign_origin` for a change that is not requested by one of our pages. */
export function requireOwnPage(ctx: Context, ownOrigins: readonly string[]): void {
  if (SAFE_METHODS.includes(ctx.method) || isOurs(ctx, ownOrigins)) return;
  throw foreign(ctx, ownOrigins);
}

/** Browsers omit the first on plain http, except to localhost. */
function isOurs(ctx: Context, ownOrigins: readonly string[]): boolean {
  return ctx.get('sec-fetch-site') === 'same-origin' || ownOrigins.includes(ctx.get('origin'));
}

function foreign(ctx: Context, ownOrigins: readonly string[]): ApiError {
  const origin = ctx.get('origin').slice(0, MAX_SHOWN);
  const from = origin === '' ? 'a program that names no Origin' : `a page of ${origin}`;
  const message =
    `This comes from ${from}, and only pages of ${ownOrigins.join(' or ')} may do it. ` +
    'Open the gateway there, or have its operator set GATEWAY_PUBLIC_URL.';
  return new ApiError('foreign_origin', message);
}

const MAX_SHOWN = 100;
