/** `POST /api/console/v1/password`: a member changes their password. */
import { ApiError } from '@inference-gateway/shared/errors';
import { check } from '@inference-gateway/shared/openai/check';
import type Router from '@koa/router';
import * as z from 'zod';
import type { PasswordQueue } from '../../accounts/password-queue.js';
import { requirePassword } from '../../accounts/password.js';
import type { Store } from '../../store/port.js';
import type { ConsoleSessions, Proven } from './browser-sessions.js';
import type { RequestState } from '../edge/context.js';
import type { LogIn } from './log-in.js';
import type { JsonBodies } from '../bodies/body.js';

/** Checked separately, so that errors do not repeat it. */
const change = z.object({ current: z.string(), password: z.string() });

export interface PasswordRouteParts {
  readonly bodies: JsonBodies;
  readonly store: Pick<Store, 'by'>;
  readonly passwords: Pick<PasswordQueue, 'hash'>;
  /** Guessing in an open browser is slowed down as at the log-in. */
  readonly logIn: LogIn;
  readonly sessions: ConsoleSessions;
}

export function passwordRoutes(router: Router<RequestState>, parts: PasswordRouteParts): void {
  const { store, bodies, passwords, logIn, sessions } = parts;

  router.post('/api/console/v1/password', async (ctx) => {
    const { member } = await sessions.identify(ctx);
    const { current, password } = check(change, await bodies.read(ctx, member.id));
    requirePassword(password);
    const credentials = { email: member.email, password: current, address: ctx.state.ip };
    const proven = await logIn.attempt(credentials);
    if (proven === null) throw wrongCurrent();
    const passwordHash = await passwords.hash(password);
    await replace(store.by(`member:${member.id}`), {
      ...proven,
      to: passwordHash,
      now: ctx.state.now(),
    });
    // The change has ended every session, including this browser's.
    if (!(await sessions.start(ctx, { ...proven, passwordHash }))) throw wrongCurrent();
    ctx.status = 204;
  });
}

/** A change made meanwhile, for instance by an administrator after a theft, is not overwritten. */
async function replace(
  store: Pick<Store, 'changeMember'>,
  { memberId, passwordHash: formerPasswordHash, to, now }: Proven & { to: string; now: number },
): Promise<void> {
  const change = { passwordHash: to, formerPasswordHash };
  const changed = await store.changeMember(memberId, change, now);
  if (changed.kind !== 'changed') throw wrongCurrent();
}

function wrongCurrent(): ApiError {
  const message = 'This is not your current password. Check it; an admin can set another one.';
  return new ApiError('wrong_password', message, { param: 'current' });
}
