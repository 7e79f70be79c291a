/** `/api/setup`: creates the first administrator, with the link that `start` has printed. */
import { ApiError } from '@inference-gateway/shared/errors';
import { check } from '@inference-gateway/shared/openai/check';
import type Router from '@koa/router';
import * as z from 'zod';
import { emailAddress } from '../../accounts/email-address.js';
import type { PasswordQueue } from '../../accounts/password-queue.js';
import { requirePassword } from '../../accounts/password.js';
import type { SetupLink } from '../../accounts/setup-link.js';
import { NAME_PATTERN, NAME_RULE } from '../../core/access/name.js';
import type { Store } from '../../store/port.js';
import { AddressLimit } from '../edge/address-limit.js';
import type { ConsoleSessions } from './browser-sessions.js';
import type { RequestState } from '../edge/context.js';
import type { JsonBodies } from '../bodies/body.js';

const PATH = '/api/setup';
/** Per address and minute: each valid one costs a hash. */
const MAX_TRIES = 10;

/** The password is checked separately, so that errors do not repeat it. */
const setup = z.object({
  token: z.string(),
  name: z.string().trim().regex(NAME_PATTERN, NAME_RULE),
  email: z.string().trim().pipe(emailAddress),
  password: z.string(),
});

export interface SetupParts {
  readonly bodies: JsonBodies;
  readonly store: Pick<Store, 'by'>;
  readonly passwords: Pick<PasswordQueue, 'hash'>;
  readonly sessions: ConsoleSessions;
  readonly setup: SetupLink;
}

export function setupRoutes(router: Router<RequestState>, parts: SetupParts): void {
  const { store, bodies, passwords, sessions } = parts;
  const limit = new AddressLimit(MAX_TRIES);

  router.get(PATH, (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    if (!parts.setup.isOpen) throw isSetUp();
    ctx.status = 204;
  });

  router.post(PATH, async (ctx) => {
    if (!parts.setup.isOpen) throw isSetUp();
    limit.take(ctx.state.ip);
    const { token, password, ...wanted } = check(setup, await bodies.read(ctx));
    if (!parts.setup.fits(token)) throw wrongLink();
    requirePassword(password);
    const passwordHash = await passwords.hash(password);
    const first = { ...wanted, passwordHash };
    const member = await store.by('setup').createFirstMember(first, ctx.state.now());
    await parts.setup.close();
    if (member === null) throw isSetUp();
    await sessions.start(ctx, { memberId: member.id, passwordHash });
    const { id, name, email, role } = member;
    ctx.status = 201;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { id, name, email, role };
  });
}

function isSetUp(): ApiError {
  const message = 'This gateway is set up already. Log in, or ask its admin for an invite.';
  return new ApiError('unknown_url', message);
}

function wrongLink(): ApiError {
  const message =
    'This is not the setup link of this gateway. Open the one that "start" printed last; it also ' +
    "stands in the file 'setup-link' of the data folder.";
  return new ApiError('invalid_setup_link', message, { param: 'token' });
}
