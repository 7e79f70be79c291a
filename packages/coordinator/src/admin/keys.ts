import { hashSecret } from '@inference-gateway/shared/program/hash-secret';
import { newSecret } from '@inference-gateway/shared/ids';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { NAME_PATTERN, NAME_RULE } from '../core/name.js';
import type { ApiKey } from '../store/port.js';
import { adminCommand } from './admin-context.js';
import type { AdminContext } from './admin-context.js';
import { KEY_PREFIX_CHARACTERS, resolveKey, resolveMember } from './references.js';

const newKey = z.strictObject({
  user: z.string(),
  name: z.string().regex(NAME_PATTERN, NAME_RULE),
  scope: z.enum(['own', 'any']),
  expires_in_s: z.int().min(1).nullable(),
});

/** The only time that the key itself is told to anybody. */
export const createKey = adminCommand(newKey, async ({ store, now }, args) => {
  const owner = await resolveMember(store, args.user);
  const secret = newSecret('gwk');
  const at = now();
  const created = await store.createKey(
    {
      memberId: owner.id,
      name: args.name,
      prefix: secret.slice(0, KEY_PREFIX_CHARACTERS),
      hash: hashSecret(secret),
      scope: args.scope,
      expiresAt: args.expires_in_s === null ? null : at + args.expires_in_s * 1_000,
    },
    at,
  );
  if (created.kind === 'created') return { ...present(created.value, at), key: secret };
  const message =
    `${owner.email} has a key '${args.name}' already. ` +
    'Give another --name, or revoke that one.';
  throw new CommandError(EXIT.conflict, message);
});

export const listKeys = adminCommand(
  z.strictObject({ user: z.string().nullable() }),
  async ({ store, now }, { user }) => {
    const owner = user === null ? null : await resolveMember(store, user);
    return (await store.listKeys(owner?.id ?? null)).map((key) => present(key, now()));
  },
);

const oneKey = z.strictObject({ key: z.string() });

export const disableKey = adminCommand(oneKey, (context, args) =>
  setState(context, args.key, 'disabled'),
);
export const enableKey = adminCommand(oneKey, (context, args) =>
  setState(context, args.key, 'enabled'),
);
export const revokeKey = adminCommand(oneKey, (context, args) =>
  setState(context, args.key, 'revoked'),
);

async function setState(
  { store, now }: AdminContext,
  reference: string,
  state: 'disabled' | 'enabled' | 'revoked',
) {
  const key = await resolveKey(store, reference);
  const changed = await store.setKeyState(key.id, state, now());
  const name = `${key.memberEmail}/${key.name}`;
  if (changed) return { id: key.id, name, state };
  const message = `${name} (${key.id}) is revoked, which cannot be taken back. Create a new key.`;
  throw new CommandError(EXIT.conflict, message);
}

function present(key: ApiKey, now: number) {
  return {
    id: key.id,
    name: key.name,
    owner: key.memberEmail,
    prefix: key.prefix,
    state: stateOf(key, now),
    scope: key.scope,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    disabled_at: key.disabledAt,
    revoked_at: key.revokedAt,
  };
}

/** What stops it, the least curable first. */
function stateOf(key: ApiKey, now: number): 'active' | 'disabled' | 'expired' | 'revoked' {
  if (key.revokedAt !== null) return 'revoked';
  if (key.expiresAt !== null && key.expiresAt <= now) return 'expired';
  return key.disabledAt === null ? 'active' : 'disabled';
}
