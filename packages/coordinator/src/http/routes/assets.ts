/** `/api/inference/assets`: a member's own generated files. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type Router from '@koa/router';
import type { AssetLibrary } from '../../assets/asset-library.js';
import { assetUrl } from '../../assets/asset-url.js';
import type { AssetsAccess } from '../../config-values.js';
import type { Asset } from '../../store/port.js';
import { mayFetchUnauthenticated } from '../asset-access.js';
import { callerOf } from '../context.js';
import type { Context, RequestState } from '../context.js';
import { listOf, readPage } from '../read-query.js';
import { assetNotFound, sendAsset } from '../send-asset.js';

const MAX_LIMIT = 500;

export interface AssetParts {
  readonly library: Pick<AssetLibrary, 'find' | 'list' | 'path' | 'remove'>;
  readonly access: AssetsAccess;
  readonly timing: { readonly stallMs: number };
  /** Asked for at each answer: the port is known only once the server listens. */
  readonly publicUrl: () => string;
}

export function assetRoutes(router: Router<RequestState>, parts: AssetParts): void {
  const { library, access, timing, publicUrl } = parts;

  router.get('/api/inference/assets', async (ctx) => {
    const { memberId } = callerOf(ctx);
    const { limit, after } = readPage(ctx, MAX_LIMIT);
    // One more than asked for tells whether there are more.
    const assets = await library.list(memberId, { limit: limit + 1, after });
    ctx.body = listOf(assets, limit, (asset) => present(asset, publicUrl()));
  });

  router.get('/api/inference/assets/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const asset = await library.find(id, readerOf(ctx, access));
    if (asset === null) throw assetNotFound(id);
    // Web pages of other origins show a file by its mere address only where that is all it takes.
    ctx.set('Cross-Origin-Resource-Policy', access === 'link' ? 'cross-origin' : 'same-origin');
    const { stallMs } = timing;
    await sendAsset(ctx, { asset, path: library.path(asset), stallMs });
  });

  router.delete('/api/inference/assets/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    if (!(await library.remove(id, callerOf(ctx).memberId))) throw assetNotFound(id);
    ctx.body = { id, object: 'asset', deleted: true };
  });
}

/** Null: anyone. */
function readerOf(ctx: Context, access: AssetsAccess): string | null {
  return mayFetchUnauthenticated(ctx, access) ? null : callerOf(ctx).memberId;
}

function present(asset: Asset, publicUrl: string) {
  return {
    id: asset.id,
    object: 'asset',
    url: assetUrl(publicUrl, asset.id),
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
