/** What the middleware knows of a request, and hands on. */
import type Koa from 'koa';
import type { LinkVerdict } from '../../assets/asset-links.js';
import type { Caller } from '../../core/access/caller.js';
import type { Outcome } from '../../run/work.js';

export interface RequestState {
  requestId: string;
  /** Monotonic ms. */
  receivedAt: number;
  /** The caller's address, as far as proxies are trusted to tell it. */
  ip: string;
  /** Set once the key, or the session, is known to be good. */
  caller?: Caller;
  /** What a fetch of one asset says of its right; absent if it is no such fetch. */
  assetLink?: LinkVerdict;
  /** What the log line adds of an inference call. */
  inference?: { model: string; outcome?: Outcome };
}

export type Context = Koa.ParameterizedContext<RequestState>;
export type Next = Koa.Next;
export type Middleware = Koa.Middleware<RequestState>;

/** The caller of an authenticated route. */
export function callerOf(ctx: Context): Caller {
  if (ctx.state.caller === undefined)
    throw new Error(`${ctx.path} is routed without authentication`);
  return ctx.state.caller;
}
