/** The part of the contract that is about inviting members into a network. */
import type { Member, Network, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { NO_ID } from './job-rows.js';
import { NOW, createMember, created } from './store-rows.js';

export function describeNetworkInvitations(adapter: string, store: () => Store): void {
  const people = async (): Promise<Record<'anna' | 'ben', Member> & { friends: Network }> => {
    const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
    const row = { name: 'friends', ownerId: anna.id };
    return { anna, ben, friends: created(await store().createNetwork(row, NOW)) };
  };
  const invite = (network: Network, member: { readonly id: string }, now = NOW) => {
    const pair = { networkId: network.id, memberId: member.id };
    return store()
      .by('member:anna')
      .inviteToNetwork({ ...pair, invitedBy: network.ownerId }, now);
  };
  const answer = (network: Network, member: { readonly id: string }, accepted: boolean) => {
    const pair = { networkId: network.id, memberId: member.id };
    return store()
      .by('member:ben')
      .answerNetworkInvitation({ ...pair, accepted }, NOW + 9);
  };
  const openTo = ({ id }: Network) => store().listNetworkInvitations({ networkId: id });
  const membersOf = async ({ id }: Network): Promise<string[]> => {
    const network = (await store().listNetworks()).find((one) => one.id === id);
    return (network?.members ?? []).map(({ name }) => name);
  };

  describe(`${adapter}: invitations to networks`, () => {
    test('an invitation is listed on both sides, and lets nobody in by itself', async () => {
      const { anna, ben, friends } = await people();
      const cleo = await createMember(store(), 'cleo');
      expect(await invite(friends, ben)).toEqual({ kind: 'changed' });
      expect(await invite(friends, cleo, NOW + 1)).toEqual({ kind: 'changed' });
      const bens = {
        networkId: friends.id,
        networkName: 'friends',
        memberId: ben.id,
        memberName: 'ben',
        invitedBy: anna.id,
        inviterName: 'anna',
        createdAt: NOW,
      };
      expect(await store().listNetworkInvitations({ memberId: ben.id })).toEqual([bens]);
      expect(await openTo(friends)).toEqual([
        bens,
        expect.objectContaining({ memberName: 'cleo' }),
      ]);
      expect(await store().listNetworkInvitations({ memberId: anna.id })).toEqual([]);
      expect(await membersOf(friends)).toEqual(['anna']);
      const { memberships } = await store().sharingFacts();
      expect(memberships).toEqual([{ networkId: friends.id, memberId: anna.id }]);
    });

    test('nobody is asked twice, nor where they are in it, nor into nothing', async () => {
      const { anna, ben, friends } = await people();
      expect(await invite(friends, ben)).toEqual({ kind: 'changed' });
      expect(await invite(friends, ben, NOW + 1)).toEqual({ kind: 'unchanged' });
      expect(await openTo(friends)).toMatchObject([{ createdAt: NOW }]);
      expect(await invite(friends, anna)).toEqual({ kind: 'unchanged' });
      expect(await invite(friends, { id: NO_ID })).toEqual({ kind: 'unchanged' });
      expect(await invite({ ...friends, id: NO_ID }, ben)).toEqual({ kind: 'unchanged' });
      expect(await audited(store(), 'network.invite')).toHaveLength(1);
    });

    test('a member who accepts is in it, once', async () => {
      const { ben, friends } = await people();
      expect(await answer(friends, ben, true)).toBe(false);
      expect(await membersOf(friends)).toEqual(['anna']);
      await invite(friends, ben);
      expect(await answer(friends, ben, true)).toBe(true);
      expect(await membersOf(friends)).toEqual(['anna', 'ben']);
      expect(await openTo(friends)).toEqual([]);
      expect(await answer(friends, ben, true)).toBe(false);
      expect(await store().leaveNetwork(friends.id, ben.id)).toBe(true);
      expect(await answer(friends, ben, true)).toBe(false);
      expect(await membersOf(friends)).toEqual(['anna']);
    });

    test('a member who declines is not, and may be asked again', async () => {
      const { ben, friends } = await people();
      await invite(friends, ben);
      expect(await answer(friends, ben, false)).toBe(true);
      expect(await answer(friends, ben, true)).toBe(false);
      expect(await membersOf(friends)).toEqual(['anna']);
      expect(await invite(friends, ben)).toEqual({ kind: 'changed' });
    });

    test('it goes when it is withdrawn, and cannot be accepted any more', async () => {
      const { ben, friends } = await people();
      await invite(friends, ben);
      expect(await store().withdrawNetworkInvitation(friends.id, ben.id)).toBe(true);
      expect(await store().withdrawNetworkInvitation(friends.id, ben.id)).toBe(false);
      expect(await answer(friends, ben, true)).toBe(false);
      expect(await membersOf(friends)).toEqual(['anna']);
    });

    test('it goes with its network, and where the member comes in by another way', async () => {
      const { ben, friends } = await people();
      await invite(friends, ben);
      expect(await store().joinNetwork(friends.id, ben.id, NOW)).toBe(true);
      expect(await openTo(friends)).toEqual([]);
      await store().leaveNetwork(friends.id, ben.id);
      await invite(friends, ben);
      await store().deleteNetwork(friends.id);
      expect(await store().listNetworkInvitations({ memberId: ben.id })).toEqual([]);
    });

    test('each step is written down with the member who took it', async () => {
      const { ben, friends } = await people();
      await invite(friends, ben);
      await answer(friends, ben, false);
      await invite(friends, ben);
      await store().by('member:anna').withdrawNetworkInvitation(friends.id, ben.id);
      await invite(friends, ben);
      await answer(friends, ben, true);
      const subject = { kind: 'network', id: friends.id, name: 'friends' };
      const member = { member: 'ben' };
      const came = { subject, before: null, after: member };
      const went = { subject, before: member, after: null };
      const [byAnna, byBen] = [{ actor: 'member:anna' }, { actor: 'member:ben' }];
      const [first] = await audited(store(), 'network.invite');
      expect(first).toEqual({ ...byAnna, ...came, action: 'network.invite' });
      for (const [action, entry] of [
        ['network.decline', { ...byBen, ...went }],
        ['network.uninvite', { ...byAnna, ...went }],
        ['network.accept', { ...byBen, ...went }],
        ['network.add', { ...byBen, ...came }],
      ] as const) {
        expect(await audited(store(), action)).toEqual([{ ...entry, action }]);
      }
    });
  });
}
