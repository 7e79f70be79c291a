/** `/api/inference/assets`: a member's own generated files. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type Router from '@koa/router';
import type { AssetLibrary } from '../../assets/asset-library.js';
import type { AssetLinks } from '../../assets/asset-links.js';
import type { Asset } from '../../store/port.js';
import { callerOf } from '../edge/context.js';
import type { RequestState } from '../edge/context.js';
import { listOf, readPage } from '../edge/read-query.js';
import { assetNotFound, sendAsset } from './send-asset.js';

const MAX_LIMIT = 500;

export interface AssetParts {
  readonly library: Pick<AssetLibrary, 'find' | 'findLinked' | 'list' | 'path' | 'remove'>;
  readonly assetLinks: AssetLinks;
  readonly timing: { readonly stallMs: number };
}

export function assetRoutes(router: Router<RequestState>, parts: AssetParts): void {
  const { library, assetLinks, timing } = parts;

  router.get('/api/inference/assets', async (ctx) => {
    const { memberId, assets: access = null } = callerOf(ctx);
    const { limit, after } = readPage(ctx, MAX_LIMIT);
    // One more than asked for tells whether there are more.
    const assets = await library.list(memberId, { limit: limit + 1, after });
    const urlOf = assetLinks.urlsFor(access);
    ctx.body = listOf(assets, limit, (asset) => present(asset, urlOf));
  });

  router.get('/api/inference/assets/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const { assetLink } = ctx.state;
    const isLinked = assetLink?.kind === 'good';
    const asset = await (isLinked
      ? library.findLinked(id)
      : library.find(id, callerOf(ctx).memberId));
    if (asset === null) throw assetNotFound(id);
    // Web pages of other origins show a file by its mere address only where that is all it takes.
    ctx.set('Cross-Origin-Resource-Policy', isLinked ? 'cross-origin' : 'same-origin');
    const { stallMs } = timing;
    const untilMs = isLinked ? assetLink.untilMs : asset.expiresAt;
    await sendAsset(ctx, { asset, path: library.path(asset), untilMs, stallMs });
  });

  router.delete('/api/inference/assets/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    if (!(await library.remove(id, callerOf(ctx).memberId))) throw assetNotFound(id);
    ctx.body = { id, object: 'asset', deleted: true };
  });
}

function present(asset: Asset, urlOf: (id: string) => string) {
  return {
    id: asset.id,
    object: 'asset',
    url: urlOf(asset.id),
    content_type: asset.contentType,
    bytes: asset.bytes,
    sha256: asset.sha256,
    seconds: asset.seconds,
    model: asset.model,
    endpoint: `/v1${ENDPOINTS[asset.endpoint].path}`,
    created: Math.floor(asset.createdAt / 1000),
    expires_at: Math.floor(asset.expiresAt / 1000),
  };
}
