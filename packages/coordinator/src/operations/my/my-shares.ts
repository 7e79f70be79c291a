/** What is shared, from both sides: what a member gives to others, and what they get. */
import * as z from 'zod';
import { viewsById } from '../provider-view.js';
import { presentShare } from '../share-view.js';
import { resolveSharing } from '../../core/access/sharing.js';
import type { Share } from '../../store/port.js';
import { read } from './command.js';
import type { Mine } from './command.js';

const nothing = z.strictObject({});

export const MY_SHARES = {
  /** Of all providers of theirs, with the ids that the commands take. */
  'share.given': read(nothing, async ({ context, member }) => {
    const shares = await context.store.listShares(null);
    return shares.filter(({ ownerId }) => ownerId === member.id).map(present);
  }),
  /** Whether its provider is online or not; nothing of whoever blocks them. */
  'share.received': read(nothing, async (mine) => {
    const views = viewsById(mine.context);
    const shares = await visibleShares(mine);
    return shares
      .filter(({ ownerId }) => ownerId !== mine.member.id)
      .map((share) => ({
        ...present(share),
        online: (views.get(share.providerId)?.session ?? null) !== null,
      }));
  }),
};

/** What the member gives, and what reaches them: nothing else may be named to them. */
export async function visibleShares({ context, member }: Mine): Promise<readonly Share[]> {
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
