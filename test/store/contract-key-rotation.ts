/** The part of the contract that is about a key's new secret beside its old one. */
import type { KeyRotation, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { NOW, createKey, createMember, newKey } from './store-rows.js';

const OVERLAP_END = NOW + 1_000;

export function describeKeyRotation(adapter: string, store: () => Store): void {
  const validUntil = async (hash: string): Promise<number | null | undefined> =>
    (await store().findKeyHolder(hash))?.validUntil;

  describe(`${adapter}: rotation of a key`, () => {
    test('both secrets open the same key, the old one until the overlap ends', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash: old } = await createKey(store(), anna.id, { name: 'laptop' });
      expect(await validUntil(old)).toBeNull();
      const next = rotation(OVERLAP_END);
      const rotated = { ...key, prefix: next.prefix, previousUntil: OVERLAP_END };
      expect(await store().by('member:anna').rotateKey(key.id, next, NOW)).toEqual(rotated);
      for (const hash of [old, next.hash]) {
        expect(await store().findKeyHolder(hash)).toMatchObject({ key: rotated });
      }
      expect(await validUntil(old)).toBe(OVERLAP_END);
      expect(await validUntil(next.hash)).toBeNull();
      expect(await audited(store(), 'key.rotate')).toEqual([
        {
          actor: 'member:anna',
          action: 'key.rotate',
          subject: { kind: 'key', id: key.id, name: 'anna@example.org/laptop' },
          before: { prefix: key.prefix },
          after: { prefix: next.prefix, previousUntil: OVERLAP_END },
        },
      ]);
    });

    test('a secret ends with its overlap or with its key, whichever is sooner', async () => {
      const anna = await createMember(store(), 'anna');
      const soon = await createKey(store(), anna.id, { expiresAt: OVERLAP_END - 1 });
      const late = await createKey(store(), anna.id, { expiresAt: OVERLAP_END + 1 });
      const next = { soon: rotation(OVERLAP_END), late: rotation(OVERLAP_END) };
      await store().rotateKey(soon.key.id, next.soon, NOW);
      await store().rotateKey(late.key.id, next.late, NOW);
      expect(await validUntil(soon.hash)).toBe(OVERLAP_END - 1);
      expect(await validUntil(next.soon.hash)).toBe(OVERLAP_END - 1);
      expect(await validUntil(late.hash)).toBe(OVERLAP_END);
      expect(await validUntil(next.late.hash)).toBe(OVERLAP_END + 1);
    });

    test('without an overlap the old secret opens nothing from now on', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash: old } = await createKey(store(), anna.id);
      expect(await validUntil(old)).toBeNull();
      const next = rotation(NOW);
      expect(await store().rotateKey(key.id, next, NOW)).toMatchObject({ previousUntil: null });
      expect(await store().findKeyHolder(old)).toBeNull();
      expect(await validUntil(next.hash)).toBeNull();
    });

    test('the secret before the one before opens nothing', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash: first } = await createKey(store(), anna.id);
      const [second, third] = [rotation(OVERLAP_END), rotation(OVERLAP_END + 5)];
      await store().rotateKey(key.id, second, NOW);
      await store().rotateKey(key.id, third, NOW);
      expect(await store().findKeyHolder(first)).toBeNull();
      expect(await validUntil(second.hash)).toBe(OVERLAP_END + 5);
      expect(await validUntil(third.hash)).toBeNull();
    });

    test('a key that is revoked or disabled is so for both secrets', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash: old } = await createKey(store(), anna.id);
      const next = rotation(OVERLAP_END);
      await store().rotateKey(key.id, next, NOW);
      await store().setKeyState(key.id, 'disabled', NOW + 1);
      for (const hash of [old, next.hash]) {
        const disabled = { key: { disabledAt: NOW + 1, revokedAt: null } };
        expect(await store().findKeyHolder(hash)).toMatchObject(disabled);
      }
      await store().setKeyState(key.id, 'revoked', NOW + 2);
      for (const hash of [old, next.hash]) {
        expect(await store().findKeyHolder(hash)).toMatchObject({ key: { revokedAt: NOW + 2 } });
      }
    });

    test('a key that is unknown or revoked takes no new secret', async () => {
      const anna = await createMember(store(), 'anna');
      const { key } = await createKey(store(), anna.id);
      await store().setKeyState(key.id, 'revoked', NOW);
      const next = rotation(OVERLAP_END);
      expect(await store().rotateKey(key.id, next, NOW)).toBeNull();
      expect(await store().rotateKey('no such key', next, NOW)).toBeNull();
      expect(await store().findKeyHolder(next.hash)).toBeNull();
      expect(await audited(store(), 'key.rotate')).toEqual([]);
    });
  });
}

function rotation(previousUntil: number): KeyRotation {
  const { prefix, hash } = newKey('anybody');
  return { prefix, hash, previousUntil };
}
