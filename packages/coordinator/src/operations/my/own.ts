/** Finds a member's own resources by id. Those of others cause the same error as unknown ones. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { ApiKey, Invite, JoinToken, Network, Provider } from '../../store/port.js';
import type { Mine } from './command.js';

const SHOWN_CHARACTERS = 64;

export function notYours(noun: string, id: string): CommandError {
  const shown = id.slice(0, SHOWN_CHARACTERS);
  const message = `There is no ${noun} '${shown}' of yours. Look at the list again.`;
  return new CommandError(EXIT.notFound, message);
}

export async function ownKey(mine: Mine, { key: id }: { readonly key: string }): Promise<ApiKey> {
  const { context, member } = mine;
  return found('key', id, await context.store.listKeys(member.id));
}

export async function ownToken(
  mine: Mine,
  { token: id }: { readonly token: string },
): Promise<JoinToken> {
  return found('join token', id, await ownTokens(mine));
}

export async function ownTokens({ context, member }: Mine): Promise<readonly JoinToken[]> {
  return (await context.store.listJoinTokens()).filter(({ ownerId }) => ownerId === member.id);
}

export async function ownProvider(
  { context, member }: Mine,
  { provider: id }: { readonly provider: string },
): Promise<Provider> {
  return found('provider', id, await context.store.listProviders(member.id));
}

/** A network that they are in. */
export async function joinedNetwork(
  mine: Mine,
  { network: id }: { readonly network: string },
): Promise<Network> {
  return found('network', id, await joinedNetworks(mine));
}

export async function joinedNetworks({ context, member }: Mine): Promise<readonly Network[]> {
  const networks = await context.store.listNetworks();
  return networks.filter(({ members }) => members.some(({ id }) => id === member.id));
}

/** A network that they own. */
export async function ownNetwork(mine: Mine, args: { readonly network: string }): Promise<Network> {
  const network = await joinedNetwork(mine, args);
  if (network.ownerId === mine.member.id) return network;
  const { name, ownerName } = network;
  throw new CommandError(EXIT.notAuthorised, `${name} is ${ownerName}'s: ask them to do this.`);
}

/** Invites with the role `member` into networks that they own. */
export async function ownInvites({ context, member }: Mine): Promise<readonly Invite[]> {
  const networks = await context.store.listNetworks();
  const own = new Set(networks.filter(({ ownerId }) => ownerId === member.id).map(({ id }) => id));
  const invites = await context.store.listInvites();
  return invites.filter(({ role, networkId }) => role === 'member' && own.has(networkId ?? ''));
}

export async function ownInvite(mine: Mine, { invite: id }: { readonly invite: string }) {
  return found('invite', id, await ownInvites(mine));
}

export async function ownSession(
  { context, member }: Mine,
  { session: id }: { readonly session: string },
) {
  return found('session', id, await context.store.listSessions(member.id, context.now()));
}

function found<T extends { readonly id: string }>(noun: string, id: string, own: readonly T[]): T {
  const one = own.find((each) => each.id === id);
  if (one === undefined) throw notYours(noun, id);
  return one;
}
