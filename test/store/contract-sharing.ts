/** The part of the contract that is about what owners share, and whom they block. */
import { resolveSharing } from '@inference-gateway/coordinator/core/access/sharing';
import type {
  ProviderSharing,
  ShareCaps,
} from '@inference-gateway/coordinator/core/access/sharing';
import type {
  Audience,
  Member,
  Network,
  NewShare,
  Provider,
  Share,
  Store,
} from '@inference-gateway/coordinator/store/port';
import { beforeEach, describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { NO_ID } from './job-rows.js';
import { NOW, createMember, createProvider, created } from './store-rows.js';

const NO_CAPS: ShareCaps = { slots: null, hours: null, maxTokens: null };
const CAPS: ShareCaps = {
  slots: 2,
  hours: { from: 22 * 60, until: 7 * 60, timeZone: 'Europe/Berlin' },
  maxTokens: 512,
};
const ALL = { serviceId: null, model: null };

const FACTS = { approved: true, draining: false, paused: false };

export function describeSharing(adapter: string, store: () => Store): void {
  const sharingOf = async (provider: Provider): Promise<ProviderSharing | undefined> =>
    resolveSharing(await store().sharingFacts()).get(provider.id);

  describe(adapter, () => {
    let den: Provider;
    let anna: Member;
    let ben: Member;
    let friends: Network;

    beforeEach(async () => {
      anna = await createMember(store(), 'anna');
      ben = await createMember(store(), 'ben');
      den = await createProvider(store(), { ownerId: anna.id });
      const network = { name: 'friends', ownerId: anna.id };
      friends = created(await store().createNetwork(network, NOW));
    });

    const toFriends = (): Audience => ({ kind: 'network', id: friends.id });
    const toBen = (): Audience => ({ kind: 'member', id: ben.id });
    const share = async (told: Partial<NewShare> = {}, now = NOW): Promise<Share> => {
      const all = { providerId: den.id, subject: ALL, audience: toFriends(), caps: NO_CAPS };
      return created(await store().putShare({ ...all, ...told }, now));
    };

    describe('shares', () => {
      test('each is listed with its names, in the order of their making', async () => {
        const attic = await createProvider(store(), { ownerId: anna.id, name: 'attic' });
        const first = await share({ subject: { serviceId: 'llm-1', model: null }, caps: CAPS });
        const second = await share({ subject: { serviceId: null, model: 'llama' } });
        const third = await share({ providerId: attic.id, audience: toBen() });
        expect(first).toEqual({
          id: first.id,
          providerId: den.id,
          providerName: 'anna/den-pc',
          ownerId: anna.id,
          subject: { serviceId: 'llm-1', model: null },
          audience: toFriends(),
          audienceName: 'friends',
          caps: CAPS,
          createdAt: NOW,
        });
        expect(third).toMatchObject({ audience: toBen(), audienceName: 'ben', subject: ALL });
        expect(await store().listShares(null)).toEqual([first, second, third]);
        expect(await store().listShares(den.id)).toEqual([first, second]);
        expect(await store().listShares(NO_ID)).toEqual([]);
      });

      test('the same shared again with the same takes the new caps, and stays one', async () => {
        const first = await share();
        const again = await share({ caps: CAPS }, NOW + 5);
        expect(again).toEqual({ ...first, caps: CAPS });
        expect(await store().listShares(null)).toEqual([again]);
        const other = await share({ subject: { serviceId: null, model: 'llama' } });
        const bens = await share({ audience: toBen() });
        expect(new Set([first.id, other.id, bens.id]).size).toBe(3);
        expect(await share({ caps: NO_CAPS }, NOW + 6)).toEqual(first);
      });

      test('a deleted one is gone, and the next of the same is another', async () => {
        const { id } = await share();
        const bens = await share({ audience: toBen() });
        expect(await store().deleteShare(id)).toBe(true);
        expect(await store().deleteShare(id)).toBe(false);
        expect(await store().listShares(null)).toEqual([bens]);
        expect((await share()).id).not.toBe(id);
      });

      test('what nobody has, or is out of range, is a fault of the program', async () => {
        const wrong: Partial<NewShare>[] = [
          { providerId: NO_ID },
          { audience: { kind: 'member', id: NO_ID } },
          { audience: { kind: 'network', id: NO_ID } },
          { subject: { serviceId: 'llm-1', model: 'llama' } },
          { caps: { ...NO_CAPS, slots: 0 } },
        ];
        for (const told of wrong) await expect(share(told)).rejects.toThrow('putShare failed');
        expect(await store().listShares(null)).toEqual([]);
        expect(await audited(store(), 'provider.share')).toEqual([]);
      });

      test('the audit log has each change of caps, and nothing where none differ', async () => {
        const { id } = await share({ subject: { serviceId: null, model: 'llama' } });
        await share({ subject: { serviceId: null, model: 'llama' } });
        const changed = { subject: { serviceId: null, model: 'llama' }, caps: CAPS };
        await store()
          .by('cli:root')
          .putShare({ providerId: den.id, audience: toFriends(), ...changed }, NOW + 1);
        await share(changed);
        await store().deleteShare(id);
        await store().deleteShare(id);
        const about = { subject: { kind: 'share', id, name: 'anna/den-pc' } };
        const what = { subject: 'model llama', audience: 'network friends' };
        const caps = { slots: 2, hours: '22:00-07:00 Europe/Berlin', maxTokens: 512 };
        const shared = { ...about, action: 'provider.share' };
        const entries = await audited(store(), 'provider.share');
        expect(entries).toHaveLength(2);
        const after = { ...what, caps: NO_CAPS };
        expect(entries).toContainEqual({ ...shared, actor: 'system', before: null, after });
        expect(entries).toContainEqual({
          ...shared,
          actor: 'cli:root',
          before: { caps: NO_CAPS },
          after: { ...what, caps },
        });
        const unshared = { ...about, action: 'provider.unshare', actor: 'system' };
        expect(await audited(store(), 'provider.unshare')).toEqual([
          { ...unshared, before: { ...what, caps }, after: null },
        ]);
      });
    });

    describe('blocks', () => {
      test('a block is listed with names, and made and taken back once', async () => {
        expect(await store().blockMember({ ownerId: anna.id, memberId: ben.id }, NOW)).toEqual({
          kind: 'changed',
        });
        expect(await store().blockMember({ ownerId: anna.id, memberId: ben.id }, NOW + 1)).toEqual({
          kind: 'unchanged',
        });
        const block = { ownerId: anna.id, ownerName: 'anna', memberId: ben.id, memberName: 'ben' };
        expect(await store().listBlocks()).toEqual([{ ...block, createdAt: NOW }]);
        expect(await store().unblockMember(ben.id, anna.id)).toBe(false);
        expect(await store().unblockMember(anna.id, ben.id)).toBe(true);
        expect(await store().unblockMember(anna.id, ben.id)).toBe(false);
        expect(await store().listBlocks()).toEqual([]);
        const about = {
          actor: 'system',
          subject: { kind: 'user', id: ben.id, name: 'ben@example.org' },
        };
        const owner = { owner: 'anna' };
        expect(await audited(store(), 'provider.block')).toEqual([
          { ...about, action: 'provider.block', before: null, after: owner },
        ]);
        expect(await audited(store(), 'provider.unblock')).toEqual([
          { ...about, action: 'provider.unblock', before: owner, after: null },
        ]);
      });

      test('nobody can be kept from what is their own, and nobody unknown is kept', async () => {
        expect(await store().blockMember({ ownerId: anna.id, memberId: anna.id }, NOW)).toEqual({
          kind: 'unchanged',
        });
        expect(await store().blockMember({ ownerId: anna.id, memberId: NO_ID }, NOW)).toEqual({
          kind: 'unchanged',
        });
        expect(await store().listBlocks()).toEqual([]);
      });
    });

    describe('the facts of sharing', () => {
      test('tell all that decides, and nothing else', async () => {
        const attic = { name: 'attic', approved: false };
        const { id: atticId } = await createProvider(store(), { ...attic, ownerId: ben.id });
        const { id } = await share({ caps: CAPS });
        const bens = await share({ audience: toBen(), subject: { serviceId: 's', model: null } });
        await store().blockMember({ ownerId: ben.id, memberId: anna.id }, NOW);
        await store().changeMember(ben.id, { disabled: true }, NOW);
        const facts = await store().sharingFacts();
        expect(facts).toEqual({
          providers: expect.arrayContaining([
            { ...FACTS, id: den.id, name: 'den-pc', ownerId: anna.id, ownerName: 'anna' },
            { ...FACTS, id: atticId, ownerId: ben.id, ownerName: 'ben', ...attic },
          ]) as unknown,
          disabledMembers: [ben.id],
          memberships: [{ networkId: friends.id, memberId: anna.id }],
          shares: [
            { id, providerId: den.id, ...ALL, networkId: friends.id, memberId: null, caps: CAPS },
            {
              id: bens.id,
              providerId: den.id,
              serviceId: 's',
              model: null,
              networkId: null,
              memberId: ben.id,
              caps: NO_CAPS,
            },
          ],
          blocks: [{ ownerId: ben.id, memberId: anna.id }],
          aliases: [],
        });
        expect(facts.providers).toHaveLength(2);
      });

      test('resolve to those whom a share reaches', async () => {
        const cleo = await createMember(store(), 'cleo');
        expect(await sharingOf(den)).toMatchObject({ closed: false, shares: [] });
        await store().joinNetwork(friends.id, ben.id, NOW);
        const { id } = await share({ caps: CAPS });
        const reached = async (): Promise<string[]> => {
          const sharing = await sharingOf(den);
          expect(sharing?.shares).toMatchObject([{ id, ...ALL, caps: CAPS }]);
          const everybody = (await store().listMembers()).map((one) => one.id).toSorted();
          return everybody.filter((one) => sharing?.shares[0]?.members.has(one));
        };
        expect(await reached()).toEqual([ben.id]);
        await store().joinNetwork(friends.id, cleo.id, NOW);
        expect(await reached()).toEqual([ben.id, cleo.id].toSorted());
        await store().blockMember({ ownerId: anna.id, memberId: ben.id }, NOW);
        expect(await reached()).toEqual([cleo.id]);
        await store().unblockMember(anna.id, ben.id);
        await store().changeMember(cleo.id, { disabled: true }, NOW);
        expect(await reached()).toEqual([ben.id]);
        await store().leaveNetwork(friends.id, ben.id);
        expect(await reached()).toEqual([]);
      });

      test('close what waits for approval, and what a disabled member owns', async () => {
        const attic = await createProvider(store(), { ownerId: ben.id, approved: false });
        expect(await sharingOf(attic)).toMatchObject({ closed: true });
        await store().approveProvider(attic.id, NOW);
        expect(await sharingOf(attic)).toMatchObject({ closed: false });
        await store().changeMember(ben.id, { disabled: true }, NOW);
        expect(await sharingOf(attic)).toMatchObject({ closed: true });
        await store().removeProvider(attic.id, NOW);
        expect(await sharingOf(attic)).toBeUndefined();
      });

      test('end with the network that it was shared with', async () => {
        await store().joinNetwork(friends.id, ben.id, NOW);
        await share();
        await store().deleteNetwork(friends.id);
        expect(await sharingOf(den)).toMatchObject({ closed: false, shares: [] });
      });
    });
  });
}
