import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { createInvite, listInvites, revokeInvite } from '../invites.js';
import { stateOf } from '../lifecycle.js';
import {
  createNetwork,
  deleteNetwork,
  listNetworks,
  removeFromNetwork,
  renameNetwork,
  showNetwork,
} from '../networks.js';
import { requireRoom } from './caps.js';
import { invitedTo } from './my-invitations.js';
import { change, guardedChange, read } from './command.js';
import type { Mine } from './command.js';
import { visibleShares } from './my-shares.js';
import {
  joinedNetwork,
  joinedNetworks,
  notYours,
  ownInvite,
  ownInvites,
  ownNetwork,
} from './own.js';

/** A letter that lies about for longer is found by somebody else. */
const MAX_INVITE_S = 30 * 86_400;
const LIFE_RULE = 'an invite is good for at most 30 days';

const nothing = z.strictObject({});
const oneNetwork = z.strictObject({ network: z.string() });
const newInvite = createInvite.args.omit({ admin: true }).extend({
  network: z.string(),
  expires_in_s: z.int().min(1).max(MAX_INVITE_S, LIFE_RULE),
});

export const MY_NETWORKS = {
  'network.list': read(nothing, async (mine) => {
    const joined = new Map((await joinedNetworks(mine)).map((one) => [one.id, one.ownerId]));
    const networks = await listNetworks.run(mine.context, {});
    const visible = await visibleShares(mine);
    return networks
      .filter(({ id }) => joined.has(id))
      .map((network) => ({
        ...network,
        shares: visible.filter(({ audience }) => audience.id === network.id).length,
        own: joined.get(network.id) === mine.member.id,
      }));
  }),
  'network.show': read(oneNetwork, async (mine, args) => {
    const { ownerId } = await joinedNetwork(mine, args);
    const network = await showNetwork.run(mine.context, args);
    const own = ownerId === mine.member.id;
    // Whom the owner would like to have in it is nobody else's business.
    const invited = own ? await invitedTo(mine, network.id) : [];
    const visible = new Set((await visibleShares(mine)).map(({ id }) => id));
    const shares = network.shares.filter(({ id }) => visible.has(id));
    return { ...network, shares, owner_id: ownerId, own, invited };
  }),
  'network.create': change(createNetwork.args.omit({ owner: true }), async (mine, { name }) => {
    const { context, member } = mine;
    const own = (await joinedNetworks(mine)).filter(({ ownerId }) => ownerId === member.id);
    requireRoom('networks', own.length);
    return createNetwork.run(context, { name, owner: member.id });
  }),
  'network.remove': guardedChange(removeFromNetwork, async (mine, args) => {
    const { members, ownerId } = await ownNetwork(mine, args);
    if (!members.some(({ id }) => id === args.member))
      throw notYours('network member', args.member);
    if (args.member === ownerId) throw ownerStays();
  }),
  'network.rename': guardedChange(renameNetwork, ownNetwork),
  'network.delete': guardedChange(deleteNetwork, ownNetwork),
  'network.leave': change(oneNetwork, async (mine, args) => {
    const { context, member } = mine;
    if ((await joinedNetwork(mine, args)).ownerId === member.id) throw ownerStays();
    return removeFromNetwork.run(context, { ...args, member: member.id });
  }),
  'user.invite': change(newInvite, async (mine, args) => {
    await ownNetwork(mine, args);
    await requireUninvited(mine, args.email);
    return createInvite.run(mine.context, { ...args, admin: false });
  }),
  'user.invites': read(nothing, async (mine) => {
    const own = new Set((await ownInvites(mine)).map(({ id }) => id));
    return (await listInvites.run(mine.context, {})).filter(({ id }) => own.has(id));
  }),
  'user.uninvite': guardedChange(revokeInvite, ownInvite),
};

/** A new invite ends the open one of the same address, which is not theirs to end. */
async function requireUninvited(mine: Mine, email: string): Promise<void> {
  const now = mine.context.now();
  const own = await ownInvites(mine);
  const address = email.toLowerCase();
  const open = (await mine.context.store.listInvites()).filter(
    (invite) => stateOf(invite, now) === 'open' && invite.email.toLowerCase() === address,
  );
  if (open.some(({ id }) => !own.some((one) => one.id === id))) {
    const message = `Somebody else has invited ${email}. Invite them by name once they are here.`;
    throw new CommandError(EXIT.conflict, message);
  }
  requireRoom('open invites', own.filter((invite) => stateOf(invite, now) === 'open').length);
}

function ownerStays(): CommandError {
  const message = 'The owner of a network cannot leave it. Delete the network to end it.';
  return new CommandError(EXIT.conflict, message);
}
