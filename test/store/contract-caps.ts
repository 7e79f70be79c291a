/** The part of the contract that is about how many keys, shares and so on a member may create. */
import type { NewInvite, NewJoinToken, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import type { StoreHarness } from './store-harness.js';
import {
  NOW,
  createMember,
  createProvider,
  created,
  newKey,
  newProvider,
  randomHex,
  sha256,
} from './store-rows.js';

const CAP = 4;
const AT_ONCE = 12;
const NO_CAPS = { slots: null, hours: null, maxTokens: null };

type Make = (store: Store, index: number) => Promise<{ readonly kind: string }>;

export function describeCaps(adapter: string, harness: () => StoreHarness): void {
  const store = (): Store => harness().store;

  describe(`${adapter}: caps of a member`, () => {
    test('hold whatever two coordinators create at once', async () => {
      const stores = [store(), harness().peer('other')];
      for (const [what, make] of Object.entries(await makers(store()))) {
        const making = Array.from({ length: AT_ONCE }, (_, index) =>
          make(stores[index % 2] ?? store(), index),
        );
        const outcomes = await Promise.all(making);
        const refused = outcomes.filter(({ kind }) => kind === 'full');
        const expected = Array.from({ length: AT_ONCE - CAP }, () => ({
          kind: 'full',
          count: CAP,
        }));
        expect(refused, what).toEqual(expected);
      }
    });

    test('count what is open alone, and refuse nothing that is there already', async () => {
      const ownerId = (await createMember(store(), 'anna')).id;
      const key = created(await store().createKey(newKey(ownerId, { cap: 1 }), NOW));
      expect(await store().createKey(newKey(ownerId, { cap: 1 }), NOW)).toEqual(full(1));
      await store().setKeyState(key.id, 'revoked', NOW);
      expect(await store().createKey(newKey(ownerId, { cap: 1 }), NOW)).toMatchObject(made());

      const token = newToken(ownerId);
      expect(await store().createJoinToken(token, NOW)).toMatchObject(made());
      expect(await store().createJoinToken(newToken(ownerId), NOW)).toEqual(full(1));
      await store().enroll(newProvider(token.hash), NOW);
      expect(await store().createJoinToken(newToken(ownerId), NOW)).toMatchObject(made());
      expect(await store().createJoinToken(newToken(ownerId), NOW + 9)).toMatchObject(made());

      const [provider] = await store().listProviders();
      const audience = { kind: 'member', id: (await createMember(store(), 'ben')).id } as const;
      const row = { providerId: provider?.id ?? '', audience, caps: NO_CAPS, cap: 1 };
      const share = (model: string, slots = 1) => {
        const subject = { serviceId: null, model };
        return store().putShare({ ...row, subject, caps: { ...NO_CAPS, slots } }, NOW);
      };
      expect(await share('tiny')).toMatchObject({ kind: 'shared' });
      expect(await share('small')).toEqual(full(1));
      expect(await share('tiny', 2)).toMatchObject({ value: { caps: { slots: 2 } } });

      const [ben, cleo] = [audience.id, (await createMember(store(), 'cleo')).id];
      const block = (memberId: string) => store().blockMember({ ownerId, memberId, cap: 1 }, NOW);
      expect(await block(ben)).toEqual({ kind: 'changed' });
      expect(await block(cleo)).toEqual(full(1));
      expect(await block(ben)).toEqual({ kind: 'unchanged' });
    });

    test("a member's invite ends none that is not into a network of theirs", async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const networkOf = async (ownerId: string): Promise<string> =>
        created(await store().createNetwork({ name: randomHex(), ownerId }, NOW)).id;
      const [annas, bens] = [await networkOf(anna.id), await networkOf(ben.id)];
      const invite = (of: string, networkId: string, role: NewInvite['role'] = 'member') => {
        const row = newInvite('cleo@example.org', networkId, of);
        return store().createInvite({ ...row, role }, NOW);
      };
      const first = created(await invite(anna.id, annas));
      expect(await invite(ben.id, bens)).toEqual({ kind: 'invited' });
      expect((await store().listInvites())[0]).toEqual(first);
      // Her own invite counts, although the new one would end it.
      for (let index = 1; index < CAP; index += 1) {
        const row = newInvite(`guest-${index}@example.org`, annas, anna.id);
        expect(await store().createInvite(row, NOW)).toMatchObject(made());
      }
      expect(await invite(anna.id, annas)).toEqual(full(CAP));
      await store().revokeInvite(first.id, NOW);
      expect(await invite(ben.id, bens)).toMatchObject(made());
      expect(await invite(anna.id, annas)).toEqual({ kind: 'invited' });
      // An administrator's invite ends all others.
      const byAdmin = { ...newInvite('cleo@example.org', null, ''), inviter: null };
      expect(await store().createInvite({ ...byAdmin, role: 'admin' }, NOW)).toMatchObject(made());
      expect(await invite(ben.id, bens)).toEqual({ kind: 'invited' });
    });
  });
}

/** Each function creates one more, for members who have none yet. */
async function makers(store: Store): Promise<Readonly<Record<string, Make>>> {
  const { ownerId, id: providerId } = await createProvider(store);
  const guests = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) => createMember(store, `guest-${index}`)),
  );
  const idOf = (index: number): string => guests[index]?.id ?? '';
  const home = created(await store.createNetwork({ name: 'home', ownerId }, NOW)).id;
  const share = (index: number) => ({
    providerId,
    subject: { serviceId: null, model: `model-${index}` },
    audience: { kind: 'member', id: idOf(0) } as const,
    caps: NO_CAPS,
    cap: CAP,
  });
  const pair = (index: number) => ({ memberId: idOf(index), cap: CAP });
  return {
    keys: (by) => by.createKey(newKey(ownerId, { cap: CAP }), NOW),
    'join tokens': (by) => by.createJoinToken({ ...newToken(ownerId), cap: CAP }, NOW),
    networks: (by, index) =>
      by.createNetwork({ name: `n-${index}`, ownerId: idOf(0), cap: CAP }, NOW),
    invites: (by, index) =>
      by.createInvite(newInvite(`new-${index}@example.org`, home, ownerId), NOW),
    invitations: (by, index) =>
      by.inviteToNetwork({ networkId: home, invitedBy: ownerId, ...pair(index) }, NOW),
    shares: (by, index) => by.putShare(share(index), NOW),
    blocks: (by, index) => by.blockMember({ ownerId, ...pair(index) }, NOW),
  };
}

function newToken(ownerId: string): NewJoinToken {
  const hash = sha256(randomHex());
  return { ownerId, name: null, hash, expiresAt: NOW + 9, replaces: null, cap: 1 };
}

function newInvite(email: string, networkId: string | null, memberId: string): NewInvite {
  const hash = sha256(randomHex());
  const inviter = { memberId, cap: CAP };
  return { hash, email, role: 'member', networkId, expiresAt: NOW + 9, inviter };
}

function full(count: number): object {
  return { kind: 'full', count };
}

function made(): object {
  return { kind: 'created' };
}
