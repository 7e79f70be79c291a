/** The part of the contract that is about join tokens and how they become providers. */
import type { JoinToken, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import {
  HOST,
  NOW,
  SERVICE,
  createJoinToken,
  createMember,
  createProvider,
  created,
  newProvider,
  randomHex,
  sha256,
  serve,
} from './store-rows.js';

const UNKNOWN_ID = 'Z'.repeat(26);

export function describeJoinTokens(adapter: string, store: () => Store): void {
  const enroll = (
    joinTokenHash: string,
    provider: Parameters<typeof newProvider>[1] = {},
    now = NOW + 1,
  ): ReturnType<Store['enroll']> => store().enroll(newProvider(joinTokenHash, provider), now);
  const onlyToken = async (): Promise<JoinToken | undefined> => (await store().listJoinTokens())[0];

  describe(`${adapter}: join tokens`, () => {
    test('they are listed with what became of them, the newest first', async () => {
      const { ownerId, joinToken } = await createJoinToken(store(), { name: 'den-pc' });
      expect(joinToken).toMatchObject({ ownerId, ownerName: 'anna', name: 'den-pc' });
      expect(joinToken).toMatchObject({ createdAt: NOW, expiresAt: NOW + 1_000, replaces: null });
      expect(joinToken).toMatchObject({ usedAt: null, revokedAt: null, providerId: null });
      const later = await createJoinToken(store(), { ownerId, now: NOW + 1 });
      expect(await store().listJoinTokens()).toEqual([later.joinToken, joinToken]);
      const { id } = created(await enroll(later.joinTokenHash, {}, NOW + 2));
      const used = { ...later.joinToken, usedAt: NOW + 2, providerId: id };
      expect(await store().listJoinTokens()).toEqual([used, joinToken]);
    });

    test('a revoked one is refused, and one that is used cannot be revoked', async () => {
      const { joinToken, joinTokenHash, ownerId } = await createJoinToken(store(), {});
      expect(await store().revokeJoinToken(joinToken.id, NOW + 1)).toBe(true);
      expect(await store().revokeJoinToken(joinToken.id, NOW + 2)).toBe(false);
      expect(await onlyToken()).toMatchObject({ revokedAt: NOW + 1 });
      expect(await enroll(joinTokenHash)).toEqual({ kind: 'refused', reason: 'revoked' });
      const used = await createJoinToken(store(), { ownerId });
      await enroll(used.joinTokenHash);
      expect(await store().revokeJoinToken(used.joinToken.id, NOW + 2)).toBe(false);
      expect(await store().revokeJoinToken(UNKNOWN_ID, NOW + 2)).toBe(false);
    });

    test('what was done with them is in the audit log, and no secret is', async () => {
      const { ownerId, joinToken, joinTokenHash } = await createJoinToken(store(), { name: 'den' });
      await store()
        .by('cli:root')
        .revokeJoinToken(joinToken.id, NOW + 1);
      await store().revokeJoinToken(joinToken.id, NOW + 1);
      await createJoinToken(store(), { ownerId });
      const entries = await audited(store(), 'token');
      expect(entries).toHaveLength(3);
      expect(entries).toContainEqual({
        actor: 'system',
        action: 'token.create',
        subject: { kind: 'token', id: joinToken.id, name: 'anna/den' },
        before: null,
        after: { owner: 'anna', name: 'den', expiresAt: NOW + 1_000, replaces: null },
      });
      expect(entries).toContainEqual({
        actor: 'cli:root',
        action: 'token.revoke',
        subject: { kind: 'token', id: joinToken.id, name: 'anna/den' },
        before: { owner: 'anna', name: 'den' },
        after: null,
      });
      expect(entries.map(({ subject }) => subject.name)).toContain('anna');
      expect(JSON.stringify(entries)).not.toContain(joinTokenHash);
    });
  });

  describe(`${adapter}: enrolment`, () => {
    test('a join token makes one provider, once', async () => {
      const { ownerId, joinTokenHash } = await createJoinToken(store(), {});
      const tokenHash = sha256('agent');
      const first = await enroll(joinTokenHash, { tokenHash, name: 'den-pc' });
      expect(first).toMatchObject({
        kind: 'created',
        value: { ownerId, ownerName: 'anna', name: 'den-pc', createdAt: NOW + 1, services: [] },
      });
      const again = await enroll(joinTokenHash, { tokenHash }, NOW + 2);
      expect(again).toEqual({ kind: 'refused', reason: 'used' });
      const found = await store().findProviderByToken(tokenHash);
      expect({ kind: 'created', value: found }).toEqual(first);
      expect(await store().findProviderByToken(sha256('another'))).toBeNull();
    });

    test('of agents that use one token at the same time, one is enrolled', async () => {
      const { joinTokenHash } = await createJoinToken(store(), {});
      const attempts = ['a', 'b', 'c'].map((name) => enroll(joinTokenHash, { name }));
      const kinds = (await Promise.all(attempts)).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(['created', 'refused', 'refused']);
      expect(await store().listProviders()).toHaveLength(1);
    });

    test('an unknown or expired token is refused, and says why', async () => {
      const { joinTokenHash } = await createJoinToken(store(), { expiresAt: NOW + 5 });
      const late = await enroll(joinTokenHash, {}, NOW + 5);
      expect(late).toEqual({ kind: 'refused', reason: 'expired' });
      expect(await enroll(sha256('x'))).toEqual({ kind: 'refused', reason: 'unknown' });
      expect(await store().listProviders()).toEqual([]);
      expect(await enroll(joinTokenHash, {}, NOW + 4)).toMatchObject({ kind: 'created' });
    });

    test('the token of a disabled member is refused until they are enabled', async () => {
      const { ownerId, joinTokenHash } = await createJoinToken(store(), {});
      await store().changeMember(ownerId, { disabled: true }, NOW);
      const refused = await enroll(joinTokenHash);
      expect(refused).toEqual({ kind: 'refused', reason: 'of a disabled member' });
      await store().changeMember(ownerId, { disabled: false }, NOW);
      expect(await enroll(joinTokenHash)).toMatchObject({ kind: 'created' });
    });

    test('a name that the owner has given already leaves the token unspent', async () => {
      const first = await createJoinToken(store(), {});
      const second = await createJoinToken(store(), { ownerId: first.ownerId });
      await enroll(first.joinTokenHash, { name: 'den-pc' });
      const taken = await enroll(second.joinTokenHash, { name: 'DEN-PC' });
      expect(taken).toEqual({ kind: 'taken', field: 'name' });
      const other = await enroll(second.joinTokenHash, { name: 'office' });
      expect(other).toMatchObject({ kind: 'created' });
    });

    test("the name is the agent's, else the token's, else made from the owner's", async () => {
      const { ownerId } = await createJoinToken(store(), {});
      const nameFor = async (tokenName: string | null, name: string | null): Promise<string> => {
        const { joinTokenHash } = await createJoinToken(store(), { ownerId, name: tokenName });
        return created(await enroll(joinTokenHash, { name })).name;
      };
      expect(await nameFor('attic', 'den')).toBe('den');
      expect(await nameFor('attic', null)).toBe('attic');
      expect(await nameFor(null, null)).toBe('anna-pc');
      expect(await nameFor(null, 'ANNA-PC-2')).toBe('ANNA-PC-2');
      expect(await nameFor(null, null)).toBe('anna-pc-3');
    });

    test('it is approved or waits for approval, and the audit log tells which', async () => {
      const { ownerId, joinTokenHash } = await createJoinToken(store(), {});
      const provider = newProvider(joinTokenHash, { name: 'den-pc', approved: false });
      const waiting = created(
        await store()
          .by('agent:den-pc')
          .enroll(provider, NOW + 1),
      );
      expect(waiting.approvedAt).toBeNull();
      const approved = await createProvider(store(), { ownerId, name: 'attic' });
      expect(approved.approvedAt).toBe(NOW);
      const entries = await audited(store(), 'provider.enroll');
      expect(entries).toHaveLength(2);
      expect(entries).toContainEqual({
        actor: 'agent:den-pc',
        action: 'provider.enroll',
        subject: { kind: 'provider', id: waiting.id, name: 'anna/den-pc' },
        before: null,
        after: { name: 'den-pc', approved: false, replaced: false },
      });
      const after = { name: 'attic', approved: true, replaced: false };
      expect(entries).toContainEqual(expect.objectContaining({ after }));
    });
  });

  describe(`${adapter}: enrolling again`, () => {
    test('gives the provider a new token, and it stays what it was', async () => {
      const old = sha256('old');
      const first = await createProvider(store(), { tokenHash: old, approved: false });
      const audience = { kind: 'member', id: (await createMember(store(), 'ben')).id } as const;
      const subject = { serviceId: null, model: null };
      const caps = { slots: null, hours: null, maxTokens: null };
      await store().putShare({ providerId: first.id, subject, audience, caps }, NOW);
      await serve(store(), first.id);
      const { ownerId, id: replaces } = first;
      const { joinTokenHash } = await createJoinToken(store(), { ownerId, replaces });
      const tokenHash = sha256('new');
      const outcome = await enroll(joinTokenHash, { tokenHash, name: 'other', approved: true });
      const known = { ...first, services: [SERVICE], host: HOST, lastSeenAt: NOW };
      expect(outcome).toEqual({ kind: 'created', value: known });
      expect(await store().findProviderByToken(old)).toBeNull();
      expect(await store().findProviderByToken(tokenHash)).toEqual(known);
      expect(await store().listShares(first.id)).toHaveLength(1);
      expect(await store().listProviders()).toHaveLength(1);
      const token = (await store().listJoinTokens()).find((one) => one.replaces === replaces);
      expect(token).toMatchObject({ usedAt: NOW + 1, providerId: first.id });
      const after = { name: 'den-pc', approved: false, replaced: true };
      const entries = await audited(store(), 'provider.enroll');
      expect(entries).toContainEqual(expect.objectContaining({ after }));
    });

    test('is for the owner alone', async () => {
      const { id: replaces } = await createProvider(store());
      const { id: ownerId } = await createMember(store(), 'ben');
      const attempt = createJoinToken(store(), { ownerId, replaces });
      await expect(attempt).rejects.toThrow('createJoinToken failed');
      expect(await store().listJoinTokens()).toHaveLength(1);
    });

    test('is over once the provider is removed', async () => {
      const { ownerId, id: replaces } = await createProvider(store());
      const { joinTokenHash } = await createJoinToken(store(), { ownerId, replaces });
      await store().removeProvider(replaces, NOW);
      expect(await enroll(joinTokenHash)).toEqual({ kind: 'refused', reason: 'unknown' });
      expect(await store().findProviderByToken(sha256(randomHex()))).toBeNull();
      // The token that enrolled the removed provider stays, as history.
      expect(await onlyToken()).toMatchObject({ usedAt: NOW, providerId: null });
    });
  });
}
