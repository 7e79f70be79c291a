import { isSecret, newSecret } from '@inference-gateway/shared/ids';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import * as z from 'zod';
import { NAME_PATTERN, NAME_RULE } from '../core/access/name.js';
import type { JoinToken, Member, Provider, Store } from '../store/port.js';
import { adminChange, adminRead, capOf, capReached } from './operation.js';
import {
  providerNames,
  resolveMember,
  resolveProvider,
  sameName,
  secretInArgument,
  unknownId,
} from './references.js';
import { lifeSeconds } from './arguments.js';
import { stateOf } from './invites.js';

/** The arguments of a join token, without its owner. */
export const tokenFields = z.strictObject({
  /** The name of the provider, unless its agent has another. */
  name: z.string().regex(NAME_PATTERN, NAME_RULE).nullable(),
  expires_in_s: lifeSeconds,
  /** The provider that enrols again; null for a new one. */
  replace: z.string().nullable(),
});

const newToken = tokenFields
  .extend({ owner: z.string() })
  .refine(({ name, replace }) => name === null || replace === null, {
    path: ['name'],
    message: 'a provider that enrols again keeps its name: leave out --name or --replace',
  });

/** The only time that the token itself is shown. */
export const createJoinToken = adminChange(newToken, async (context, args) => {
  const { store, now } = context;
  const owner = await resolveMember(store, args.owner);
  const replaced = args.replace === null ? null : await resolveOwn(store, owner, args.replace);
  const token = newSecret('gwj');
  const at = now();
  const created = await store.createJoinToken(
    {
      ownerId: owner.id,
      name: args.name,
      hash: hashSecret(token),
      expiresAt: at + args.expires_in_s * 1_000,
      replaces: replaced?.id ?? null,
      cap: capOf(context, 'open join tokens'),
    },
    at,
  );
  if (created.kind === 'full') throw capReached('open join tokens', created);
  const { id, expiresAt } = created.value;
  return { id, token, owner: owner.email, replaces: replaced?.name ?? null, expires_at: expiresAt };
});

export const listJoinTokens = adminRead(z.strictObject({}), async ({ store, now }) => {
  const names = await providerNames(store);
  return (await store.listJoinTokens()).map((token) => present(token, names, now()));
});

export const revokeJoinToken = adminChange(
  z.strictObject({ token: z.string() }),
  async ({ store, now }, { token: id }) => {
    if (isSecret('gwj', id)) throw secretInArgument('a join token itself', 'its id');
    const token = (await store.listJoinTokens()).find((one) => one.id === id);
    if (token === undefined) throw unknownId('token', id);
    if (await store.revokeJoinToken(id, now())) return { id, owner: token.ownerName };
    const state = token.usedAt === null ? 'revoked' : 'used';
    throw new CommandError(EXIT.conflict, `the token ${id} is ${state}: nothing has changed.`);
  },
);

/** A provider of the owner, by id or name; if there is none, of any owner. */
async function resolveOwn(store: Store, owner: Member, reference: string): Promise<Provider> {
  const own = (await store.listProviders()).filter(({ ownerId }) => ownerId === owner.id);
  const named = own.find(({ id, name }) => id === reference || sameName(name, reference));
  const provider = named ?? (await resolveProvider(store, reference));
  if (provider.ownerId === owner.id) return provider;
  const whose = `${provider.ownerName}/${provider.name} belongs to ${provider.ownerName}`;
  throw new CommandError(EXIT.usage, `${whose}, not to ${owner.name}: name its owner.`);
}

function present(token: JoinToken, providers: ReadonlyMap<string, string>, now: number) {
  const { replaces, providerId } = token;
  return {
    id: token.id,
    owner: token.ownerName,
    name: token.name,
    replaces: providers.get(replaces ?? '') ?? null,
    state: stateOf(token, now),
    created_at: token.createdAt,
    expires_at: token.expiresAt,
    used_at: token.usedAt,
    revoked_at: token.revokedAt,
    provider: providers.get(providerId ?? '') ?? null,
    provider_id: providerId,
  };
}
