/** The state of a request that middleware sets and passes on. */
import type Koa from 'koa';
import type { LinkVerdict } from '../../assets/asset-links.js';
import type { Caller } from '../../core/access/caller.js';
import type { Outcome } from '../../run/work.js';

/** The headers on which an answer to its member depends. */
export const CREDENTIALS = 'Cookie, Authorization, X-Api-Key';

export interface RequestState {
  requestId: string;
  /** Monotonic ms. */
  receivedAt: number;
  /** The coordinator's wall clock, in Unix ms. */
  now: () => number;
  /** The caller's address, according to trusted proxies. */
  ip: string;
  /** Set once the key or the session is authenticated. */
  caller?: Caller;
  /** The signed link of an asset's URL; absent for other requests. */
  assetLink?: LinkVerdict;
  /** Fields of the log line for an inference call. */
  inference?: { model: string; alias?: string; outcome?: Outcome };
  /** See `onceClosed`; null once it has closed. */
  closers: (() => void)[] | null;
}

export type Context = Koa.ParameterizedContext<RequestState>;
export type Next = Koa.Next;
export type Middleware = Koa.Middleware<RequestState>;

/**
 * Calls `act` when the answer has ended or its connection has closed; at once if it has already.
 */
export function onceClosed({ state }: Pick<Context, 'state'>, act: () => void): void {
  if (state.closers === null) act();
  else state.closers.push(act);
}

/** Aborted when the connection closes before the answer has ended: nobody waits for it any more. */
export function departureOf(ctx: Context): AbortController {
  const departure = new AbortController();
  onceClosed(ctx, () => {
    if (!ctx.res.writableFinished) departure.abort();
  });
  return departure;
}

/** The caller of an authenticated route. */
export function callerOf(ctx: Context): Caller {
  if (ctx.state.caller === undefined)
    throw new Error(`${ctx.path} is routed without authentication`);
  return ctx.state.caller;
}
