/** The part of the contract that is about members. */
import type {
  Member,
  MemberChange,
  NewMember,
  Store,
} from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { NOW, createKey, createMember, newMember, sha256 } from './store-rows.js';

export function describeMembers(adapter: string, store: () => Store): void {
  describe(`${adapter}: members`, () => {
    test('a created member is found by id, address and name, in either case', async () => {
      const anna = await createMember(store(), 'anna');
      expect(anna).toMatchObject({ email: 'anna@example.org', name: 'anna', role: 'member' });
      expect(anna.createdAt).toBe(NOW);
      for (const reference of [anna.id, 'anna@example.org', 'ANNA@example.org', 'Anna']) {
        expect(await store().findMember(reference)).toEqual(anna);
      }
      expect(await store().findMember('ann')).toBeNull();
    });

    test('an address or a name that exists is refused by its field, in either case', async () => {
      await createMember(store(), 'anna');
      const again = (member: Partial<NewMember>): Promise<unknown> =>
        store().createMember({ ...newMember('ben'), ...member }, NOW);
      expect(await again({ email: 'Anna@Example.org' })).toEqual({ kind: 'taken', field: 'email' });
      expect(await again({ name: 'ANNA' })).toEqual({ kind: 'taken', field: 'name' });
      expect(await again({})).toMatchObject({ kind: 'created' });
    });

    test('an id wins over a name that looks like it', async () => {
      const anna = await createMember(store(), 'anna');
      await store().createMember({ ...newMember('mallory'), name: anna.id }, NOW + 1);
      expect(await store().findMember(anna.id)).toEqual(anna);
    });

    test('members are listed in the order in which they came', async () => {
      for (const [index, name] of ['cleo', 'anna', 'ben'].entries()) {
        await store().createMember(newMember(name), NOW + index);
      }
      expect((await store().listMembers()).map(({ name }) => name)).toEqual([
        'cleo',
        'anna',
        'ben',
      ]);
    });

    test('of two that want one name at the same time, one gets it', async () => {
      const wanting = ['a', 'b', 'c'].map((local) =>
        store().createMember({ ...newMember(local), name: 'anna' }, NOW),
      );
      const kinds = (await Promise.all(wanting)).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(['created', 'taken', 'taken']);
    });
  });

  describe(`${adapter}: changes of a member`, () => {
    test('a password is replaced only where it is still the one that was looked at', async () => {
      const member = { ...newMember('anna'), passwordHash: '$scrypt$old' };
      const created = await store().createMember(member, NOW);
      const id = created.kind === 'created' ? created.value.id : '';
      const replace = async (formerPasswordHash: string, passwordHash: string) =>
        (await store().changeMember(id, { formerPasswordHash, passwordHash }, NOW)).kind;
      expect(await replace('$scrypt$other', '$scrypt$theirs')).toBe('unknown');
      expect(await replace('$scrypt$old', '$scrypt$new')).toBe('changed');
      expect(await replace('$scrypt$old', '$scrypt$theirs')).toBe('unknown');
      const found = await store().findPassword(member.email);
      expect(found).toMatchObject({ passwordHash: '$scrypt$new' });
    });

    test('what is told changes, each with an entry, and what is absent stays', async () => {
      const anna = await createMember(store(), 'anna');
      const change: MemberChange = { name: 'ann', role: 'admin', disabled: true };
      const changed = { ...anna, name: 'ann', role: 'admin', disabledAt: NOW + 1 };
      expect(
        await store()
          .by('cli:root')
          .changeMember(anna.id, change, NOW + 1),
      ).toEqual({
        kind: 'changed',
        value: changed,
      });
      expect(await store().findMember('ann')).toEqual(changed);
      const subject = { kind: 'user', id: anna.id, name: 'anna@example.org' };
      const entry = { actor: 'cli:root', subject };
      expect((await audited(store(), 'user')).slice(0, -1)).toEqual([
        {
          ...entry,
          action: 'user.disable',
          before: { disabled: false },
          after: { disabled: true },
        },
        { ...entry, action: 'user.role', before: { role: 'member' }, after: { role: 'admin' } },
        { ...entry, action: 'user.rename', before: { name: 'anna' }, after: { name: 'ann' } },
      ]);
    });

    test('a change to what is so already changes nothing and is not written down', async () => {
      const anna = await createMember(store(), 'anna');
      await store().changeMember(anna.id, { disabled: true }, NOW + 1);
      const same: MemberChange = { name: 'anna', role: 'member', disabled: true };
      const outcome = await store().changeMember(anna.id, same, NOW + 2);
      expect(outcome).toMatchObject({ kind: 'changed', value: { disabledAt: NOW + 1 } });
      await store().changeMember(anna.id, {}, NOW + 3);
      const actions = (await audited(store(), 'user')).map(({ action }) => action);
      expect(actions).toEqual(['user.disable', 'user.create']);
      await store().changeMember(anna.id, { disabled: false }, NOW + 4);
      expect(await store().findMember(anna.id)).toEqual(anna);
      expect((await audited(store(), 'user.enable'))[0]).toMatchObject({
        before: { disabled: true },
        after: { disabled: false },
      });
    });

    test('a name that another has is refused with the whole change; their own is not', async () => {
      const anna = await createMember(store(), 'anna');
      await createMember(store(), 'ben');
      const change: MemberChange = { name: 'BEN', role: 'admin' };
      expect(await store().changeMember(anna.id, change, NOW)).toEqual({
        kind: 'taken',
        field: 'name',
      });
      expect(await store().findMember(anna.id)).toEqual(anna);
      expect(await audited(store(), 'user.role')).toEqual([]);
      const own = await store().changeMember(anna.id, { name: 'Anna' }, NOW);
      expect(own).toMatchObject({ kind: 'changed', value: { name: 'Anna' } });
      expect(await store().changeMember('nobody', { role: 'admin' }, NOW)).toEqual({
        kind: 'unknown',
      });
    });

    test('a password opens the log-in of an enabled member, by the address alone', async () => {
      const anna = await createMember(store(), 'anna');
      expect(anna.hasPassword).toBe(false);
      expect(await store().findPassword(anna.email)).toBeNull();
      const passwordHash = `$scrypt$${sha256('one')}`;
      await store().changeMember(anna.id, { passwordHash }, NOW + 1);
      const member: Member = { ...anna, hasPassword: true };
      expect(await store().findPassword('ANNA@example.org')).toEqual({ member, passwordHash });
      expect(await store().findPassword('anna')).toBeNull();
      expect(await audited(store(), 'user.password')).toMatchObject([
        { before: null, after: null },
      ]);
      await store().changeMember(anna.id, { disabled: true }, NOW + 2);
      expect(await store().findPassword(anna.email)).toBeNull();
    });

    test('the next look-up of a key sees that its member was renamed or disabled', async () => {
      const anna = await createMember(store(), 'anna');
      const { hash } = await createKey(store(), anna.id);
      const holder = async () => {
        const found = await store().findKeyHolder(hash);
        return [found?.memberName, found?.isMemberDisabled];
      };
      expect(await holder()).toEqual(['anna', false]);
      await store().changeMember(anna.id, { name: 'ann', disabled: true }, NOW);
      expect(await holder()).toEqual(['ann', true]);
      await store().by('cli:root').changeMember(anna.id, { disabled: false }, NOW);
      expect(await holder()).toEqual(['ann', false]);
    });
  });
}
