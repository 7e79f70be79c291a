/**
 * Authentication by the key in the header, before a byte of the body is read. Source:
 * specification, section 5.
 */
import { readBearer } from '@inference-gateway/shared/bearer';
import type { Clock } from '@inference-gateway/shared/clock';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { ApiError } from '@inference-gateway/shared/errors';
import { isSecret } from '@inference-gateway/shared/ids';
import { KEY_PREFIX_CHARACTERS } from '../../accounts/key-secret.js';
import { mayCall } from '../../core/access/access.js';
import type { Caller } from '../../core/access/caller.js';
import { CONSOLE } from '../../core/access/caller.js';
import type { KeyHolder, Store } from '../../store/port.js';
import type { Rate, RateStanding } from '../../core/access/rate.js';
import { assetRefusal } from '../assets/asset-access.js';
import type { Context, Middleware } from './context.js';
import { callerOf } from './context.js';

type KeyStore = Pick<Store, 'findKeyHolder' | 'touchKeys'>;

/** Interval at which "last used" is written, for all keys together. */
const TOUCH_INTERVAL_MS = 10_000;

export class Authentication {
  readonly #store: KeyStore;
  readonly #now: () => number;
  readonly #used = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(store: KeyStore, { now }: Clock) {
    this.#store = store;
    this.#now = now;
    this.#timer = setInterval(() => void this.#flush(), TOUCH_INTERVAL_MS).unref();
  }

  readonly middleware: Middleware = async (ctx, next) => {
    // The caller is already known from a session.
    ctx.state.caller ??= await this.#identify(ctx);
    await next();
  };

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  async #identify(ctx: Context): Promise<Caller> {
    const secret = readKey(ctx);
    if (!isSecret('gwk', secret)) throw invalidKey(secret);
    const shown = secret.slice(0, KEY_PREFIX_CHARACTERS);
    const hash = hashSecret(secret);
    const { key, memberName, limits } = await this.#find(hash, shown);
    this.#used.add(key.id);
    const { id: keyId, name: keyName, memberId, scope, assets, rules } = key;
    // Without the secret: a call may wait for long.
    const confirm = async (): Promise<void> => void (await this.#find(hash, shown));
    return { memberId, memberName, keyId, keyName, scope, assets, rules, limits, confirm };
  }

  /** Throws if nobody may call with it now; `shown` is the beginning of the secret. */
  async #find(hash: string, shown: string): Promise<KeyHolder> {
    const holder = await this.#store.findKeyHolder(hash);
    if (holder === null || holder.key.revokedAt !== null) throw invalidKey(shown);
    refuseEnded(holder, shown, this.#now());
    return holder;
  }

  async #flush(): Promise<void> {
    const ids = [...this.#used];
    this.#used.clear();
    // A failed write of "last used" does not fail the request: the next use writes it again.
    if (ids.length > 0) await this.#store.touchKeys(ids, this.#now()).catch(() => {});
  }
}

/**
 * The key in `Authorization`, else the one in `x-api-key`, where clients of Anthropic's API send
 * it. Credentials for a proxy before us, such as `Basic`, are no key.
 */
export function sentKey(ctx: Context): string | null {
  return readBearer(ctx.get('authorization')) ?? (ctx.get('x-api-key').trim() || null);
}

function readKey(ctx: Context): string {
  const secret = sentKey(ctx);
  if (secret !== null) return secret;
  const { assetLink } = ctx.state;
  if (assetLink !== undefined && assetLink.kind !== 'good') throw assetRefusal(assetLink);
  const message =
    "No API key. Send the header 'Authorization: Bearer gwk_…' (or 'x-api-key: gwk_…'); keys are " +
    'made in the dashboard under Settings, Token.';
  throw new ApiError('missing_api_key', message);
}

/** Throws if the key or its member is disabled, or the key has expired or was rotated. */
function refuseEnded(holder: KeyHolder, prefix: string, now: number): void {
  const { key, isMemberDisabled, validUntil } = holder;
  if (isMemberDisabled) {
    throw new ApiError('disabled_api_key', 'Your account is disabled. Ask the admin.');
  }
  const shown = `The API key ${prefix}…`;
  if (key.disabledAt !== null) {
    throw new ApiError('disabled_api_key', `${shown} is disabled. Use another.`);
  }
  if (validUntil === null || validUntil > now) return;
  const hasEnded = key.expiresAt !== null && key.expiresAt <= now;
  const why = hasEnded ? 'has expired. Create another.' : 'has been rotated. Use the new one.';
  throw new ApiError('expired_api_key', `${shown} ${why}`);
}

function invalidKey(secret: string): ApiError {
  const shown = `${secret.slice(0, 8)}${secret.length > 8 ? '…' : ''}`;
  return new ApiError(
    'invalid_api_key',
    `'${shown}' is not a valid API key. Check that it is whole.`,
  );
}

/** A call may restrict its key's scope to the caller's own machines, but never extend it. */
export const narrowScope: Middleware = (ctx, next) => {
  const asked = ctx.get('x-provider-scope');
  if (asked === 'own') ctx.state.caller = { ...callerOf(ctx), scope: 'own' };
  else if (asked !== '' && asked !== 'any') {
    const message = `The header x-provider-scope is '${asked}'. It may be 'own' or 'any'.`;
    throw new ApiError('invalid_value', message, { param: 'x-provider-scope' });
  }
  return next();
};

/** Throws if the caller's key is restricted to other endpoints. */
export function requireEndpoint(caller: Caller, path: string): void {
  if (mayCall(caller, path)) return;
  const allowed = caller.rules?.endpoints?.join(', ') ?? '';
  const message =
    `The API key '${caller.keyName ?? caller.keyId}' may not call ${path}, only ${allowed}. ` +
    'Use another key, or change its limits in the dashboard under Settings, Token.';
  throw new ApiError('not_allowed', message);
}

/** Reading jobs, batches and assets is not counted, so that polling does not use up the limit. */
const FREE_TO_READ = /^\/(v1\/(jobs|batches)|api\/inference)(\/|$)/;

/** Counts each request of a member, and adds the rate-limit headers to every answer. */
export function rateLimit(limit: Rate, onRefused: () => void): Middleware {
  return (ctx, next) => {
    const { memberId, limits } = callerOf(ctx);
    const now = performance.now();
    const standing = isFree(ctx)
      ? limit.look(memberId, now, limits.requests)
      : limit.take(memberId, now, limits.requests);
    const go = (known: RateStanding): Promise<void> => {
      ctx.set('X-RateLimit-Limit', String(known.limit));
      ctx.set('X-RateLimit-Remaining', String(known.remaining));
      ctx.set('X-RateLimit-Reset', String(known.resetS));
      if (known.allowed) return next();
      onRefused();
      throw tooMany(known);
    };
    return standing instanceof Promise ? standing.then(go) : go(standing);
  };
}

function isFree(ctx: Context): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  // The dashboard polls, and reads use no GPU.
  return isRead && (callerOf(ctx).keyId === CONSOLE || FREE_TO_READ.test(ctx.path));
}

function tooMany({ limit, retryAfterS }: RateStanding): ApiError {
  const message =
    `You have sent ${limit} requests within one window of the rate limit, which is all you may. ` +
    `Try again in ${retryAfterS} seconds.`;
  return new ApiError('rate_limit_exceeded', message, { retryAfterS });
}
