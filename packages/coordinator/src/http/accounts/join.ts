/**
 * `POST /api/join`: accepts an invite, and creates the first API key if requested.
 * `POST /api/join/invite`: says who invites to what.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { isSecret } from '@inference-gateway/shared/ids';
import { check } from '@inference-gateway/shared/openai/check';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type Router from '@koa/router';
import * as z from 'zod';
import { newKeySecret } from '../../accounts/key-secret.js';
import type { PasswordQueue } from '../../accounts/password-queue.js';
import { requirePassword } from '../../accounts/password.js';
import type { SetupLink } from '../../accounts/setup-link.js';
import { NAME_PATTERN, NAME_RULE } from '../../core/access/name.js';
import type { Created, Member, Store } from '../../store/port.js';
import { AddressLimit } from '../edge/address-limit.js';
import type { RequestState } from '../edge/context.js';
import type { JsonBodies } from '../bodies/body.js';

/** Per address and minute: each costs a hash, whether or not the invite is valid. */
const MAX_TRIES = 10;

const name = z.string().trim().regex(NAME_PATTERN, NAME_RULE);
/** The password is checked separately, so that errors do not repeat it. */
const joining = z.object({
  token: z.string(),
  name,
  password: z.string(),
  key_name: name.nullish(),
});

type Joining = z.output<typeof joining>;

export interface JoinParts {
  readonly bodies: JsonBodies;
  readonly store: Pick<Store, 'by' | 'findInvite'>;
  readonly passwords: Pick<PasswordQueue, 'hash'>;
  readonly setup: Pick<SetupLink, 'close'>;
  readonly publicUrl: () => string;
}

/** Per address and minute. */
const MAX_LOOKS = 30;

const looking = z.object({ token: z.string() });

export function joinRoutes(router: Router<RequestState>, parts: JoinParts): void {
  const { store, bodies, passwords, setup } = parts;
  const limit = new AddressLimit(MAX_TRIES);
  const looks = new AddressLimit(MAX_LOOKS);

  // By POST: the address of a request stands in the logs of proxies.
  router.post('/api/join/invite', async (ctx) => {
    looks.take(ctx.state.ip);
    const { token } = check(looking, await bodies.read(ctx));
    const invite = await store.findInvite(hashInvite(token), ctx.state.now());
    if (invite === null) throw refused();
    const { inviterName: inviter, networkName: network, expiresAt } = invite;
    const expires_at = Math.floor(expiresAt / 1_000);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { inviter, network, gateway: parts.publicUrl(), expires_at };
  });

  router.post('/api/join', async (ctx) => {
    limit.take(ctx.state.ip);
    const wanted = check(joining, await bodies.read(ctx));
    requirePassword(wanted.password);
    const hash = hashInvite(wanted.token);
    const passwordHash = await passwords.hash(wanted.password);
    const acceptance = { hash, name: wanted.name, passwordHash };
    const outcome = await store.by('invite').acceptInvite(acceptance, ctx.state.now());
    if (outcome.kind === 'refused') throw refused();
    const member = memberOf(outcome, wanted);
    await setup.close();
    const key = await firstKey(store.by(`member:${member.id}`), {
      memberId: member.id,
      name: wanted.key_name ?? null,
      now: ctx.state.now(),
    });
    ctx.status = 201;
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { id: member.id, name: member.name, email: member.email, ...key };
  });
}

/** The secret alone, or the link that `user invite` printed, with the secret after the `#`. */
export function hashInvite(token: string): string {
  const secret = token.slice(token.lastIndexOf('#') + 1).trim();
  if (isSecret('gwi', secret)) return hashSecret(secret);
  throw refused();
}

/** The reason is not shown to a caller without a valid invite. */
function refused(): ApiError {
  const message =
    'The invite is not accepted: it is not whole, or has been used or revoked, or has expired. ' +
    'If you joined with it, log in; if not, ask the admin for another.';
  return new ApiError('invalid_invite', message, { param: 'token' });
}

function memberOf(outcome: Created<Member>, wanted: Joining): Member {
  if (outcome.kind === 'created') return outcome.value;
  if (outcome.field === 'name') {
    const message = `There is a member '${wanted.name}' already. Choose another name.`;
    throw new ApiError('name_taken', message, { param: 'name' });
  }
  const message = 'The address of this invite is a member already. Log in, or ask the admin.';
  throw new ApiError('name_taken', message, { param: 'token' });
}

/** Shown only this once. */
async function firstKey(
  store: Pick<Store, 'createKey'>,
  { memberId, name, now }: { memberId: string; name: string | null; now: number },
): Promise<{ readonly key?: string }> {
  if (name === null) return {};
  const { secret, kept } = newKeySecret();
  const row = { memberId, name, ...kept, scope: 'any', expiresAt: null } as const;
  const created = await store.createKey(row, now);
  return created.kind === 'created' ? { key: secret } : {};
}
