/** Log-in at an OpenID provider: the browser is sent there, and comes back with a code. */
import { ApiError } from '@inference-gateway/shared/errors';
import { check } from '@inference-gateway/shared/openai/check';
import type Router from '@koa/router';
import * as z from 'zod';
import { OIDC_CALLBACK, OIDC_MS } from '../../accounts/oidc.js';
import type { Oidc, OidcFault, OidcFlow } from '../../accounts/oidc.js';
import type { SetupLink } from '../../accounts/setup-link.js';
import type { OidcArrival, OidcConnection, OidcRefusal, Store } from '../../store/port.js';
import { AddressLimit } from '../edge/address-limit.js';
import type { Context, RequestState } from '../edge/context.js';
import type { JsonBodies } from '../bodies/body.js';
import { HostCookie } from './browser-sessions.js';
import type { ConsoleSessions } from './browser-sessions.js';
import { hashInvite } from './join.js';
import { requireProof } from './log-in.js';
import type { LogIn } from './log-in.js';

/** Log-ins that are begun, per address and minute. */
const MAX_STARTS = 30;

const MAX_NEXT = 1_000;

const starting = z.object({
  /** The page to show afterwards. */
  next: z.string().max(MAX_NEXT).nullish(),
  /** An invite's link, or its secret. */
  token: z.string().max(MAX_NEXT).nullish(),
  /** True: connects the account to the member who is logged in. */
  connect: z.boolean().nullish(),
  password: z.string().nullish(),
});

type Starting = z.output<typeof starting>;

/** Why somebody is back without being logged in; the page has the words. */
type Problem = OidcFault | OidcRefusal | 'connected_elsewhere' | 'other_account' | 'too_many';

/** Nobody has guessed anything. */
const HARMLESS: readonly (Problem | null)[] = [null, 'denied', 'unreachable'];

export interface OidcRouteParts {
  readonly bodies: JsonBodies;
  readonly store: Pick<Store, 'by'>;
  /** Null: none is configured. */
  readonly oidc: Oidc | null;
  readonly logIn: LogIn;
  readonly sessions: ConsoleSessions;
  readonly setup: Pick<SetupLink, 'close'>;
  readonly publicUrl: () => string;
}

export function oidcRoutes(router: Router<RequestState>, parts: OidcRouteParts): void {
  const { bodies, publicUrl } = parts;
  const limit = new AddressLimit(MAX_STARTS);
  const cookie = new HostCookie('gateway_oidc', publicUrl);

  router.post('/api/console/v1/oidc/start', async (ctx) => {
    const oidc = configured(parts);
    limit.take(ctx.state.ip);
    const asked = check(starting, await bodies.read(ctx));
    const memberId = asked.connect === true ? await proven(ctx, parts, asked) : null;
    const next = memberId === null ? ownPage(asked.next ?? '/') : SECURITY;
    const { token = null } = asked;
    const inviteHash = token === null ? null : hashInvite(token);
    const begun = await oidc.begin({ next, inviteHash, memberId });
    if (begun === null) throw unreachable(oidc);
    cookie.write(ctx, begun.sealed, OIDC_MS);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { url: begun.url };
  });

  router.get(OIDC_CALLBACK, async (ctx) => {
    const oidc = configured(parts);
    const begun = oidc.read(cookie.read(ctx.get('cookie')));
    cookie.write(ctx, '', 0);
    ctx.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    const problem = begun === null ? 'expired' : await slowly(ctx, parts, begun);
    ctx.set('Location', new URL(pageAfter(begun, problem), publicUrl()).href);
    ctx.body = '';
    ctx.status = 302;
  });
}

/** Failed attempts slow down further ones from the address, as wrong passwords do. */
async function slowly(
  ctx: Context,
  parts: OidcRouteParts,
  begun: OidcFlow,
): Promise<Problem | null> {
  const attempt: { problem: Problem | null } = { problem: 'too_many' };
  const tried = parts.logIn.attemptFrom(ctx.state.ip, async () => {
    attempt.problem = await finish(ctx, parts, begun);
    return HARMLESS.includes(attempt.problem) ? true : null;
  });
  await tried.catch((error: unknown) => {
    // A browser shows a page and not an error's JSON.
    if (!(error instanceof ApiError) || error.code !== 'rate_limit_exceeded') throw error;
  });
  return attempt.problem;
}

/** Null if all is well. */
async function finish(
  ctx: Context,
  parts: OidcRouteParts,
  begun: OidcFlow,
): Promise<Problem | null> {
  const finished = await configured(parts).finish(begun, ctx.search);
  if (finished.kind === 'failed') return finished.fault;
  const { memberId } = begun;
  const { arrival } = finished;
  return memberId === null
    ? enter(ctx, parts, arrival)
    : connect(ctx, parts, { ...arrival, memberId });
}

async function enter(
  ctx: Context,
  { store, sessions, setup }: OidcRouteParts,
  arrival: OidcArrival,
): Promise<Problem | null> {
  let reason: Problem | null = null;
  const entered = await sessions.open(ctx, async (browser, now) => {
    const outcome = await store.by('oidc').logInByOidc(arrival, browser, now);
    if (outcome.kind === 'in') return outcome;
    reason = outcome.reason;
    return null;
  });
  if (entered?.isNew === true) await setup.close();
  return reason;
}

/** Only in the browser of the member who has begun it. */
async function connect(
  ctx: Context,
  { store, sessions }: OidcRouteParts,
  connection: OidcConnection,
): Promise<Problem | null> {
  const { memberId, issuer, subject, email, spent } = connection;
  const visit = { cookie: ctx.get('cookie'), address: ctx.state.ip };
  if ((await sessions.find(visit))?.member.id !== memberId) return 'expired';
  const account = { memberId, issuer, subject, email, spent };
  const outcome = await store.by(`member:${memberId}`).connectOidc(account, ctx.state.now());
  return CONNECTED[outcome];
}

const CONNECTED = {
  connected: null,
  taken: 'connected_elsewhere',
  other: 'other_account',
  spent: 'spent',
} as const satisfies Record<string, Problem | null>;

/** The member who connects an account, after their password or a recent log-in. */
async function proven(
  ctx: Context,
  { sessions, logIn }: OidcRouteParts,
  { password }: Starting,
): Promise<string> {
  const loggedIn = await sessions.identify(ctx);
  const { ip: address } = ctx.state;
  await requireProof(logIn, {
    password: password ?? null,
    loggedIn,
    address,
    now: ctx.state.now(),
  });
  return loggedIn.member.id;
}

function configured({ oidc }: OidcRouteParts): Oidc {
  if (oidc !== null) return oidc;
  const message = 'No OpenID provider is configured here: log in with your password.';
  throw new ApiError('not_found', message);
}

function unreachable({ settings }: Oidc): ApiError {
  const message = `No answer from ${settings.name} now. Try again, or log in another way.`;
  return new ApiError('log_in_unavailable', message);
}

// The page that is shown afterwards.

const SECURITY = '/settings/security';

/** Paths of programs, which are no pages. */
const NO_PAGE = /^\/(?:api|v1|agent|assets|download)(?:\/|$)/;

/** Only a page of the gateway: `next` may come from a link that somebody else has made. */
export function ownPage(next: string): string {
  const isPath = /^\/(?!\/)[^\\\p{C}]*$/u.test(next);
  return isPath && !NO_PAGE.test(next) ? next : '/';
}

function pageAfter(begun: OidcFlow | null, problem: Problem | null): string {
  const next = begun?.next ?? '/';
  if (problem === null) return next;
  if (begun !== null && begun.memberId !== null) return `${SECURITY}?problem=${problem}`;
  return `/login?problem=${problem}${next === '/' ? '' : `&next=${encodeURIComponent(next)}`}`;
}
