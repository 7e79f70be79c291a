/**
 * URLs of assets. A link is a URL with an expiry and a signature: it opens one file until then,
 * without a key. Other URLs need the owner's key.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import type { AssetsAccess } from '@inference-gateway/shared/media/types';
import { keptSecret } from '@inference-gateway/shared/program/secret';
import type { NodeStore } from '../store/port.js';

const SECRET_FILE = 'asset-links.key';
/** URLs made within the same minute are equal, so that a page that asks again can use its cache. */
const STEP_MS = 60_000;

interface AssetLinkParts {
  readonly secret: Buffer;
  /** The operator's setting. A key may override it. */
  readonly access: AssetsAccess;
  readonly lifetimeMs: number;
  /** The origin for callers, without a trailing slash. Known after the server listens. */
  readonly publicUrl: () => string;
  /** Unix ms. */
  readonly now: () => number;
}

/** The result of checking a URL's query. */
export type LinkVerdict =
  | { readonly kind: 'none' }
  /** `untilMs`: Unix milliseconds. */
  | { readonly kind: 'good'; readonly untilMs: number }
  /** The signature is valid, but the time is over. */
  | { readonly kind: 'expired' }
  /** Truncated, changed or forged. */
  | { readonly kind: 'wrong' };

export class AssetLinks {
  readonly #parts: AssetLinkParts;

  constructor(parts: AssetLinkParts) {
    this.#parts = parts;
  }

  /** Makes the URLs for callers with this access; null: the operator's setting. */
  urlsFor(access: AssetsAccess | null): (assetId: string) => string {
    const { publicUrl, lifetimeMs, now } = this.#parts;
    const isLink = (access ?? this.#parts.access) === 'link';
    const until = isLink ? expiryOf(now(), lifetimeMs) : 0;
    return (id) => {
      const url = `${publicUrl()}/api/inference/assets/${id}/`;
      return isLink ? `${url}?expires=${until}&signature=${this.#sign(id, until)}` : url;
    };
  }

  /** Called before the store is asked whether the asset exists. */
  judge(id: string, query: Readonly<Record<string, unknown>>): LinkVerdict {
    const { expires, signature } = query;
    if (expires === undefined && signature === undefined) return { kind: 'none' };
    if (typeof expires !== 'string' || typeof signature !== 'string') return { kind: 'wrong' };
    const until = /^\d{1,12}$/.test(expires) ? Number(expires) : null;
    if (until === null || !isSame(signature, this.#sign(id, until))) return { kind: 'wrong' };
    const untilMs = until * 1_000;
    return untilMs > this.#parts.now() ? { kind: 'good', untilMs } : { kind: 'expired' };
  }

  #sign(id: string, until: number): string {
    return createHmac('sha256', this.#parts.secret)
      .update(`asset\n${id}\n${until}`)
      .digest('base64url');
  }
}

/** In whole seconds, like the URL. */
function expiryOf(now: number, lifetimeMs: number): number {
  const step = Math.min(STEP_MS, lifetimeMs);
  return Math.ceil((Math.ceil(now / step) * step + lifetimeMs) / 1_000);
}

/** Constant-time comparison. */
function isSame(written: string, right: string): boolean {
  const [one, other] = [Buffer.from(written), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}

interface Place {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
}

interface LinkConfig extends Place {
  readonly assetsAccess: AssetsAccess;
  readonly assetsLinkMs: number;
}

interface LinkBase extends Pick<AssetLinkParts, 'publicUrl' | 'now'> {
  readonly store: Pick<NodeStore, 'sharedSecret'>;
}

export async function openAssetLinks(
  config: LinkConfig,
  { store, publicUrl, now }: LinkBase,
): Promise<AssetLinks> {
  const secret = await linkSecret(config, store, now());
  const { assetsAccess: access, assetsLinkMs: lifetimeMs } = config;
  return new AssetLinks({ secret, access, lifetimeMs, publicUrl, now });
}

/**
 * The key that signs links. Coordinators of one database on PostgreSQL have one key, in it, so that
 * a link of one works at the others.
 */
async function linkSecret(
  { dataDir, databaseUrl }: Place,
  store: Pick<NodeStore, 'sharedSecret'>,
  now: number,
): Promise<Buffer> {
  const own = await assetLinkSecret(dataDir);
  return databaseUrl === null
    ? own
    : Buffer.from(await store.sharedSecret('asset links', own, now));
}

/**
 * Of one data folder. Created once, and not part of backups, so that an archive cannot open
 * files. To end all links at once, delete the file and restart.
 */
export function assetLinkSecret(dataDir: string): Promise<Buffer> {
  return keptSecret(join(dataDir, SECRET_FILE));
}
