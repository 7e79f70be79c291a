/** The part of the contract that is about networks and their members. */
import type { Network, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { NO_ID } from './job-rows.js';
import { NOW, createMember, createProvider, created } from './store-rows.js';

export function describeNetworks(adapter: string, store: () => Store): void {
  const make = async (name: string, ownerId: string, now = NOW): Promise<Network> =>
    created(await store().createNetwork({ name, ownerId }, now));
  const membersOf = async (id: string): Promise<string[]> => {
    const network = (await store().listNetworks()).find((one) => one.id === id);
    return (network?.members ?? []).map(({ name }) => name);
  };

  describe(`${adapter}: networks`, () => {
    test("a network's owner is its first member, and they are listed with names", async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const friends = await make('friends', ben.id);
      expect(friends).toEqual({
        id: friends.id,
        name: 'friends',
        ownerId: ben.id,
        ownerName: 'ben',
        createdAt: NOW,
        members: [{ id: ben.id, name: 'ben', joinedAt: NOW }],
      });
      const family = await make('family', anna.id, NOW + 1);
      expect(await store().listNetworks()).toEqual([friends, family]);
    });

    test('members are listed in the order in which they joined, the owner first', async () => {
      const anna = await createMember(store(), 'anna');
      const { id } = await make('friends', anna.id);
      for (const [name, joinedAt] of [
        ['cleo', NOW + 1],
        ['ben', NOW + 2],
        ['dora', NOW],
      ] as const) {
        const member = await createMember(store(), name);
        expect(await store().joinNetwork(id, member.id, joinedAt)).toBe(true);
      }
      expect(await membersOf(id)).toEqual(['anna', 'dora', 'cleo', 'ben']);
    });

    test('a name is unique, in either case, and may change its case', async () => {
      const { id: ownerId } = await createMember(store(), 'anna');
      const friends = await make('friends', ownerId);
      const again = await store().createNetwork({ name: 'Friends', ownerId }, NOW);
      expect(again).toEqual({ kind: 'taken', field: 'name' });
      const family = await make('family', ownerId);
      const taken = await store().renameNetwork(family.id, 'FRIENDS');
      expect(taken).toEqual({ kind: 'taken', field: 'name' });
      const rename = (name: string): ReturnType<Store['renameNetwork']> =>
        store().by('member:anna').renameNetwork(friends.id, name);
      const value = { ...friends, name: 'Friends' };
      expect(await rename('Friends')).toEqual({ kind: 'changed', value });
      expect(await rename('Friends')).toEqual({ kind: 'changed', value });
      expect(await store().listNetworks()).toContainEqual(value);
      expect(await store().renameNetwork(NO_ID, 'x')).toEqual({ kind: 'unknown' });
      const subject = { kind: 'network', id: friends.id, name: 'friends' };
      const [before, after] = [{ name: 'friends' }, { name: 'Friends' }];
      expect(await audited(store(), 'network.rename')).toEqual([
        { actor: 'member:anna', action: 'network.rename', subject, before, after },
      ]);
    });

    test('joining and leaving tell whether anything changed', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const { id } = await make('friends', anna.id);
      expect(await store().joinNetwork(id, ben.id, NOW)).toBe(true);
      expect(await store().joinNetwork(id, ben.id, NOW + 1)).toBe(false);
      expect(await store().joinNetwork(id, NO_ID, NOW)).toBe(false);
      expect(await store().joinNetwork(NO_ID, ben.id, NOW)).toBe(false);
      expect(await store().leaveNetwork(id, ben.id)).toBe(true);
      expect(await store().leaveNetwork(id, ben.id)).toBe(false);
      expect(await membersOf(id)).toEqual(['anna']);
      const about = { actor: 'system', subject: { kind: 'network', id, name: 'friends' } };
      const member = { member: 'ben' };
      expect(await audited(store(), 'network.add')).toEqual([
        { ...about, action: 'network.add', before: null, after: member },
      ]);
      expect(await audited(store(), 'network.remove')).toEqual([
        { ...about, action: 'network.remove', before: member, after: null },
      ]);
    });

    test('the owner does not leave while the network is there', async () => {
      const anna = await createMember(store(), 'anna');
      const { id } = await make('friends', anna.id);
      expect(await store().leaveNetwork(id, anna.id)).toBe(false);
      expect(await membersOf(id)).toEqual(['anna']);
      expect(await audited(store(), 'network.remove')).toEqual([]);
    });

    test('a deleted one is gone with its members and with what was shared with it', async () => {
      const { id: providerId, ownerId } = await createProvider(store());
      const ben = await createMember(store(), 'ben');
      const [friends, family] = [await make('friends', ownerId), await make('family', ownerId)];
      await store().joinNetwork(friends.id, ben.id, NOW);
      for (const { id } of [friends, family]) {
        const audience = { kind: 'network', id } as const;
        const caps = { slots: null, hours: null, maxTokens: null };
        const subject = { serviceId: null, model: null };
        await store().putShare({ providerId, subject, audience, caps }, NOW);
      }
      expect(await store().deleteNetwork(friends.id)).toBe(true);
      expect(await store().deleteNetwork(friends.id)).toBe(false);
      expect(await store().listNetworks()).toEqual([family]);
      const shares = await store().listShares(null);
      expect(shares.map(({ audienceName }) => audienceName)).toEqual(['family']);
      const { memberships } = await store().sharingFacts();
      expect(memberships).toEqual([{ networkId: family.id, memberId: ownerId }]);
      const subject = { kind: 'network', id: friends.id, name: 'friends' };
      const before = { name: 'friends', owner: 'anna', members: ['anna', 'ben'], shares: 1 };
      expect(await audited(store(), 'network.delete')).toEqual([
        { actor: 'system', action: 'network.delete', subject, before, after: null },
      ]);
      const created = await audited(store(), 'network.create');
      const after = { name: 'friends', owner: 'anna' };
      expect(created).toContainEqual(expect.objectContaining({ subject, before: null, after }));
    });
  });
}
