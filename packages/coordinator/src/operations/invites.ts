import { isSecret, newSecret } from '@inference-gateway/shared/ids';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import * as z from 'zod';
import type { Invite, Store } from '../store/port.js';
import { adminChange, adminRead, capReached, CAPS } from './operation.js';
import { emailAddress } from '../accounts/email-address.js';
import { memberExists } from './members.js';
import { resolveNetwork, secretInArgument, unknown } from './references.js';
import { lifeSeconds } from './arguments.js';

const newInvite = z.strictObject({
  email: emailAddress,
  admin: z.boolean(),
  /** The network that its member joins; null for none. */
  network: z.string().nullable(),
  expires_in_s: lifeSeconds,
});

/** The only time that the secret itself is shown. */
export const createInvite = adminChange(newInvite, async (context, args) => {
  const { store, server, boundTo, now } = context;
  const network = args.network === null ? null : await resolveNetwork(store, args.network);
  const secret = newSecret('gwi');
  const at = now();
  const created = await store.createInvite(
    {
      hash: hashSecret(secret),
      email: args.email,
      role: args.admin ? 'admin' : 'member',
      networkId: network?.id ?? null,
      expiresAt: at + args.expires_in_s * 1_000,
      inviter: boundTo === null ? null : { memberId: boundTo, cap: CAPS['open invites'] },
    },
    at,
  );
  if (created.kind === 'invited') throw invitedAlready(args.email);
  if (created.kind === 'full') throw capReached('open invites', created);
  if (created.kind === 'taken') throw memberExists('email', args.email);
  const origin = server === null ? null : (server.publicUrl ?? server.address);
  return { ...present(created.value, at), secret, origin };
});

/** A new invite would end an open one of the same address that is not the member's. */
function invitedAlready(email: string): CommandError {
  const message = `Somebody else has invited ${email}. Invite them by name once they are here.`;
  return new CommandError(EXIT.conflict, message);
}

export const listInvites = adminRead(z.strictObject({}), async ({ store, now }) =>
  (await store.listInvites()).map((invite) => present(invite, now())),
);

/** One by its id, or all open ones of an address. */
export const revokeInvite = adminChange(
  z.strictObject({ invite: z.string() }),
  async ({ store, now }, { invite: reference }) => {
    const named = await resolveInvites(store, reference);
    const revoked: Invite[] = [];
    for (const invite of named) {
      if (await store.revokeInvite(invite.id, now())) revoked.push(invite);
    }
    const [first] = revoked;
    if (first === undefined) throw notOpen(reference, named, now());
    return { email: first.email, revoked: revoked.map(({ id }) => id) };
  },
);

async function resolveInvites(store: Store, reference: string): Promise<readonly Invite[]> {
  if (isSecret('gwi', reference)) throw secretInArgument('an invite itself', 'its id or address');
  const invites = await store.listInvites();
  const address = reference.toLowerCase();
  const named = invites.filter(
    ({ id, email }) => id === reference || email.toLowerCase() === address,
  );
  if (named.length > 0) return named;
  const known = invites.map(({ email }) => email);
  throw unknown('invite', { reference, known, list: 'user invites' });
}

function notOpen(reference: string, named: readonly Invite[], now: number): CommandError {
  const states = [...new Set(named.map((invite) => stateOf(invite, now)))].join(' or ');
  const message = `the invite ${reference} is ${states} already: nothing has changed.`;
  return new CommandError(EXIT.conflict, message);
}

function present(invite: Invite, now: number) {
  return {
    id: invite.id,
    email: invite.email,
    role: invite.role,
    network: invite.networkName,
    state: stateOf(invite, now),
    created_at: invite.createdAt,
    expires_at: invite.expiresAt,
    used_at: invite.usedAt,
    revoked_at: invite.revokedAt,
  };
}

// Single-use secrets: invites, join tokens.

type LifecycleState = 'open' | 'used' | 'expired' | 'revoked';

interface Lifecycle {
  readonly expiresAt: number;
  readonly usedAt: number | null;
  readonly revokedAt: number | null;
}

export function stateOf({ expiresAt, usedAt, revokedAt }: Lifecycle, now: number): LifecycleState {
  if (usedAt !== null) return 'used';
  if (revokedAt !== null) return 'revoked';
  return expiresAt <= now ? 'expired' : 'open';
}
