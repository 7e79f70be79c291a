/** Who may fetch an asset, as the admin has set it. */
import type { AssetsAccess } from '../config-values.js';
import type { Context } from './context.js';

const ONE_ASSET = /^\/api\/inference\/assets\/[^/]+$/;

/**
 * True where the address of an asset is all that it takes: then no key is asked for, and a wrong
 * one does not matter. Lists and deletions always take one.
 */
export function mayFetchUnauthenticated(ctx: Context, access: AssetsAccess): boolean {
  const isFetch = ctx.method === 'GET' || ctx.method === 'HEAD';
  return access === 'link' && isFetch && ONE_ASSET.test(ctx.path);
}
