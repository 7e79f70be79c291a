/** The part of the contract that is about API keys. */
import type { Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { NOW, createKey, createMember, newKey, sha256 } from './store-rows.js';

export function describeKeys(adapter: string, store: () => Store): void {
  describe(`${adapter}: keys`, () => {
    test('a key is found by its hash, with its holder', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash } = await createKey(store(), anna.id, { scope: 'own', expiresAt: NOW + 9 });
      expect(key).toMatchObject({
        memberId: anna.id,
        memberEmail: 'anna@example.org',
        scope: 'own',
        createdAt: NOW,
        expiresAt: NOW + 9,
        lastUsedAt: null,
        previousUntil: null,
        disabledAt: null,
        revokedAt: null,
      });
      expect(await store().findKeyHolder(hash)).toEqual({
        key,
        memberName: 'anna',
        limits: { requests: null, concurrent: null },
        isMemberDisabled: false,
        validUntil: NOW + 9,
      });
      expect(await store().findKeyHolder(sha256('another'))).toBeNull();
    });

    test('a key that was looked up before it existed is found once it does', async () => {
      const anna = await createMember(store(), 'anna');
      const hash = sha256('soon');
      expect(await store().findKeyHolder(hash)).toBeNull();
      await createKey(store(), anna.id, { hash });
      expect(await store().findKeyHolder(hash)).not.toBeNull();
    });

    test('a disabled key is seen as such by the next look-up, and an enabled one too', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash } = await createKey(store(), anna.id);
      const disabledAt = async (): Promise<number | null | undefined> =>
        (await store().findKeyHolder(hash))?.key.disabledAt;
      expect(await disabledAt()).toBeNull();
      expect(await store().setKeyState(key.id, 'disabled', NOW + 1)).toBe(true);
      expect(await disabledAt()).toBe(NOW + 1);
      await store().setKeyState(key.id, 'disabled', NOW + 2);
      expect(await disabledAt()).toBe(NOW + 1);
      expect(await store().setKeyState(key.id, 'enabled', NOW + 3)).toBe(true);
      expect(await disabledAt()).toBeNull();
    });

    test('look-ups beside a change never outlive it', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash } = await createKey(store(), anna.id);
      const early = store().findKeyHolder(hash);
      const change = store().setKeyState(key.id, 'revoked', NOW + 1);
      const beside = store().findKeyHolder(hash);
      await Promise.all([early, beside, change]);
      expect((await store().findKeyHolder(hash))?.key.revokedAt).toBe(NOW + 1);
    });

    test('a revoked key stays revoked, whatever is asked of it', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash } = await createKey(store(), anna.id);
      expect(await store().setKeyState(key.id, 'revoked', NOW + 1)).toBe(true);
      for (const state of ['enabled', 'disabled', 'revoked'] as const) {
        expect(await store().setKeyState(key.id, state, NOW + 2)).toBe(false);
      }
      const holder = await store().findKeyHolder(hash);
      expect(holder?.key).toMatchObject({ revokedAt: NOW + 1, disabledAt: null });
      expect(await store().setKeyState('no such key', 'disabled', NOW)).toBe(false);
    });

    test('a name is unique among the live keys of a member, and free once revoked', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const { key } = await createKey(store(), anna.id, { name: 'laptop' });
      const again = (memberId: string): Promise<unknown> =>
        store().createKey(newKey(memberId, { name: 'Laptop' }), NOW);
      expect(await again(anna.id)).toEqual({ kind: 'taken', field: 'name' });
      expect(await again(ben.id)).toMatchObject({ kind: 'created' });
      await store().setKeyState(key.id, 'revoked', NOW + 1);
      expect(await again(anna.id)).toMatchObject({ kind: 'created' });
    });

    test('keys are listed for one member or for all', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const first = await createKey(store(), anna.id, { name: 'one' });
      const second = await createKey(store(), ben.id, { name: 'two' });
      const ids = async (memberId: string | null): Promise<string[]> =>
        (await store().listKeys(memberId)).map(({ id }) => id);
      expect(await ids(null)).toEqual(expect.arrayContaining([first.key.id, second.key.id]));
      expect(await ids(ben.id)).toEqual([second.key.id]);
    });

    test('the last use is written for several keys and never goes back', async () => {
      const anna = await createMember(store(), 'anna');
      const keys = [await createKey(store(), anna.id), await createKey(store(), anna.id)];
      const ids = keys.map(({ key }) => key.id);
      await store().touchKeys(ids, NOW + 20);
      await store().touchKeys([...ids, 'no such key'], NOW + 10);
      const used = (await store().listKeys(anna.id)).map(({ lastUsedAt }) => lastUsedAt);
      expect(used).toEqual([NOW + 20, NOW + 20]);
    });

    test('a key of nobody is a fault of the program, not of the storage', async () => {
      const attempt = store().createKey(newKey('01'.repeat(13)), NOW);
      await expect(attempt).rejects.toThrow('createKey failed');
    });

    test('a key takes a new name that no live key of its member has', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash } = await createKey(store(), anna.id, { name: 'laptop' });
      const other = await createKey(store(), anna.id, { name: 'phone' });
      const rename = (name: string) => store().renameKey(key.id, name);
      expect(await store().findKeyHolder(hash)).toMatchObject({ key: { name: 'laptop' } });
      expect(await rename('Phone')).toEqual({ kind: 'taken', field: 'name' });
      expect(await rename('Laptop')).toEqual({
        kind: 'changed',
        value: { ...key, name: 'Laptop' },
      });
      expect(await store().findKeyHolder(hash)).toMatchObject({ key: { name: 'Laptop' } });
      await store().setKeyState(other.key.id, 'revoked', NOW);
      expect(await rename('phone')).toMatchObject({ kind: 'changed' });
      expect(await store().renameKey(other.key.id, 'new')).toEqual({ kind: 'unknown' });
      expect(await store().renameKey('no such key', 'new')).toEqual({ kind: 'unknown' });
      expect(await audited(store(), 'key.rename')).toMatchObject([
        { before: { name: 'Laptop' }, after: { name: 'phone' } },
        { before: { name: 'laptop' }, after: { name: 'Laptop' } },
      ]);
    });

    test('each change of state is written down once, under its member and name', async () => {
      const anna = await createMember(store(), 'anna');
      const { key } = await createKey(store(), anna.id, { name: 'laptop' });
      const states = ['disabled', 'disabled', 'enabled', 'enabled', 'revoked', 'revoked'] as const;
      for (const state of states) await store().by('cli:root').setKeyState(key.id, state, NOW);
      const subject = { kind: 'key', id: key.id, name: 'anna@example.org/laptop' };
      const entry = { actor: 'cli:root', subject };
      expect((await audited(store(), 'key')).slice(0, -1)).toEqual([
        { ...entry, action: 'key.revoke', before: { revoked: false }, after: { revoked: true } },
        { ...entry, action: 'key.enable', before: { disabled: true }, after: { disabled: false } },
        { ...entry, action: 'key.disable', before: { disabled: false }, after: { disabled: true } },
      ]);
    });
  });
}
