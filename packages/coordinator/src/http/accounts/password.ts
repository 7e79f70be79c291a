/** A member changes their password, or sets a new one by a link that an admin has made. */
import { ApiError } from '@inference-gateway/shared/errors';
import { isSecret } from '@inference-gateway/shared/ids';
import { check } from '@inference-gateway/shared/openai/check';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type Router from '@koa/router';
import * as z from 'zod';
import type { PasswordQueue } from '../../accounts/password-queue.js';
import { requirePassword } from '../../accounts/password.js';
import type { Store } from '../../store/port.js';
import type { ConsoleSessions, LoggedIn, Proven } from './browser-sessions.js';
import type { Context, RequestState } from '../edge/context.js';
import { requireProof, wrongPassword } from './log-in.js';
import type { LogIn } from './log-in.js';
import type { JsonBodies } from '../bodies/body.js';

/** Checked separately, so that errors do not repeat it. */
const change = z.object({ current: z.string().nullish(), password: z.string() });
const reset = z.object({ token: z.string(), password: z.string() });

export interface PasswordRouteParts {
  readonly bodies: JsonBodies;
  /** For links, whose users are not logged in. */
  readonly strangers: JsonBodies;
  readonly store: Pick<Store, 'by'>;
  readonly passwords: Pick<PasswordQueue, 'hash'>;
  /** Guessing in an open browser is slowed down as at the log-in. */
  readonly logIn: LogIn;
  readonly sessions: ConsoleSessions;
}

export function passwordRoutes(router: Router<RequestState>, parts: PasswordRouteParts): void {
  const { store, bodies, passwords, sessions } = parts;

  router.post('/api/console/v1/password', async (ctx) => {
    const loggedIn = await sessions.identify(ctx);
    const { id } = loggedIn.member;
    const { current = null, password } = check(change, await bodies.read(ctx, id));
    requirePassword(password);
    const former = await proveFormer(ctx, parts, { loggedIn, current });
    const passwordHash = await passwords.hash(password);
    // A change made meanwhile, for instance by an admin after a theft, is not overwritten.
    const to = { passwordHash, formerPasswordHash: former };
    const changed = await store.by(`member:${id}`).changeMember(id, to, ctx.state.now());
    if (changed.kind !== 'changed') throw wrongPassword('current');
    // The change has ended every session, including this browser's.
    await begin(ctx, sessions, { memberId: id, passwordHash });
    ctx.status = 204;
  });

  router.post('/api/console/v1/password/reset', (ctx) => resetPassword(ctx, parts));
}

interface Changing {
  readonly loggedIn: LoggedIn;
  readonly current: string | null;
}

/** The hash of the current password; null if there is none, and the log-in is recent. */
async function proveFormer(
  ctx: Context,
  { logIn }: PasswordRouteParts,
  { loggedIn, current }: Changing,
): Promise<string | null> {
  const { email, hasPassword } = loggedIn.member;
  const { ip: address } = ctx.state;
  if (!hasPassword) {
    await requireProof(logIn, { password: null, loggedIn, address, now: ctx.state.now() });
    return null;
  }
  if (current === null) throw currentMissing();
  const proven = await logIn.attempt({ email, password: current, address });
  if (proven === null) throw wrongPassword('current');
  return proven.passwordHash;
}

/** The secret alone, or the link that an admin has made, with the secret after the `#`. */
async function resetPassword(ctx: Context, parts: PasswordRouteParts): Promise<void> {
  const { store, strangers, passwords, logIn, sessions } = parts;
  const { token, password } = check(reset, await strangers.read(ctx));
  requirePassword(password);
  const secret = token.slice(token.lastIndexOf('#') + 1).trim();
  const proven = await logIn.attemptFrom(ctx.state.ip, async () => {
    if (!isSecret('gwr', secret)) return null;
    const passwordHash = await passwords.hash(password);
    const link = { hash: hashSecret(secret), passwordHash };
    const used = await store.by('reset link').resetPassword(link, ctx.state.now());
    return used && { memberId: used.memberId, passwordHash };
  });
  if (proven === null) throw invalidLink();
  await begin(ctx, sessions, proven);
  ctx.status = 204;
}

async function begin(ctx: Context, sessions: ConsoleSessions, proven: Proven): Promise<void> {
  if (!(await sessions.start(ctx, proven))) throw wrongPassword('current');
}

function currentMissing(): ApiError {
  const message = "The parameter 'current' is missing: send your present password, too.";
  return new ApiError('missing_required_parameter', message, { param: 'current' });
}

function invalidLink(): ApiError {
  const message =
    'This link is not accepted: it is not whole, or has been used or replaced, or is older than ' +
    'an hour. Ask an admin for another.';
  return new ApiError('invalid_reset_link', message, { param: 'token' });
}
