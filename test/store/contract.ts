/** What every adapter of the store does; `contract.test.ts` runs it against each that there is. */
import type { NewMember, Store } from '@inference-gateway/coordinator/store/port';
import { beforeEach, describe, expect, test } from 'vitest';
import { describeAssets } from './contract-assets.js';
import { describeBatches } from './contract-batches.js';
import { describeJobEnds } from './contract-job-ends.js';
import { describeJobs } from './contract-jobs.js';
import { describeClaimEnds } from './contract-claim-ends.js';
import { describeClaims } from './contract-claims.js';
import { describeLimits } from './contract-limits.js';
import { describeProviders } from './contract-providers.js';
import { describeSubmissions } from './contract-submissions.js';
import { describeResults } from './contract-results.js';
import { describeResumes } from './contract-resumes.js';
import { describeUsage } from './contract-usage.js';
import { describeWebhooks } from './contract-webhooks.js';
import type { StoreHarness } from './store-harness.js';
import {
  NOW,
  createKey,
  createMember,
  createProvider,
  newKey,
  newMember,
  sha256,
} from './store-rows.js';

export function describeStore(adapter: string, open: () => Promise<StoreHarness>): void {
  let harness: StoreHarness;
  let store: Store;

  beforeEach(async () => {
    harness = await open();
    store = harness.store;
  });

  describe(`${adapter}: members`, () => {
    test('a created member is found by id, address and name, in either case', async () => {
      const anna = await createMember(store, 'anna');
      expect(anna).toMatchObject({ email: 'anna@example.org', name: 'anna', role: 'member' });
      expect(anna.createdAt).toBe(NOW);
      for (const reference of [anna.id, 'anna@example.org', 'ANNA@example.org', 'Anna']) {
        expect(await store.findMember(reference)).toEqual(anna);
      }
      expect(await store.findMember('ann')).toBeNull();
    });

    test('an address or a name that exists is refused by its field, in either case', async () => {
      await createMember(store, 'anna');
      const again = (member: Partial<NewMember>): Promise<unknown> =>
        store.createMember({ ...newMember('ben'), ...member }, NOW);
      expect(await again({ email: 'Anna@Example.org' })).toEqual({ kind: 'taken', field: 'email' });
      expect(await again({ name: 'ANNA' })).toEqual({ kind: 'taken', field: 'name' });
      expect(await again({})).toMatchObject({ kind: 'created' });
    });

    test('an id wins over a name that looks like it', async () => {
      const anna = await createMember(store, 'anna');
      await store.createMember({ ...newMember('mallory'), name: anna.id }, NOW + 1);
      expect(await store.findMember(anna.id)).toEqual(anna);
    });

    test('members are listed in the order in which they came', async () => {
      for (const [index, name] of ['cleo', 'anna', 'ben'].entries()) {
        await store.createMember(newMember(name), NOW + index);
      }
      expect((await store.listMembers()).map(({ name }) => name)).toEqual(['cleo', 'anna', 'ben']);
    });

    test('of two that want one name at the same time, one gets it', async () => {
      const wanting = ['a', 'b', 'c'].map((local) =>
        store.createMember({ ...newMember(local), name: 'anna' }, NOW),
      );
      const kinds = (await Promise.all(wanting)).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(['created', 'taken', 'taken']);
    });
  });

  describe(`${adapter}: keys`, () => {
    test('a key is found by its hash, with its holder', async () => {
      const anna = await createMember(store, 'anna');
      const { key, hash } = await createKey(store, anna.id, { scope: 'own', expiresAt: NOW + 9 });
      expect(key).toMatchObject({
        memberId: anna.id,
        memberEmail: 'anna@example.org',
        scope: 'own',
        createdAt: NOW,
        expiresAt: NOW + 9,
        lastUsedAt: null,
        disabledAt: null,
        revokedAt: null,
      });
      expect(await store.findKeyHolder(hash)).toEqual({
        key,
        memberName: 'anna',
        limits: { requests: null, concurrent: null },
      });
      expect(await store.findKeyHolder(sha256('another'))).toBeNull();
    });

    test('a key that was looked up before it existed is found once it does', async () => {
      const anna = await createMember(store, 'anna');
      const hash = sha256('soon');
      expect(await store.findKeyHolder(hash)).toBeNull();
      await createKey(store, anna.id, { hash });
      expect(await store.findKeyHolder(hash)).not.toBeNull();
    });

    test('a disabled key is seen as such by the next look-up, and an enabled one too', async () => {
      const anna = await createMember(store, 'anna');
      const { key, hash } = await createKey(store, anna.id);
      const disabledAt = async (): Promise<number | null | undefined> =>
        (await store.findKeyHolder(hash))?.key.disabledAt;
      expect(await disabledAt()).toBeNull();
      expect(await store.setKeyState(key.id, 'disabled', NOW + 1)).toBe(true);
      expect(await disabledAt()).toBe(NOW + 1);
      await store.setKeyState(key.id, 'disabled', NOW + 2);
      expect(await disabledAt()).toBe(NOW + 1);
      expect(await store.setKeyState(key.id, 'enabled', NOW + 3)).toBe(true);
      expect(await disabledAt()).toBeNull();
    });

    test('look-ups beside a change never outlive it', async () => {
      const anna = await createMember(store, 'anna');
      const { key, hash } = await createKey(store, anna.id);
      const early = store.findKeyHolder(hash);
      const change = store.setKeyState(key.id, 'revoked', NOW + 1);
      const beside = store.findKeyHolder(hash);
      await Promise.all([early, beside, change]);
      expect((await store.findKeyHolder(hash))?.key.revokedAt).toBe(NOW + 1);
    });

    test('a revoked key stays revoked, whatever is asked of it', async () => {
      const anna = await createMember(store, 'anna');
      const { key, hash } = await createKey(store, anna.id);
      expect(await store.setKeyState(key.id, 'revoked', NOW + 1)).toBe(true);
      for (const state of ['enabled', 'disabled', 'revoked'] as const) {
        expect(await store.setKeyState(key.id, state, NOW + 2)).toBe(false);
      }
      const holder = await store.findKeyHolder(hash);
      expect(holder?.key).toMatchObject({ revokedAt: NOW + 1, disabledAt: null });
      expect(await store.setKeyState('no such key', 'disabled', NOW)).toBe(false);
    });

    test('a name is unique among the live keys of a member, and free once revoked', async () => {
      const [anna, ben] = [await createMember(store, 'anna'), await createMember(store, 'ben')];
      const { key } = await createKey(store, anna.id, { name: 'laptop' });
      const again = (memberId: string): Promise<unknown> =>
        store.createKey(newKey(memberId, { name: 'Laptop' }), NOW);
      expect(await again(anna.id)).toEqual({ kind: 'taken', field: 'name' });
      expect(await again(ben.id)).toMatchObject({ kind: 'created' });
      await store.setKeyState(key.id, 'revoked', NOW + 1);
      expect(await again(anna.id)).toMatchObject({ kind: 'created' });
    });

    test('keys are listed for one member or for all', async () => {
      const [anna, ben] = [await createMember(store, 'anna'), await createMember(store, 'ben')];
      const first = await createKey(store, anna.id, { name: 'one' });
      const second = await createKey(store, ben.id, { name: 'two' });
      const ids = async (memberId: string | null): Promise<string[]> =>
        (await store.listKeys(memberId)).map(({ id }) => id);
      expect(await ids(null)).toEqual(expect.arrayContaining([first.key.id, second.key.id]));
      expect(await ids(ben.id)).toEqual([second.key.id]);
    });

    test('the last use is written for several keys and never goes back', async () => {
      const anna = await createMember(store, 'anna');
      const keys = [await createKey(store, anna.id), await createKey(store, anna.id)];
      const ids = keys.map(({ key }) => key.id);
      await store.touchKeys(ids, NOW + 20);
      await store.touchKeys([...ids, 'no such key'], NOW + 10);
      const used = (await store.listKeys(anna.id)).map(({ lastUsedAt }) => lastUsedAt);
      expect(used).toEqual([NOW + 20, NOW + 20]);
    });

    test('a key of nobody is a fault of the program, not of the storage', async () => {
      const attempt = store.createKey(newKey('01'.repeat(13)), NOW);
      await expect(attempt).rejects.toThrow('createKey failed');
    });
  });

  describeLimits(adapter, () => store);
  describeProviders(adapter, () => store);
  describeAssets(adapter, () => store);
  describeUsage(adapter, () => harness);
  describeClaims(adapter, () => harness);
  describeClaimEnds(adapter, () => store);
  describeResults(adapter, () => harness);
  describeResumes(adapter, () => store);
  describeSubmissions(adapter, () => store);
  describeJobs(adapter, () => store);
  describeJobEnds(adapter, () => store);
  describeBatches(adapter, () => store);
  describeWebhooks(adapter, () => store);

  describe(`${adapter}: its life`, () => {
    test('it is writable, and what it has answered is there after it was closed', async () => {
      expect(await store.isWritable()).toBe(true);
      const provider = await createProvider(store);
      const reopened = await harness.reopen();
      expect(await reopened.listProviders()).toEqual([provider]);
      expect((await reopened.listMembers()).map(({ name }) => name)).toEqual(['anna']);
    });

    test('closing waits for what is under way; then every operation is refused', async () => {
      const pending = store.createMember(newMember('anna'), NOW);
      await store.close();
      expect(await pending).toMatchObject({ kind: 'created' });
      const refused = { code: 'storage_unavailable', status: 503 };
      await expect(store.listMembers()).rejects.toMatchObject(refused);
      await expect(store.createMember(newMember('ben'), NOW)).rejects.toMatchObject(refused);
      expect(await store.isWritable()).toBe(false);
    });
  });
}
