import { capOf, capReached } from '../operation.js';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { resolveSharing } from '../../core/access/sharing.js';
import type { Share } from '../../store/port.js';
import { createInvite, listInvites, revokeInvite } from '../invites.js';
import {
  createNetwork,
  deleteNetwork,
  listNetworks,
  removeFromNetwork,
  renameNetwork,
  showNetwork,
} from '../networks.js';
import { presentOwnShares, presentShare, viewsById } from '../provider-view.js';
import {
  joinedNetwork,
  joinedNetworks,
  notYours,
  ownInvite,
  ownInvites,
  ownNetwork,
} from './own.js';
import { change, guarded, read } from './command.js';
import type { Mine } from './command.js';

/** Longer lifetimes are not offered: an old invite may be found by others. */
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
    // Only the owner sees open invitations.
    const invited = own ? await invitedTo(mine, network.id) : [];
    const visible = new Set((await visibleShares(mine)).map(({ id }) => id));
    const shares = network.shares.filter(({ id }) => visible.has(id));
    return { ...network, shares, owner_id: ownerId, own, invited };
  }),
  'network.create': change(createNetwork.args.omit({ owner: true }), (mine, { name }) =>
    createNetwork.run(mine.context, { name, owner: mine.member.id }),
  ),
  'network.remove': guarded(removeFromNetwork, async (mine, args) => {
    const { members, ownerId } = await ownNetwork(mine, args);
    if (!members.some(({ id }) => id === args.member))
      throw notYours('network member', args.member);
    if (args.member === ownerId) throw ownerStays();
  }),
  'network.rename': guarded(renameNetwork, ownNetwork),
  'network.delete': guarded(deleteNetwork, ownNetwork),
  'network.leave': change(oneNetwork, async (mine, args) => {
    const { context, member } = mine;
    if ((await joinedNetwork(mine, args)).ownerId === member.id) throw ownerStays();
    return removeFromNetwork.run(context, { ...args, member: member.id });
  }),
  'user.invite': change(newInvite, async (mine, args) => {
    await ownNetwork(mine, args);
    return createInvite.run(mine.context, { ...args, admin: false });
  }),
  'user.invites': read(nothing, async (mine) => {
    const own = new Set((await ownInvites(mine)).map(({ id }) => id));
    return (await listInvites.run(mine.context, {})).filter(({ id }) => own.has(id));
  }),
  'user.uninvite': guarded(revokeInvite, ownInvite),
};

function ownerStays(): CommandError {
  const message = 'The owner of a network cannot leave it. Delete the network to end it.';
  return new CommandError(EXIT.conflict, message);
}

// Shares from both sides: those that a member gives, and those that they receive.
const noFields = z.strictObject({});

export const MY_SHARES = {
  /** Shares of all their providers, with the ids for the commands. */
  'share.given': read(noFields, async ({ context, member }) => {
    const all = await context.store.listShares(null);
    const shares = all.filter(({ ownerId }) => ownerId === member.id);
    const shown = await presentOwnShares(context, shares);
    return shares.map((share, index) => ({ ...present(share), used: shown[index]?.used ?? null }));
  }),
  /** Whether its provider is online or not; without owners who block them. */
  'share.received': read(noFields, async (mine) => {
    const views = viewsById(mine.context);
    const shares = await visibleShares(mine);
    return shares
      .filter(({ ownerId }) => ownerId !== mine.member.id)
      .map((share) => ({
        ...present(share),
        online: (views.get(share.providerId)?.link ?? null) !== null,
      }));
  }),
};

/** Shares that the member gives or receives: no others are shown. */
async function visibleShares({ context, member }: Mine): Promise<readonly Share[]> {
  const { store } = context;
  const resolved = resolveSharing(await store.sharingFacts());
  const reaches = ({ id, providerId }: Share): boolean =>
    resolved.get(providerId)?.shares.some((one) => one.id === id && one.members.has(member.id)) ??
    false;
  const shares = await store.listShares(null);
  return shares.filter((share) => share.ownerId === member.id || reaches(share));
}

function present(share: Share) {
  const { providerId, audience, ownerId } = share;
  return {
    ...presentShare(share),
    provider_id: providerId,
    owner_id: ownerId,
    audience_id: audience.id,
  };
}

// Invitations: the owner of a network invites, and the member accepts or declines. Joining means
// being served by machines of its members, which only the member may decide.

const invitedNetwork = z.strictObject({ network: z.string() });

const membership = z.strictObject({ network: z.string(), member: z.string() });

export const MY_INVITATIONS = {
  /** The same answer if they are already invited. */
  'network.add': change(membership, async (mine, args) => {
    const { id, name, members } = await ownNetwork(mine, args);
    const { store, now } = mine.context;
    const member = await known(mine, args.member);
    if (members.some((one) => one.id === member.id)) throw inItAlready(member.name, name);
    const what = 'open invitations to a network';
    const pair = { networkId: id, memberId: member.id };
    const invitation = { ...pair, invitedBy: mine.member.id, cap: capOf(mine.context, what) };
    const invited = await store.inviteToNetwork(invitation, now());
    if (invited.kind === 'full') throw capReached(what, invited);
    return { id, name, member: member.name };
  }),
  'network.uninvite': change(membership, async (mine, args) => {
    const { id, name } = await ownNetwork(mine, args);
    const withdrawn = await mine.context.store.withdrawNetworkInvitation(id, args.member);
    if (!withdrawn) throw notYours('invitation for', args.member);
    return { id, name };
  }),
  /** Invitations that wait for the member's answer. */
  'network.invitations': read(z.strictObject({}), async (mine) =>
    (await toMe(mine)).map(({ networkId: id, networkName: name, inviterName, createdAt }) => ({
      id,
      name,
      invited_by: inviterName,
      invited_at: createdAt,
    })),
  ),
  'network.accept': change(invitedNetwork, (mine, args) => answer(mine, args.network, true)),
  'network.decline': change(invitedNetwork, (mine, args) => answer(mine, args.network, false)),
};

/** Open invitations, for the owner. */
async function invitedTo({ context }: Mine, networkId: string) {
  const open = await context.store.listNetworkInvitations({ networkId });
  return open.map(({ memberId: id, memberName: name, createdAt }) => ({
    id,
    name,
    invited_at: createdAt,
  }));
}

function toMe({ context, member }: Mine) {
  return context.store.listNetworkInvitations({ memberId: member.id });
}

async function answer(mine: Mine, networkId: string, accepted: boolean) {
  const { context, member } = mine;
  const invitation = (await toMe(mine)).find((one) => one.networkId === networkId);
  if (invitation === undefined) throw notYours('invitation to', networkId);
  const pair = { networkId, memberId: member.id };
  const answered = await context.store.answerNetworkInvitation(
    { ...pair, accepted },
    context.now(),
  );
  // Withdrawn meanwhile.
  if (!answered) throw notYours('invitation to', networkId);
  return { id: networkId, name: invitation.networkName };
}

/** Only by id or public name: e-mail addresses must not be guessed. */
async function known({ context }: Mine, reference: string) {
  const member = reference.includes('@') ? null : await context.store.findMember(reference);
  if (member !== null) return member;
  const message =
    `There is no member called '${reference.slice(0, MAX_SHOWN)}'. Write the name that they have ` +
    'here, or invite them by their e-mail address.';
  throw new CommandError(EXIT.notFound, message);
}

const MAX_SHOWN = 64;

function inItAlready(member: string, network: string): CommandError {
  return new CommandError(EXIT.conflict, `${member} is in ${network} already.`);
}
