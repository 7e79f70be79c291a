import * as z from 'zod';
import { blockMember, unblockMember, shareProvider, unshareProvider } from '../shares.js';
import { describeProviders } from '../provider-view.js';
import {
  drainProvider,
  pauseProvider,
  removeProvider,
  renameProvider,
  resumeProvider,
  showProvider,
  unpauseProvider,
} from '../providers.js';
import { joinedNetwork, joinedNetworks, notYours, ownProvider } from './own.js';
import { change, guarded, read } from './command.js';
import type { Mine } from './command.js';

const oneMember = z.strictObject({ member: z.string() });

export const MY_PROVIDERS = {
  'provider.list': read(z.strictObject({}), async ({ context, member }) =>
    describeProviders(context, await context.store.listProviders(member.id)),
  ),
  'provider.show': guarded(showProvider, ownProvider),
  'provider.drain': guarded(drainProvider, ownProvider),
  'provider.resume': guarded(resumeProvider, ownProvider),
  'provider.pause': guarded(pauseProvider, ownProvider),
  'provider.unpause': guarded(unpauseProvider, ownProvider),
  'provider.rename': guarded(renameProvider, ownProvider),
  'provider.remove': guarded(removeProvider, ownProvider),
  'provider.share': guarded(shareProvider, async (mine, args) => {
    await ownProvider(mine, args);
    const { network, user } = args;
    if (network !== null) await joinedNetwork(mine, { network });
    if (user !== null) await companion(mine, user);
  }),
  'provider.unshare': guarded(unshareProvider, async (mine, args) => {
    await ownProvider(mine, args);
    // Shares with a network stay when they leave it, and can still be ended.
    const shares = await mine.context.store.listShares(args.provider);
    const { network, user, share } = args;
    const isAudience = (id: string): boolean => shares.some(({ audience }) => audience.id === id);
    if (network !== null && !isAudience(network)) throw notYours('share with', network);
    if (user !== null && !isAudience(user)) throw notYours('share with', user);
    if (share !== null && !shares.some(({ id }) => id === share)) throw notYours('share', share);
  }),
  'provider.block': change(oneMember, async (mine, { member: id }) => {
    const { context, member } = mine;
    await companion(mine, id);
    return blockMember.run(context, { owner: member.id, member: id });
  }),
  'provider.unblock': change(oneMember, async (mine, { member: id }) => {
    const { context, member } = mine;
    const isBlocked = (await ownBlocks(mine)).some((block) => block.id === id);
    if (!isBlocked) throw notYours('blocked member', id);
    return unblockMember.run(context, { owner: member.id, member: id });
  }),
  /** Members that they block. */
  'provider.blocks': read(z.strictObject({}), ownBlocks),
};

/** Checks that the member is in a common network, or already has a share. */
async function companion(mine: Mine, id: string): Promise<void> {
  const networks = await joinedNetworks(mine);
  if (networks.some(({ members }) => members.some((one) => one.id === id))) return;
  const shares = await mine.context.store.listShares(null);
  const isReached = shares.some(
    ({ ownerId, audience }) => ownerId === mine.member.id && audience.id === id,
  );
  if (!isReached) throw notYours('network member', id);
}

async function ownBlocks({ context, member }: Mine) {
  const blocks = await context.store.listBlocks();
  return blocks
    .filter(({ ownerId }) => ownerId === member.id)
    .map(({ memberId: id, memberName: name, createdAt }) => ({ id, name, created_at: createdAt }));
}
