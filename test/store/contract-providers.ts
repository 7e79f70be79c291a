/** The part of the contract that is about join tokens and the providers they become. */
import type { Provider, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import {
  HOST,
  NOW,
  SERVICE,
  createJoinToken,
  createProvider,
  created,
  randomHex,
  sha256,
} from './store-rows.js';

export function describeProviders(adapter: string, store: () => Store): void {
  describe(`${adapter}: enrolment`, () => {
    test('a join token makes one provider, once', async () => {
      const { ownerId, joinTokenHash } = await createJoinToken(store(), {});
      const tokenHash = sha256('agent');
      const enroll = (now: number): ReturnType<Store['enroll']> =>
        store().enroll({ joinTokenHash, tokenHash, name: 'den-pc' }, now);
      const first = await enroll(NOW + 1);
      expect(first).toMatchObject({
        kind: 'created',
        value: { ownerId, ownerName: 'anna', name: 'den-pc', createdAt: NOW + 1, services: [] },
      });
      expect(await enroll(NOW + 2)).toEqual({ kind: 'refused', reason: 'used' });
      const found = await store().findProviderByToken(tokenHash);
      expect({ kind: 'created', value: found }).toEqual(first);
      expect(await store().findProviderByToken(sha256('another'))).toBeNull();
    });

    test('of agents that use one token at the same time, one is enrolled', async () => {
      const { joinTokenHash } = await createJoinToken(store(), {});
      const attempts = ['a', 'b', 'c'].map((name) =>
        store().enroll({ joinTokenHash, tokenHash: sha256(name), name }, NOW + 1),
      );
      const kinds = (await Promise.all(attempts)).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(['created', 'refused', 'refused']);
      expect(await store().listProviders()).toHaveLength(1);
    });

    test('an unknown or expired token is refused, and says why', async () => {
      const { joinTokenHash } = await createJoinToken(store(), { expiresAt: NOW + 5 });
      const enroll = (hash: string, now: number): ReturnType<Store['enroll']> =>
        store().enroll({ joinTokenHash: hash, tokenHash: sha256('agent'), name: null }, now);
      expect(await enroll(joinTokenHash, NOW + 5)).toEqual({ kind: 'refused', reason: 'expired' });
      expect(await enroll(sha256('x'), NOW)).toEqual({ kind: 'refused', reason: 'unknown' });
      expect(await store().listProviders()).toEqual([]);
      expect(await enroll(joinTokenHash, NOW + 4)).toMatchObject({ kind: 'created' });
    });

    test('a name that the owner has given already leaves the token unspent', async () => {
      const first = await createJoinToken(store(), {});
      const second = await createJoinToken(store(), { ownerId: first.ownerId });
      const enroll = (joinTokenHash: string, name: string): ReturnType<Store['enroll']> =>
        store().enroll({ joinTokenHash, tokenHash: sha256(randomHex()), name }, NOW + 1);
      await enroll(first.joinTokenHash, 'den-pc');
      expect(await enroll(second.joinTokenHash, 'DEN-PC')).toEqual({
        kind: 'taken',
        field: 'name',
      });
      expect(await enroll(second.joinTokenHash, 'office')).toMatchObject({ kind: 'created' });
    });

    test("the name is the agent's, else the token's, else made from the owner's", async () => {
      const { ownerId } = await createJoinToken(store(), {});
      const enroll = async (tokenName: string | null, name: string | null): Promise<string> => {
        const { joinTokenHash } = await createJoinToken(store(), { ownerId, name: tokenName });
        const tokenHash = sha256(randomHex());
        return created(await store().enroll({ joinTokenHash, tokenHash, name }, NOW)).name;
      };
      expect(await enroll('attic', 'den')).toBe('den');
      expect(await enroll('attic', null)).toBe('attic');
      expect(await enroll(null, null)).toBe('anna-pc');
      expect(await enroll(null, 'ANNA-PC-2')).toBe('ANNA-PC-2');
      expect(await enroll(null, null)).toBe('anna-pc-3');
    });
  });

  describe(`${adapter}: providers`, () => {
    test('what was seen of a provider is kept, and what was not told stays', async () => {
      const provider = await createProvider(store());
      const seen = async (): Promise<Provider | undefined> => (await store().listProviders())[0];
      await store().recordProviderSeen(provider.id, { services: [SERVICE], host: HOST }, NOW + 5);
      expect(await seen()).toEqual({
        ...provider,
        services: [SERVICE],
        host: HOST,
        lastSeenAt: NOW + 5,
      });
      await store().recordProviderSeen(provider.id, {}, NOW + 9);
      expect(await seen()).toMatchObject({ services: [SERVICE], lastSeenAt: NOW + 9 });
      await store().recordProviderSeen(provider.id, { services: [] }, NOW + 8);
      expect(await seen()).toMatchObject({ services: [], host: HOST, lastSeenAt: NOW + 9 });
      await store().recordProviderSeen('no such provider', { services: [SERVICE] }, NOW);
      expect(await store().listProviders()).toHaveLength(1);
    });

    test('draining is kept and taken back', async () => {
      const { id } = await createProvider(store());
      const draining = async (): Promise<boolean | undefined> =>
        (await store().listProviders())[0]?.draining;
      expect(await draining()).toBe(false);
      expect(await store().setProviderDraining(id, true)).toBe(true);
      expect(await draining()).toBe(true);
      expect(await store().setProviderDraining(id, false)).toBe(true);
      expect(await draining()).toBe(false);
      expect(await store().setProviderDraining('no such provider', true)).toBe(false);
    });
  });
}
