/** Log-in by passkey: a challenge, and the browser's answer to it. */
import { ApiError } from '@inference-gateway/shared/errors';
import { check } from '@inference-gateway/shared/openai/check';
import type Router from '@koa/router';
import * as z from 'zod';
import { assertion } from '../../accounts/passkeys.js';
import type { Assertion, Passkeys } from '../../accounts/passkeys.js';
import type { PasskeyUse, Store } from '../../store/port.js';
import { AddressLimit } from '../edge/address-limit.js';
import type { RequestState } from '../edge/context.js';
import type { JsonBodies } from '../bodies/body.js';
import type { ConsoleSessions } from './browser-sessions.js';
import type { LogIn } from './log-in.js';

/** Challenges per address and minute. */
const MAX_CHALLENGES = 30;

const answering = z.object({ response: assertion });

export interface PasskeyRouteParts {
  readonly bodies: JsonBodies;
  readonly store: Pick<Store, 'findPasskey' | 'logInByPasskey'>;
  readonly passkeys: Passkeys;
  readonly logIn: LogIn;
  readonly sessions: ConsoleSessions;
}

export function passkeyRoutes(router: Router<RequestState>, parts: PasskeyRouteParts): void {
  const { bodies, store, passkeys, logIn, sessions } = parts;
  const limit = new AddressLimit(MAX_CHALLENGES);

  router.post('/api/console/v1/passkey/challenge', async (ctx) => {
    limit.take(ctx.state.ip);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = await passkeys.askForOne();
  });

  router.post('/api/console/v1/session/passkey', async (ctx) => {
    const { response } = check(answering, await bodies.read(ctx));
    const session = await logIn.attemptFrom(ctx.state.ip, async () => {
      const use = await checkedUse(parts, response);
      if (use === null) return null;
      return sessions.open(ctx, (browser, now) => store.logInByPasskey(use, browser, now));
    });
    if (session === null) throw invalidPasskey();
    ctx.status = 204;
  });
}

async function checkedUse(
  { store, passkeys }: PasskeyRouteParts,
  response: Assertion,
): Promise<PasskeyUse | null> {
  const passkey = await store.findPasskey(response.id);
  return passkey === null ? null : passkeys.checkUse(passkey, response);
}

/** Whichever of the reasons it is: strangers learn nothing about members. */
function invalidPasskey(): ApiError {
  const message =
    'This passkey is not accepted: it was deleted here, or the log-in took longer than five ' +
    'minutes. Try again, or log in with your password.';
  return new ApiError('invalid_passkey', message);
}
