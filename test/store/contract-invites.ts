/** The part of the contract that is about invites. */
import type {
  Acceptance,
  Invite,
  NewInvite,
  Store,
} from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { NOW, createMember, created, newMember, randomHex, sha256 } from './store-rows.js';

const EXPIRES_AT = NOW + 1_000;

export function describeInvites(adapter: string, store: () => Store): void {
  const invite = async (
    overrides: Partial<NewInvite> = {},
    now = NOW,
  ): Promise<{ readonly invite: Invite; readonly hash: string }> => {
    const hash = sha256(randomHex());
    const told = { email: 'ben@example.org', role: 'member', networkId: null } as const;
    const row = { hash, expiresAt: EXPIRES_AT, ...told, ...overrides };
    return { invite: created(await store().createInvite(row, now)), hash };
  };

  describe(`${adapter}: invites`, () => {
    test('an invite makes the member whom it names, who joins its network', async () => {
      const anna = await createMember(store(), 'anna');
      const home = { name: 'home', ownerId: anna.id };
      const { id: networkId } = created(await store().createNetwork(home, NOW));
      const made = await invite({ role: 'admin', networkId });
      expect(made.invite).toMatchObject({ email: 'ben@example.org', networkName: 'home' });
      const seen = { inviterName: null, networkName: 'home', expiresAt: EXPIRES_AT };
      expect(await store().findInvite(made.hash, NOW)).toEqual(seen);
      const ben = created(await store().acceptInvite(acceptance(made.hash), NOW + 1));
      expect(ben).toMatchObject({ email: 'ben@example.org', name: 'ben', role: 'admin' });
      expect(ben).toMatchObject({ createdAt: NOW + 1, hasPassword: true });
      expect(await store().findPassword(ben.email)).toMatchObject({ passwordHash: '$scrypt$ben' });
      const [network] = await store().listNetworks();
      expect(network?.members.map(({ name }) => name)).toEqual(['anna', 'ben']);
      expect(await store().listInvites()).toEqual([{ ...made.invite, usedAt: NOW + 1 }]);
      const actions = (await store().listAudit(LATEST)).map(({ action }) => action);
      expect(actions).toEqual(['invite.accept', 'network.add', 'user.create']);
    });

    test('an invite is refused by its reason, and makes nobody', async () => {
      const hash = async (overrides: Partial<NewInvite> = {}): Promise<string> =>
        (await invite({ email: `${randomHex()}@example.org`, ...overrides })).hash;
      const used = await hash();
      created(await store().acceptInvite(acceptance(used, 'cleo'), NOW));
      const revoked = await invite();
      await store().revokeInvite(revoked.invite.id, NOW);
      const refusals = {
        unknown: sha256('never made'),
        used,
        revoked: revoked.hash,
        expired: await hash({ expiresAt: NOW + 5 }),
      };
      for (const [reason, presented] of Object.entries(refusals)) {
        expect(await store().findInvite(presented, NOW + 5)).toBeNull();
        const outcome = await store().acceptInvite(acceptance(presented, 'dora'), NOW + 5);
        expect(outcome).toEqual({ kind: 'refused', reason });
      }
      expect(await store().findMember('dora')).toBeNull();
    });

    test('an invite of a disabled member is refused until they are enabled', async () => {
      const anna = await createMember(store(), 'anna');
      const hash = sha256(randomHex());
      const told = { email: 'sock@example.org', role: 'member', networkId: null } as const;
      const own = store().by(`member:${anna.id}`);
      created(await own.createInvite({ ...told, hash, expiresAt: EXPIRES_AT }, NOW));
      const accept = () => store().acceptInvite(acceptance(hash, 'sock'), NOW);
      expect((await store().findInvite(hash, NOW))?.inviterName).toBe('anna');
      await store().changeMember(anna.id, { disabled: true }, NOW);
      expect(await store().findInvite(hash, NOW)).toBeNull();
      expect(await accept()).toEqual({ kind: 'refused', reason: 'of a disabled member' });
      expect(await store().findMember('sock')).toBeNull();
      await store().changeMember(anna.id, { disabled: false }, NOW);
      expect(await accept()).toMatchObject({ kind: 'created' });
    });

    test('an invite goes with the member who made it, and no other does', async () => {
      const anna = await createMember(store(), 'anna');
      const hash = sha256(randomHex());
      const told = { email: 'sock@example.org', role: 'member', networkId: null } as const;
      const own = store().by(`member:${anna.id}`);
      created(await own.createInvite({ ...told, hash, expiresAt: EXPIRES_AT }, NOW));
      const { hash: other } = await invite();
      expect(await store().deleteMember(anna.id, NOW)).toMatchObject({ kind: 'deleted' });
      const refused = await store().acceptInvite(acceptance(hash, 'sock'), NOW);
      expect(refused).toEqual({ kind: 'refused', reason: 'unknown' });
      expect(await store().acceptInvite(acceptance(other), NOW)).toMatchObject({ kind: 'created' });
    });

    test('an invite stays open where the name is taken, or the address since', async () => {
      await createMember(store(), 'anna');
      const { invite: open, hash } = await invite();
      const accept = (name: string) => store().acceptInvite(acceptance(hash, name), NOW);
      expect(await accept('ANNA')).toEqual({ kind: 'taken', field: 'name' });
      expect(await store().listInvites()).toEqual([open]);
      expect(await audited(store(), 'invite.accept')).toEqual([]);
      expect(await accept('ben')).toMatchObject({ kind: 'created' });

      const late = await invite({ email: 'cleo@example.org' });
      await createMember(store(), 'cleo');
      const outcome = await store().acceptInvite(acceptance(late.hash, 'dora'), NOW);
      expect(outcome).toEqual({ kind: 'taken', field: 'email' });
      expect((await store().listInvites())[0]).toEqual(late.invite);
    });

    test('of two who accept one invite at the same time, one becomes its member', async () => {
      const { hash } = await invite();
      const accept = (name: string) => store().acceptInvite(acceptance(hash, name), NOW);
      const kinds = (await Promise.all([accept('ben'), accept('eve')])).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(['created', 'refused']);
      const members = await Promise.all(['ben', 'eve'].map((name) => store().findMember(name)));
      expect(members.filter((one) => one !== null)).toHaveLength(1);
    });

    test('the address of a member gets no invite, in either case', async () => {
      await store().createMember(newMember('ben'), NOW);
      const told = { email: 'Ben@example.org', role: 'member', networkId: null } as const;
      const row = { ...told, hash: sha256('one'), expiresAt: EXPIRES_AT };
      expect(await store().createInvite(row, NOW)).toEqual({ kind: 'taken', field: 'email' });
      expect(await store().listInvites()).toEqual([]);
      expect(await audited(store(), 'invite')).toEqual([]);
    });

    test('a new invite revokes the open one of its address, and no other', async () => {
      const first = await invite();
      const foreign = await invite({ email: 'cleo@example.org' }, NOW + 1);
      const expired = await invite({ email: 'dora@example.org', expiresAt: NOW + 1 }, NOW + 1);
      const second = await invite({ email: 'BEN@example.org' }, NOW + 2);
      const third = await invite({ email: 'dora@example.org' }, NOW + 3);
      expect(await store().listInvites()).toEqual([
        third.invite,
        second.invite,
        expired.invite,
        foreign.invite,
        { ...first.invite, revokedAt: NOW + 2 },
      ]);
      expect(await audited(store(), 'invite.revoke')).toMatchObject([
        { subject: { id: first.invite.id } },
      ]);
    });

    test('an open invite is revoked once', async () => {
      const { invite: open, hash } = await invite();
      const used = await invite({ email: 'cleo@example.org' });
      created(await store().acceptInvite(acceptance(used.hash, 'cleo'), NOW));
      expect(
        await store()
          .by('cli:root')
          .revokeInvite(open.id, NOW + 1),
      ).toBe(true);
      for (const id of [open.id, used.invite.id, 'no such invite']) {
        expect(await store().revokeInvite(id, NOW + 2)).toBe(false);
      }
      expect(await store().acceptInvite(acceptance(hash), NOW)).toMatchObject({ kind: 'refused' });
      expect(await audited(store(), 'invite.revoke')).toEqual([
        {
          actor: 'cli:root',
          action: 'invite.revoke',
          subject: { kind: 'invite', id: open.id, name: 'ben@example.org' },
          before: { role: 'member', network: null },
          after: null,
        },
      ]);
    });
  });
}

const LATEST = { since: null, action: null, actor: null, subjectId: null, limit: 3 };

function acceptance(hash: string, name = 'ben'): Acceptance {
  return { hash, name, passwordHash: `$scrypt$${name}` };
}
