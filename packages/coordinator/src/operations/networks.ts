import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { NAME_PATTERN, NAME_RULE } from '../core/access/name.js';
import type { Network, Share } from '../store/port.js';
import { adminChange, adminRead, capOf, capReached } from './operation.js';
import { resolveMember, resolveNetwork } from './references.js';
import { presentShare } from './provider-view.js';

const networkName = z.string().regex(NAME_PATTERN, NAME_RULE);
const oneNetwork = z.strictObject({ network: z.string() });
const membership = z.strictObject({ network: z.string(), member: z.string() });

export const createNetwork = adminChange(
  z.strictObject({ name: networkName, owner: z.string() }),
  async (context, { name, owner: reference }) => {
    const { store, now } = context;
    const owner = await resolveMember(store, reference);
    const network = { name, ownerId: owner.id, cap: capOf(context, 'networks') };
    const created = await store.createNetwork(network, now());
    if (created.kind === 'full') throw capReached('networks', created);
    if (created.kind === 'taken') throw nameTaken(name);
    return summarize(created.value, []);
  },
);

export const listNetworks = adminRead(z.strictObject({}), async ({ store }) => {
  const shares = await store.listShares(null);
  return (await store.listNetworks()).map((network) => summarize(network, shares));
});

/** The shares with it, whether or not their providers are online. */
export const showNetwork = adminRead(oneNetwork, async ({ store }, args) => {
  const network = await resolveNetwork(store, args.network);
  const shares = sharesWith(network, await store.listShares(null));
  return {
    id: network.id,
    name: network.name,
    owner: network.ownerName,
    created_at: network.createdAt,
    members: network.members.map(({ id, name, joinedAt }) => ({ id, name, joined_at: joinedAt })),
    shares: shares.map(presentShare),
  };
});

export const addToNetwork = adminChange(membership, async ({ store, now }, args) => {
  const network = await resolveNetwork(store, args.network);
  const member = await resolveMember(store, args.member);
  const joined = await store.joinNetwork(network.id, member.id, now());
  if (joined) return { id: network.id, name: network.name, member: member.name };
  throw new CommandError(EXIT.conflict, `${member.name} is in ${network.name} already.`);
});

export const removeFromNetwork = adminChange(membership, async ({ store }, args) => {
  const network = await resolveNetwork(store, args.network);
  const member = await resolveMember(store, args.member);
  if (member.id === network.ownerId) throw ownerStays(network);
  const left = await store.leaveNetwork(network.id, member.id);
  if (left) return { id: network.id, name: network.name, member: member.name };
  const { name } = network;
  const message = `${member.name} is not in ${name}. "network show ${name}" names who is.`;
  throw new CommandError(EXIT.conflict, message);
});

export const renameNetwork = adminChange(
  z.strictObject({ network: z.string(), name: networkName }),
  async ({ store }, { network: reference, name }) => {
    const network = await resolveNetwork(store, reference);
    const renamed = await store.renameNetwork(network.id, name);
    if (renamed.kind === 'taken') throw nameTaken(name);
    if (renamed.kind === 'unknown') throw gone(network);
    return { id: network.id, name: renamed.value.name, before: network.name };
  },
);

export const deleteNetwork = adminChange(oneNetwork, async ({ store }, args) => {
  const network = await resolveNetwork(store, args.network);
  const shares = sharesWith(network, await store.listShares(null));
  if (!(await store.deleteNetwork(network.id))) throw gone(network);
  return { id: network.id, name: network.name, shares: shares.length };
});

function summarize(network: Network, shares: readonly Share[]) {
  return {
    id: network.id,
    name: network.name,
    owner: network.ownerName,
    members: network.members.length,
    shares: sharesWith(network, shares).length,
    created_at: network.createdAt,
  };
}

function sharesWith({ id }: Network, shares: readonly Share[]): readonly Share[] {
  return shares.filter(({ audience }) => audience.kind === 'network' && audience.id === id);
}

function nameTaken(name: string): CommandError {
  const message = `a network '${name}' exists already. Give another name.`;
  return new CommandError(EXIT.conflict, message);
}

function ownerStays({ name, ownerName }: Network): CommandError {
  const message =
    `${name} is ${ownerName}'s own, and its owner cannot leave it. ` +
    `"network delete ${name} --yes" ends it with all that is shared with it.`;
  return new CommandError(EXIT.conflict, message);
}

/** Deleted meanwhile. */
function gone({ name }: Network): CommandError {
  return new CommandError(EXIT.notFound, `the network '${name}' is gone.`);
}
