/** `/api/inference/assets`: a member's own generated files. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type Router from '@koa/router';
import { ApiError } from '@inference-gateway/shared/errors';
import { extensionOf } from '@inference-gateway/shared/media/types';
import { basename, dirname } from 'node:path';
import send from 'send';
import type { AssetLibrary } from '../../assets/asset-library.js';
import type { AssetLinks } from '../../assets/asset-links.js';
import type { Asset } from '../../store/port.js';
import { callerOf } from '../edge/context.js';
import type { RequestState, Context } from '../edge/context.js';
import { listOf, readPage } from '../edge/read-query.js';

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

// The bytes of an asset as an answer: whole, a range of it, or the word that nothing changed.

/** A copy that somebody may have deleted here is kept no longer than this by its reader. */
const MAX_AGE_S = 86_400;

/** Models made the file, and who asked them may have had a page with scripts in mind. */
const NO_SCRIPTS = "default-src 'none'; sandbox";

interface HttpFailure extends Error {
  readonly status: number;
}

interface Sent {
  readonly asset: Asset;
  readonly path: string;
  /** Unix ms: a copy is good no longer than its reader's right. */
  readonly untilMs: number;
  /** A caller that takes no byte for this long loses the connection. */
  readonly stallMs: number;
}

/** Throws `asset_not_found` where the file has gone meanwhile. */
async function sendAsset(ctx: Context, sent: Sent): Promise<void> {
  const { asset, path, stallMs } = sent;
  setHeaders(ctx, sent);
  correctRequest(ctx, asset);
  ctx.res.setTimeout(stallMs, () => ctx.res.destroy());
  const failure = await stream(ctx, path);
  if (failure === null || ctx.headerSent) return;
  ctx.respond = true;
  clearHeaders(ctx);
  if (failure.status === 404) throw assetNotFound(asset.id);
  if (failure.status !== 416 && failure.status !== 412) throw failure;
  refuse(ctx, failure.status, asset);
}

function assetNotFound(id: string): ApiError {
  const message =
    `You have no file with the id '${id}'. It may have expired or been deleted; ` +
    'GET /api/inference/assets lists what there is.';
  return new ApiError('asset_not_found', message);
}

function setHeaders(ctx: Context, { asset, untilMs }: Sent): void {
  const { id, contentType, sha256, createdAt, expiresAt } = asset;
  const endMs = Math.min(untilMs, expiresAt);
  const leftS = Math.max(0, Math.floor((endMs - Date.now()) / 1000));
  ctx.set({
    'Content-Type': contentType,
    ETag: `"${sha256}"`,
    'Last-Modified': new Date(createdAt).toUTCString(),
    'Cache-Control': `private, max-age=${Math.min(leftS, MAX_AGE_S)}, immutable`,
    'Content-Disposition': `inline; filename="${id}.${extensionOf(contentType)}"`,
    'Content-Security-Policy': NO_SCRIPTS,
    'X-Content-Type-Options': 'nosniff',
    // The address may be a link that opens it.
    'Referrer-Policy': 'no-referrer',
  });
  // One browser, two members: the copy of one is not an answer to the other.
  ctx.vary('Cookie, Authorization');
}

/** What `send` takes otherwise than RFC 9110 and 9111 have it. */
function correctRequest({ req }: Context, { bytes }: Asset): void {
  // A word to caches, of which this is none. Node's own fetch adds it to every conditional request,
  // and would never be told that its copy is good.
  delete req.headers['cache-control'];
  // The last 5,000 bytes of a file of 1,000 are the whole file; it would be refused.
  const suffix = /^bytes=-(\d+)$/.exec(req.headers.range ?? '')?.[1];
  if (suffix !== undefined && Number(suffix) > bytes) req.headers.range = 'bytes=0-';
}

/** Resolves when the answer has ended, whole or not; with what `send` refused to begin, if any. */
function stream(ctx: Context, path: string): Promise<HttpFailure | null> {
  ctx.respond = false;
  // Koa begins with 404, which no cache could confirm.
  ctx.res.statusCode = 200;
  if (ctx.res.destroyed) return Promise.resolve(null);
  return new Promise((resolve) => {
    send(ctx.req, basename(path), {
      root: dirname(path),
      index: false,
      etag: false,
      lastModified: false,
      cacheControl: false,
    })
      .once('error', resolve)
      .pipe(ctx.res);
    ctx.res.once('close', () => resolve(null));
  });
}

/** What was said of the file is not true of an error. */
function clearHeaders(ctx: Context): void {
  for (const name of ['Content-Type', 'Content-Disposition', 'Cache-Control', 'Last-Modified']) {
    ctx.remove(name);
  }
  ctx.remove('ETag');
  ctx.remove('Content-Range');
}

function refuse(ctx: Context, status: 412 | 416, { bytes }: Asset): void {
  ctx.status = status;
  const header = status === 416 ? 'Range' : 'If-Match';
  if (status === 416) ctx.set('Content-Range', `bytes */${bytes}`);
  const message =
    status === 416
      ? `The range '${ctx.get('range')}' lies outside the file, which has ${bytes} bytes.`
      : 'The file is not the one that If-Match or If-Unmodified-Since names. Fetch it again.';
  ctx.body = new ApiError('invalid_value', message, { param: header }).body;
}
