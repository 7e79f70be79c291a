/** Signed links: their holder may fetch one asset until the link expires. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { AssetLinks, LinkVerdict } from '../../assets/asset-links.js';
import type { Context, Middleware } from '../edge/context.js';

const ONE_ASSET = /^\/api\/inference\/assets\/([^/]+)$/;

/** A link does not permit lists or deletions. */
export function readAssetLink(links: AssetLinks): Middleware {
  return (ctx, next) => {
    const isFetch = ctx.method === 'GET' || ctx.method === 'HEAD';
    const id = isFetch ? ONE_ASSET.exec(ctx.path)?.[1] : undefined;
    if (id !== undefined) ctx.state.assetLink = links.judge(id, ctx.query);
    return next();
  };
}

/** With a valid link no key is needed, and an invalid one is ignored. */
export function isOpenedByLink(ctx: Context): boolean {
  return ctx.state.assetLink?.kind === 'good';
}

/** The answer to a fetch without a key, whether or not the asset exists. */
export function assetRefusal(verdict: Exclude<LinkVerdict, { kind: 'good' }>): ApiError {
  switch (verdict.kind) {
    case 'none':
      return new ApiError('missing_api_key', NO_KEY);
    case 'expired':
      return new ApiError('expired_asset_link', `This link has expired. ${AGAIN}`);
    case 'wrong':
      return new ApiError('invalid_asset_link', `This link is cut off or changed. ${AGAIN}`);
  }
}

const NO_KEY =
  'Generated files are private here, and this request has no API key. Send the header ' +
  "'Authorization: Bearer gwk_…'. For programs that fetch addresses without one, answers carry " +
  'links that open for an hour where the operator sets GATEWAY_ASSETS_ACCESS=link, or the key ' +
  'that asks is made with `key create --assets link`.';
const AGAIN =
  'Ask for a new one: GET the job, or GET /api/inference/assets, with your key. ' +
  'GATEWAY_ASSETS_LINK_MINUTES says how long links are good.';
