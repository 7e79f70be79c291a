/** The part of the contract that is about notifying watchers when sharing changes. */
import type { SharingFacts } from '@inference-gateway/coordinator/core/access/sharing';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import type { StoreHarness } from './store-harness.js';
import { NOW, createMember, createProvider, created, newKey, sha256 } from './store-rows.js';

const CAPS = { slots: null, hours: null, maxTokens: null };

export function describeWatching(adapter: string, open: () => StoreHarness): void {
  const store = (): Store => open().store;
  const watch = (): SharingFacts[] => {
    const told: SharingFacts[] = [];
    store().watchSharing((facts) => told.push(facts));
    return told;
  };

  describe(`${adapter}: watching what is shared`, () => {
    test('each change is told before it is answered, by members and commands alike', async () => {
      const provider = await createProvider(store(), { approved: false });
      const ben = await createMember(store(), 'ben');
      const told = watch();
      /** Whether the change succeeded, and the facts that watchers had received by then. */
      const after = async (change: Promise<unknown>): Promise<[boolean, SharingFacts[]]> => {
        const outcome = await change;
        return [outcome !== false, told.splice(0)];
      };
      const by = store().by('cli:root');
      const network = created(await by.createNetwork({ name: 'home', ownerId: ben.id }, NOW));
      told.length = 0;
      const [providerId, ownerId] = [provider.id, provider.ownerId];
      const audience = { kind: 'network', id: network.id } as const;
      const subject = { serviceId: null, model: null };
      const share = { providerId, subject, audience, caps: CAPS };
      const token = { name: null, hash: sha256('join'), replaces: null, expiresAt: NOW + 9 };
      await by.createJoinToken({ ...token, ownerId }, NOW);
      const joining = { joinTokenHash: token.hash, tokenHash: sha256('token') };
      const email = 'cleo@example.org';
      const invite = {
        hash: sha256('invite'),
        email,
        role: 'member',
        networkId: network.id,
      } as const;
      await by.createInvite({ ...invite, expiresAt: NOW + 9 }, NOW);
      const acceptance = { hash: invite.hash, name: 'cleo', passwordHash: '$scrypt$' };
      expect(told).toEqual([]);
      const changes: (() => Promise<unknown>)[] = [
        () => by.approveProvider(providerId, NOW),
        () => by.enroll({ ...joining, name: 'attic', approved: true }, NOW),
        () => by.putShare(share, NOW),
        () => by.joinNetwork(network.id, ownerId, NOW),
        () => by.acceptInvite(acceptance, NOW),
        () => by.leaveNetwork(network.id, ownerId),
        async () => {
          const pair = { networkId: network.id, memberId: ownerId };
          // An invitation alone shares nothing yet.
          await by.inviteToNetwork({ ...pair, invitedBy: ben.id }, NOW);
          return by.answerNetworkInvitation({ ...pair, accepted: true }, NOW);
        },
        () => by.blockMember({ ownerId, memberId: ben.id }, NOW),
        () => by.unblockMember(ownerId, ben.id),
        () => by.changeMember(ben.id, { disabled: true }, NOW),
        async () => by.deleteShare((await store().listShares(null))[0]?.id ?? ''),
        () => by.deleteNetwork(network.id),
        () => by.createNetwork({ name: 'den', ownerId }, NOW),
        () => by.removeProvider(providerId, NOW),
      ];
      let before = await store().sharingFacts();
      for (const change of changes) {
        const [isDone, facts] = await after(change());
        const now = await store().sharingFacts();
        expect([change.toString(), isDone, facts]).toEqual([change.toString(), true, [now]]);
        expect(now).not.toEqual(before);
        before = now;
      }
    });

    test('settings of a provider, and its names, are told like who may use it', async () => {
      const { id, ownerId } = await createProvider(store());
      const told = watch();
      await store().setProviderDraining(id, true);
      await store().setProviderPaused(id, true);
      await store().renameProvider(id, 'cellar');
      await store().changeMember(ownerId, { name: 'anna-lee' }, NOW);
      const facts = { id, ownerId, approved: true, draining: true, paused: true };
      expect(told.map(({ providers }) => providers)).toEqual([
        [{ ...facts, name: 'den-pc', ownerName: 'anna', paused: false }],
        [{ ...facts, name: 'den-pc', ownerName: 'anna' }],
        [{ ...facts, name: 'cellar', ownerName: 'anna' }],
        [{ ...facts, name: 'cellar', ownerName: 'anna-lee' }],
      ]);
    });

    test('a change by another process is told with the next operation', async () => {
      const { id, ownerId } = await createProvider(store());
      const made = newKey(ownerId);
      const key = created(await store().createKey(made, NOW));
      const { hash } = made;
      expect((await store().findKeyHolder(hash))?.key.disabledAt).toBeNull();
      const told = watch();
      const peer = open().peer('peer');
      await peer.setProviderDraining(id, true);
      await peer.setKeyState(key.id, 'disabled', NOW + 1);
      expect(told).toEqual([]);
      await store().isQueuePaused();
      expect(told).toMatchObject([{ providers: [{ id, draining: true }] }]);
      expect((await store().findKeyHolder(hash))?.key.disabledAt).toBe(NOW + 1);
      await peer.setMemberLimits(ownerId, { requests: 7 });
      await store().isQueuePaused();
      expect((await store().findKeyHolder(hash))?.limits.requests).toBe(7);
      expect(told).toHaveLength(1);
    });

    test('nobody is told of a change that failed, or of what shares nothing', async () => {
      const anna = await createMember(store(), 'anna');
      const told = watch();
      const nobodys = store().createNetwork({ name: 'home', ownerId: 'nobody' }, NOW);
      await expect(nobodys).rejects.toThrow('createNetwork failed');
      await createMember(store(), 'ben');
      await store().setMemberLimits(anna.id, { requests: 1 });
      await store().setQueuePaused(true);
      expect(told).toEqual([]);
    });

    test('of changes at the same time, each finds itself told when it is answered', async () => {
      const members = await Promise.all(
        ['anna', 'ben', 'cleo', 'dora'].map((name) => createMember(store(), name)),
      );
      const told = watch();
      const known = members.map(async ({ id }) => {
        await store().changeMember(id, { disabled: true }, NOW);
        return told.at(-1)?.disabledMembers.includes(id);
      });
      expect(await Promise.all(known)).toEqual([true, true, true, true]);
      expect(told.at(-1)?.disabledMembers).toHaveLength(4);
    });
  });
}
