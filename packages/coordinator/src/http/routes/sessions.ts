/** `/api/console/v1/session`: logging in to the dashboard, seeing who one is, and logging out. */
import { check } from '@inference-gateway/shared/openai/check';
import type Router from '@koa/router';
import * as z from 'zod';
import { PasswordDesk } from '../../accounts/password-desk.js';
import type { Store } from '../../store/port.js';
import { ConsoleSessions } from '../console-sessions.js';
import type { LoggedIn } from '../console-sessions.js';
import type { RequestState } from '../context.js';
import { LogIn, wrongPassword } from '../log-in.js';
import { smallBodies } from '../small-bodies.js';

const PATH = '/api/console/v1/session';

const credentials = z.object({ email: z.string().trim().min(1).max(254), password: z.string() });

export interface SessionRouteParts {
  readonly store: Pick<Store, 'findPassword'>;
  readonly desk: PasswordDesk;
  readonly sessions: ConsoleSessions;
}

export function sessionRoutes(router: Router<RequestState>, parts: SessionRouteParts): void {
  const { store, desk, sessions } = parts;
  const bodies = smallBodies();
  const logIn = new LogIn(store, desk);

  router.post(PATH, async (ctx) => {
    const { email, password } = check(credentials, await bodies.read(ctx));
    const proven = await logIn.attempt({ email, password, address: ctx.state.ip });
    if (!(await sessions.start(ctx, proven))) throw wrongPassword();
    ctx.status = 204;
  });

  router.get(PATH, async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = present(await sessions.identify(ctx));
  });

  router.delete(PATH, async (ctx) => {
    await sessions.end(ctx);
    ctx.status = 204;
  });
}

function present({ session, member }: LoggedIn) {
  const { id, name, email, role } = member;
  return { member: { id, name, email, role }, expires_at: Math.floor(session.expiresAt / 1_000) };
}
