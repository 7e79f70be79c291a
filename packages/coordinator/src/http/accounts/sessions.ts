/** `/api/console/v1/session`: log-in to the dashboard, the current session, log-out. */
import { ApiError } from '@inference-gateway/shared/errors';
import { check } from '@inference-gateway/shared/openai/check';
import type Router from '@koa/router';
import * as z from 'zod';
import type { Oidc } from '../../accounts/oidc.js';
import type { Passkeys } from '../../accounts/passkeys.js';
import type { SetupLink } from '../../accounts/setup-link.js';
import type { ConsoleSessions } from './browser-sessions.js';
import type { LoggedIn } from './browser-sessions.js';
import type { RequestState } from '../edge/context.js';
import type { LogIn } from './log-in.js';
import type { JsonBodies } from '../bodies/body.js';

const PATH = '/api/console/v1/session';

const credentials = z.object({ email: z.string().trim().min(1).max(254), password: z.string() });

export interface SessionRouteParts {
  readonly bodies: JsonBodies;
  readonly logIn: LogIn;
  readonly sessions: ConsoleSessions;
  readonly passkeys: Passkeys;
  readonly oidc: Oidc | null;
  readonly setup: Pick<SetupLink, 'awaitsFirst'>;
  /** Version of this program. */
  readonly version: string;
  /** Version of the agent that this coordinator hands out; null if it hands out none. */
  readonly agentVersion: string | null;
  /** Called for each answer: the port is known only once the server listens. */
  readonly publicUrl: () => string;
}

export function sessionRoutes(router: Router<RequestState>, parts: SessionRouteParts): void {
  const { bodies, logIn, sessions, setup } = parts;

  router.post(PATH, async (ctx) => {
    const { email, password } = check(credentials, await bodies.read(ctx));
    const proven = await logIn.attempt({ email, password, address: ctx.state.ip });
    if (proven === null || !(await sessions.start(ctx, proven))) throw wrongPassword();
    ctx.status = 204;
  });

  router.get('/api/console/v1/log-in', (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const { passkeys, oidc } = parts;
    const provider = oidc && { name: oidc.settings.name };
    ctx.body = { passkey_origin: passkeys.origin, oidc: provider };
  });

  router.get(PATH, async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    const loggedIn = await sessions.identify(ctx).catch(async (error: unknown) => {
      // Nobody can log in yet: the page says what to do instead.
      throw (await setup.awaitsFirst()) ? notSetUp() : error;
    });
    ctx.body = { ...present(loggedIn), gateway: presentGateway(parts) };
  });

  router.delete(PATH, async (ctx) => {
    await sessions.end(ctx);
    ctx.status = 204;
  });
}

/** Tells every stranger where the link is, and nothing of the server. */
function notSetUp(): ApiError {
  const message =
    'This gateway has no members yet. Open its setup link: "gateway-coordinator start" has ' +
    "printed it, and the file 'setup-link' in the coordinator's data folder has it, too.";
  return new ApiError('not_set_up', message);
}

function wrongPassword(): ApiError {
  const message =
    'This address and this password do not belong together. Check both; an admin can set another ' +
    'password.';
  return new ApiError('wrong_password', message);
}

function present({ session, member }: LoggedIn) {
  const { id, name, email, role, keepsExcerpts: excerpts } = member;
  const shown = { id, name, email, role, excerpts };
  return { member: shown, expires_at: Math.floor(session.expiresAt / 1_000) };
}

/** What the page shows about the gateway itself. */
function presentGateway({ version, agentVersion, publicUrl }: SessionRouteParts) {
  const origin = publicUrl();
  return { version, agent_version: agentVersion, public_url: origin, base_url: `${origin}/v1` };
}
