/**
 * The addresses of assets. A link is one with an expiry and a signature: whoever holds it may fetch
 * that one file until then, and nothing else. Without them an address takes its owner's key.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AssetsAccess } from '@inference-gateway/shared/media/types';

const SECRET_BYTES = 32;
const SECRET_FILE = 'asset-links.key';
/** Addresses of one minute are the same: a page that asks for them again shows the same picture. */
const STEP_MS = 60_000;

interface AssetLinkParts {
  readonly secret: Buffer;
  /** What an operator has set; a key may say otherwise. */
  readonly access: AssetsAccess;
  readonly lifetimeMs: number;
  /** The origin that callers use, without a trailing slash; known once the server listens. */
  readonly publicUrl: () => string;
}

/** What the query of an address says of its holder's right. */
export type LinkVerdict =
  | { readonly kind: 'none' }
  /** Until `untilMs`, a Unix time. */
  | { readonly kind: 'good'; readonly untilMs: number }
  /** It was good. */
  | { readonly kind: 'expired' }
  /** Cut off, changed, or never ours. */
  | { readonly kind: 'wrong' };

export class AssetLinks {
  readonly #parts: AssetLinkParts;

  constructor(parts: AssetLinkParts) {
    this.#parts = parts;
  }

  /** Where an asset is fetched by those that `access` lets in; null: as the operator has set. */
  urlsFor(access: AssetsAccess | null): (assetId: string) => string {
    const { publicUrl, lifetimeMs } = this.#parts;
    const isLink = (access ?? this.#parts.access) === 'link';
    const until = isLink ? expiryOf(Date.now(), lifetimeMs) : 0;
    return (id) => {
      const url = `${publicUrl()}/api/inference/assets/${id}/`;
      return isLink ? `${url}?expires=${until}&signature=${this.#sign(id, until)}` : url;
    };
  }

  /** Asked before it is known whether there is such an asset. */
  judge(id: string, query: Readonly<Record<string, unknown>>): LinkVerdict {
    const { expires, signature } = query;
    if (expires === undefined && signature === undefined) return { kind: 'none' };
    if (typeof expires !== 'string' || typeof signature !== 'string') return { kind: 'wrong' };
    const until = /^\d{1,12}$/.test(expires) ? Number(expires) : null;
    if (until === null || !isSame(signature, this.#sign(id, until))) return { kind: 'wrong' };
    const untilMs = until * 1_000;
    return untilMs > Date.now() ? { kind: 'good', untilMs } : { kind: 'expired' };
  }

  #sign(id: string, until: number): string {
    return createHmac('sha256', this.#parts.secret)
      .update(`asset\n${id}\n${until}`)
      .digest('base64url');
  }
}

/** Whole seconds, as they are written into addresses. */
function expiryOf(now: number, lifetimeMs: number): number {
  const step = Math.min(STEP_MS, lifetimeMs);
  return Math.ceil((Math.ceil(now / step) * step + lifetimeMs) / 1_000);
}

/** Takes the same time wherever they differ. */
function isSame(written: string, right: string): boolean {
  const [one, other] = [Buffer.from(written), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * What links are signed with: made once, and not part of backups, so that no archive opens a file.
 * To delete it and start again ends every link at once.
 */
export async function assetLinkSecret(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, SECRET_FILE);
  const made = randomBytes(SECRET_BYTES);
  try {
    await writeFile(path, `${made.toString('hex')}\n`, { flag: 'wx', mode: 0o600, flush: true });
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const kept = Buffer.from((await readFile(path, 'utf8')).trim(), 'hex');
  if (kept.length === SECRET_BYTES) return kept;
  throw new Error(
    `${path} does not hold ${SECRET_BYTES} bytes in hex. Delete it, and start again.`,
  );
}
