/** The part of the contract that is about what one member may do. */
import type { MemberLimits, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { createKey, createMember } from './store-rows.js';

const DEFAULTS = { requests: null, concurrent: null };

export function describeLimits(adapter: string, store: () => Store): void {
  describe(`${adapter}: limits of a member`, () => {
    test('a new member has none; given ones are kept, and null takes one back', async () => {
      const anna = await createMember(store(), 'anna');
      expect(anna.limits).toEqual(DEFAULTS);
      const limits = { requests: 1, concurrent: 100_000 };
      expect(await store().setMemberLimits(anna.id, limits)).toBe(true);
      expect(await store().findMember('anna')).toEqual({ ...anna, limits });
      expect(await store().listMembers()).toEqual([{ ...anna, limits }]);
      await store().setMemberLimits(anna.id, { requests: null, concurrent: 5 });
      const changed = await store().findMember('anna');
      expect(changed?.limits).toEqual({ requests: null, concurrent: 5 });
    });

    test('what is not told stays, also where two change at once', async () => {
      const anna = await createMember(store(), 'anna');
      await Promise.all([
        store().setMemberLimits(anna.id, { requests: 7 }),
        store().setMemberLimits(anna.id, { concurrent: 8 }),
        store().setMemberLimits(anna.id, {}),
      ]);
      const member = await store().findMember('anna');
      expect(member?.limits).toEqual({ requests: 7, concurrent: 8 });
    });

    test('the next look-up of each of their keys sees a change, those of others none', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const keys = [await createKey(store(), anna.id), await createKey(store(), anna.id)];
      const bens = await createKey(store(), ben.id);
      const limitsOf = async ({ hash }: { hash: string }): Promise<MemberLimits | undefined> =>
        (await store().findKeyHolder(hash))?.limits;
      for (const key of [...keys, bens]) expect(await limitsOf(key)).toEqual(DEFAULTS);
      const limits = { requests: 3, concurrent: 2 };
      await store().setMemberLimits(anna.id, limits);
      for (const key of keys) expect(await limitsOf(key)).toEqual(limits);
      expect(await limitsOf(bens)).toEqual(DEFAULTS);
      await store().setMemberLimits(anna.id, DEFAULTS);
      for (const key of keys) expect(await limitsOf(key)).toEqual(DEFAULTS);
    });

    test('an unknown member is told, and a limit of zero is a fault of the program', async () => {
      const anna = await createMember(store(), 'anna');
      expect(await store().setMemberLimits('nobody', { requests: 3 })).toBe(false);
      const zero = store().setMemberLimits(anna.id, { requests: 0 });
      await expect(zero).rejects.toThrow('setMemberLimits failed');
      expect((await store().findMember('anna'))?.limits).toEqual(DEFAULTS);
    });
  });
}
