/**
 * How members come into a network of somebody else's: its owner asks, and they answer. Whoever is
 * in it may be served by machines of its members, which nobody decides for another.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { requireRoom } from './caps.js';
import { change, read } from './command.js';
import type { Mine } from './command.js';
import { notYours, ownNetwork } from './own.js';

const oneNetwork = z.strictObject({ network: z.string() });
const membership = z.strictObject({ network: z.string(), member: z.string() });

export const MY_INVITATIONS = {
  /** The same answer where they are invited already. */
  'network.add': change(membership, async (mine, args) => {
    const { id, name, members } = await ownNetwork(mine, args);
    const { store, now } = mine.context;
    const member = await known(mine, args.member);
    if (members.some((one) => one.id === member.id)) throw inItAlready(member.name, name);
    const open = await store.listNetworkInvitations({ networkId: id });
    if (!open.some(({ memberId }) => memberId === member.id)) {
      requireRoom('open invitations to a network', open.length);
      const pair = { networkId: id, memberId: member.id };
      await store.inviteToNetwork({ ...pair, invitedBy: mine.member.id }, now());
    }
    return { id, name, member: member.name };
  }),
  'network.uninvite': change(membership, async (mine, args) => {
    const { id, name } = await ownNetwork(mine, args);
    const withdrawn = await mine.context.store.withdrawNetworkInvitation(id, args.member);
    if (!withdrawn) throw notYours('invitation for', args.member);
    return { id, name };
  }),
  /** Those that wait for one's own answer. */
  'network.invitations': read(z.strictObject({}), async (mine) =>
    (await toMe(mine)).map(({ networkId: id, networkName: name, inviterName, createdAt }) => ({
      id,
      name,
      invited_by: inviterName,
      invited_at: createdAt,
    })),
  ),
  'network.accept': change(oneNetwork, (mine, args) => answer(mine, args.network, true)),
  'network.decline': change(oneNetwork, (mine, args) => answer(mine, args.network, false)),
};

/** Members who have not answered yet, for the owner. */
export async function invitedTo({ context }: Mine, networkId: string) {
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
  // Withdrawn since it was found.
  if (!answered) throw notYours('invitation to', networkId);
  return { id: networkId, name: invitation.networkName };
}

/** By id or public name alone: an address is nobody's to try. */
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
