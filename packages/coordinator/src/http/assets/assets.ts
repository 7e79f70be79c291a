/** `/api/inference/assets`: a member's own generated files. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type Router from '@koa/router';
import { ApiError } from '@inference-gateway/shared/errors';
import { extensionOf } from '@inference-gateway/shared/media/types';
import type { AssetLibrary } from '../../assets/asset-library.js';
import type { LinkHeaders } from '../../assets/byte-store.js';
import type { AssetLinks } from '../../assets/asset-links.js';
import type { Asset, AssetQuery, NamedAsset } from '../../store/port.js';
import { CONSOLE, restrictedTo } from '../../core/access/caller.js';
import type { Caller } from '../../core/access/caller.js';
import { callerOf, CREDENTIALS } from '../edge/context.js';
import type { RequestState, Context } from '../edge/context.js';
import { placeOf, selectBytes } from '../edge/conditional.js';
import type { Representation } from '../edge/conditional.js';
import { foundOf, readPage, readSearch, searchRows } from '../edge/read-query.js';
import type { Found } from '../edge/read-query.js';
import { presentNames } from '../jobs/present-job.js';

const MAX_LIMIT = 500;

type Library = 'find' | 'findLinked' | 'list' | 'searchEnd' | 'remove' | 'stream' | 'redirect';

export interface AssetParts {
  readonly library: Pick<AssetLibrary, Library>;
  readonly assetLinks: AssetLinks;
  readonly timing: { readonly stallMs: number };
}

export function assetRoutes(router: Router<RequestState>, parts: AssetParts): void {
  const { library, assetLinks, timing } = parts;

  router.get('/api/inference/assets', async (ctx) => {
    const caller = callerOf(ctx);
    const { assets: access = null } = caller;
    const { limit, after } = readPage(ctx, MAX_LIMIT);
    // One more than requested shows whether there are more.
    const query = { keyId: restrictedTo(caller), search: readSearch(ctx), limit: limit + 1, after };
    const found = await findAssets(caller.memberId, query, library);
    const urlOf = assetLinks.urlsFor(access);
    ctx.body = foundOf(found, limit, (asset) => present(asset, urlOf));
  });

  router.get('/api/inference/assets/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const { assetLink } = ctx.state;
    const isLinked = assetLink?.kind === 'good';
    const asset = await (isLinked
      ? library.findLinked(id)
      : library.find(id, ...ownerOf(callerOf(ctx))));
    if (asset === null) throw assetNotFound(id);
    // Pages of other origins may embed a file only if its URL alone is enough to fetch it.
    ctx.set('Cross-Origin-Resource-Policy', isLinked ? 'cross-origin' : 'same-origin');
    const { stallMs } = timing;
    const untilMs = isLinked ? assetLink.untilMs : asset.expiresAt;
    await sendAsset(ctx, { asset, library, untilMs, stallMs });
  });

  router.delete('/api/inference/assets/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    if (!(await library.remove(id, ...ownerOf(callerOf(ctx))))) throw assetNotFound(id);
    ctx.body = { id, object: 'asset', deleted: true };
  });
}

async function findAssets(
  memberId: string,
  query: Omit<AssetQuery, 'memberId'>,
  library: AssetParts['library'],
): Promise<Found<NamedAsset>> {
  if (query.search === null) return { rows: await library.list(memberId, query), next: null };
  return await searchRows(query, {
    endOf: (after, rows) => library.searchEnd(memberId, { ...query, after }, rows),
    read: (page) => library.list(memberId, { ...query, ...page }),
  });
}

function ownerOf(caller: Caller): [memberId: string, keyId: string | null] {
  return [caller.memberId, restrictedTo(caller)];
}

function present(asset: NamedAsset, urlOf: (id: string) => string) {
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
    ...presentNames(asset.names),
  };
}

// The bytes of an asset as an answer: the whole file, a range, or 304.

/** Cache lifetime: the asset may be deleted here meanwhile. */
const MAX_AGE_S = 86_400;

/** The file was generated, and may be a page with scripts. */
const NO_SCRIPTS = "default-src 'none'; sandbox";

export interface Sent {
  readonly asset: Asset;
  /** Absent: its id and the extension of its type. */
  readonly filename?: string;
  readonly library: Pick<AssetLibrary, 'stream' | 'redirect'>;
  /** Unix ms: a cached copy must not outlive the reader's permission. */
  readonly untilMs: number;
  /** A caller that reads no byte for this long loses the connection. */
  readonly stallMs: number;
}

/** Throws `asset_not_found` if the file was deleted meanwhile. */
export async function sendAsset(ctx: Context, sent: Sent): Promise<void> {
  const { asset, library, stallMs } = sent;
  // Two members may use one browser: the cached copy of one must not be shown to the other.
  ctx.vary(CREDENTIALS);
  const file = representationOf(asset);
  const selected = selectBytes(ctx, file);
  if (selected.kind === 'unchanged') setHeaders(ctx, sent);
  if (selected.kind !== 'bytes') return;
  const { range } = selected;
  const link = mayRedirect(ctx) ? await library.redirect(asset, endOf(sent), namesOf(sent)) : null;
  if (link !== null) return redirectTo(ctx, link);
  const stream = await library.stream(asset, range ?? undefined);
  if (stream === null) throw assetNotFound(asset.id);
  ctx.res.setTimeout(stallMs, () => ctx.res.destroy());
  setHeaders(ctx, sent);
  ctx.body = stream;
  placeOf(ctx, file, range);
}

/**
 * Pages of the dashboard may only show files of its own origin. The byte store does not know our
 * entity tags, which conditions name, and does not answer HEAD by a link for GET.
 */
function mayRedirect(ctx: Context): boolean {
  const isPage = ctx.state.assetLink?.kind !== 'good' && callerOf(ctx).keyId === CONSOLE;
  const isConditional = Object.keys(ctx.headers).some((name) => name.startsWith('if-'));
  return ctx.method === 'GET' && !isPage && !isConditional;
}

function redirectTo(ctx: Context, link: string): void {
  ctx.set({ Location: link, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  ctx.body = null;
  ctx.status = 302;
}

function representationOf({ bytes, sha256, createdAt }: Asset): Representation {
  return { bytes, etag: `"${sha256}"`, modifiedAt: Math.floor(createdAt / 1000) * 1000 };
}

function assetNotFound(id: string): ApiError {
  const message =
    `You have no file with the id '${id}'. It may have expired or been deleted; ` +
    'GET /api/inference/assets lists what there is.';
  return new ApiError('asset_not_found', message);
}

/** Unix ms. */
function endOf({ untilMs, asset }: Sent): number {
  return Math.min(untilMs, asset.expiresAt);
}

function namesOf({ asset: { id, contentType }, filename }: Sent): LinkHeaders {
  const name = filename ?? `${id}.${extensionOf(contentType)}`;
  return { contentType, contentDisposition: `inline; filename="${name}"` };
}

function setHeaders(ctx: Context, sent: Sent): void {
  const { asset } = sent;
  const { contentType, contentDisposition } = namesOf(sent);
  const leftS = Math.max(0, Math.floor((endOf(sent) - ctx.state.now()) / 1000));
  ctx.set({
    'Accept-Ranges': 'bytes',
    'Content-Type': contentType,
    ETag: representationOf(asset).etag,
    'Last-Modified': new Date(asset.createdAt).toUTCString(),
    'Cache-Control': `private, max-age=${Math.min(leftS, MAX_AGE_S)}, immutable`,
    'Content-Disposition': contentDisposition,
    'Content-Security-Policy': NO_SCRIPTS,
    'X-Content-Type-Options': 'nosniff',
    // The URL may be a signed link.
    'Referrer-Policy': 'no-referrer',
  });
}
