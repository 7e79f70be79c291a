/** `POST /api/console/v1/password`: a member chooses another password for the dashboard. */
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

/** Looked at apart: a wrong one is not to be repeated. */
const change = z.object({ current: z.string(), password: z.string() });

export interface PasswordRouteParts {
  readonly bodies: JsonBodies;
  readonly store: Pick<Store, 'by'>;
  readonly passwords: Pick<PasswordQueue, 'hash'>;
  /** Whoever sits down at an open browser guesses no faster than anybody who logs in. */
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
    await replace(store, proven, passwordHash);
    // Every session has ended with the password, this browser's, too.
    if (!(await sessions.start(ctx, { ...proven, passwordHash }))) throw wrongCurrent();
    ctx.status = 204;
  });
}

/** Whoever sets another one meanwhile, an admin for one who was robbed, is not overruled. */
async function replace(
  store: Pick<Store, 'by'>,
  { memberId, passwordHash: formerPasswordHash }: Proven,
  passwordHash: string,
): Promise<void> {
  const own = store.by(`member:${memberId}`);
  const change = { passwordHash, formerPasswordHash };
  const changed = await own.changeMember(memberId, change, Date.now());
  if (changed.kind !== 'changed') throw wrongCurrent();
}

function wrongCurrent(): ApiError {
  const message = 'This is not your current password. Check it; an admin can set another one.';
  return new ApiError('wrong_password', message, { param: 'current' });
}
