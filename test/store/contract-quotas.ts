/** The part of the contract that is about the rules of keys, and what has been used of them. */
import type { Store, UsageRow } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { claimed, newClaim, newFinish } from './dispatch-rows.js';
import { submitJob } from './job-rows.js';
import type { StoreHarness } from './store-harness.js';
import { NOW, createKey, createMember, usageRow } from './store-rows.js';

const RULES = { models: ['tiny'], day: { tokens: 5, audio_s: 0 }, month: { requests: 9 } };
const DAY_MS = 86_400_000;

export function describeQuotas(adapter: string, harness: () => StoreHarness): void {
  const store = (): Store => harness().store;
  const used = (memberId: string, keyId: string | null, at: number) =>
    store().quotaUse({ memberId, keyId }, at);
  const record = (index: number, row: Partial<UsageRow>): void =>
    store().recordUsage([{ ...usageRow(index), ...row }]);

  describe(`${adapter}: rules of keys`, () => {
    test('a key has none, or those that it was created with', async () => {
      const anna = await createMember(store(), 'anna');
      expect((await createKey(store(), anna.id)).key.rules).toBeNull();
      const { key, hash } = await createKey(store(), anna.id, { rules: RULES });
      expect(key.rules).toEqual(RULES);
      expect((await store().findKeyHolder(hash))?.key.rules).toEqual(RULES);
    });

    test('what is given changes, also where two change at once, and is seen at once', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash } = await createKey(store(), anna.id);
      const rules = async () => (await store().findKeyHolder(hash))?.key.rules;
      const ofJobs = async () => (await store().findJobKey(key.id, anna.id))?.key?.rules;
      expect([await rules(), await ofJobs()]).toEqual([null, null]);
      await Promise.all([
        store().setKeyRules(key.id, { models: ['tiny', 'tiny'] }),
        store().setKeyRules(key.id, { day: RULES.day }),
        store().setKeyRules(key.id, { month: RULES.month }),
      ]);
      expect([await rules(), await ofJobs()]).toEqual([RULES, RULES]);
      await store().setKeyRules(key.id, { models: null, day: {}, month: {} });
      expect([await rules(), await ofJobs()]).toEqual([null, null]);
    });

    test('endpoints are one of them, kept beside the others, and in the audit log', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash } = await createKey(store(), anna.id, { rules: RULES });
      const endpoints = ['/v1/embeddings', '/v1/rerank'];
      await store().setKeyRules(key.id, { endpoints: [...endpoints, '/v1/rerank'] });
      expect((await store().findKeyHolder(hash))?.key.rules).toEqual({ ...RULES, endpoints });
      expect(JSON.stringify(await audited(store(), 'key.limit'))).toContain(endpoints.join(', '));
      await store().setKeyRules(key.id, { endpoints: null });
      expect((await store().findKeyHolder(hash))?.key.rules).toEqual(RULES);
    });

    test('a change of another process is seen with the next operation', async () => {
      const anna = await createMember(store(), 'anna');
      const { key, hash } = await createKey(store(), anna.id);
      await store().findKeyHolder(hash);
      await store().findJobKey(key.id, anna.id);
      await harness()
        .peer('other')
        .setKeyRules(key.id, { models: ['tiny'] });
      await store().listMembers();
      expect((await store().findKeyHolder(hash))?.key.rules?.models).toEqual(['tiny']);
      expect((await store().findJobKey(key.id, anna.id))?.key?.rules?.models).toEqual(['tiny']);
    });

    test('a revoked or unknown key has none to change', async () => {
      const anna = await createMember(store(), 'anna');
      const { key } = await createKey(store(), anna.id);
      await store().setKeyState(key.id, 'revoked', NOW);
      expect(await store().setKeyRules(key.id, { day: { tokens: 1 } })).toBeNull();
      expect(await store().setKeyRules('nothing', { day: { tokens: 1 } })).toBeNull();
    });

    test('a change is in the audit log, once', async () => {
      const anna = await createMember(store(), 'anna');
      const { key } = await createKey(store(), anna.id);
      await store().setKeyRules(key.id, { day: { tokens: 5 } });
      await store().setKeyRules(key.id, { day: { tokens: 5 } });
      const entries = await audited(store(), 'key.limit');
      expect(entries).toHaveLength(1);
      expect(JSON.stringify(entries)).toContain('tokens');
    });

    test('a job finds the rules of its key and of its member; a session has no key', async () => {
      const anna = await createMember(store(), 'anna');
      const { key } = await createKey(store(), anna.id, { rules: RULES });
      const quota = { day: { images: 2 }, month: {} };
      await store().setMemberLimits(anna.id, { day: quota.day });
      expect(await store().findJobKey(key.id, anna.id)).toMatchObject({
        key: { id: key.id, rules: RULES },
        limits: { quota },
      });
      expect(await store().findJobKey('console', anna.id)).toMatchObject({
        key: null,
        limits: { quota },
      });
      const ben = await createMember(store(), 'ben');
      expect(await store().findJobKey(key.id, ben.id)).toBeNull();
      expect(await store().findJobKey('console', 'nobody')).toBeNull();
    });
  });

  describe(`${adapter}: a key that has ended`, () => {
    test.each(['disabled', 'revoked'] as const)('a %s one claims no job', async (state) => {
      const anna = await createMember(store(), 'anna');
      const { key } = await createKey(store(), anna.id);
      const { id } = await submitJob(store(), anna.id, { keyId: key.id });
      await harness().peer('other').setKeyState(key.id, state, NOW);
      expect(await store().claimJobs([newClaim(id)], NOW)).toEqual([null]);
      if (state === 'revoked') return;
      await store().setKeyState(key.id, 'enabled', NOW);
      expect((await claimed(store(), id)).job.id).toBe(id);
    });

    test('an expired one claims none, from that moment on', async () => {
      const anna = await createMember(store(), 'anna');
      const { key } = await createKey(store(), anna.id, { expiresAt: NOW + 10 });
      const { id } = await submitJob(store(), anna.id, { keyId: key.id });
      expect(await store().claimJobs([newClaim(id)], NOW + 10)).toEqual([null]);
      expect(await store().claimJobs([newClaim(id)], NOW + 9)).not.toEqual([null]);
    });
  });

  describe(`${adapter}: what has been used`, () => {
    test('it is that of the UTC day and month, rows on their way included', async () => {
      const at = Date.UTC(2028, 1, 29, 12);
      const row = { memberId: 'anna', keyId: 'laptop', promptTokens: 3, completionTokens: 4 };
      const measured = { ...row, images: 2, audioMs: 1_500 };
      record(1, { ...measured, at });
      record(2, { ...measured, at: Date.UTC(2028, 1, 29), outcome: 'failed' });
      record(3, { ...measured, at: Date.UTC(2028, 1, 29) - 1 });
      record(4, { ...measured, at: Date.UTC(2028, 1, 1) });
      record(5, { ...measured, at: Date.UTC(2028, 1, 1) - 1 });
      record(6, { ...measured, at: Date.UTC(2028, 2, 1) });
      expect(await used('anna', 'laptop', at)).toEqual({ day: times(2), month: times(4) });
      const march = { day: times(1), month: times(1) };
      expect(await used('anna', 'laptop', at + DAY_MS)).toEqual(march);
    });

    test('of a share it is that of calls and jobs through it, and ends with it', async () => {
      const at = NOW;
      const row = { at, memberId: 'ben', keyId: 'laptop', promptTokens: 3, completionTokens: 4 };
      record(1, { ...row, shareId: 'share' });
      record(1, { ...row, shareId: 'share' });
      record(2, { ...row, shareId: 'other' });
      record(3, row);
      const ben = await createMember(store(), 'ben');
      const { id } = await submitJob(store(), ben.id);
      const { claimId } = await claimed(store(), id, { shareId: 'share', now: at });
      await store().finishJob(newFinish(claimId), at);
      const ofShare = { memberId: '', keyId: null, shareId: 'share' };
      expect((await store().quotaUse(ofShare, at)).day).toMatchObject({ requests: 2, tokens: 14 });
      const tomorrow = await store().quotaUse(ofShare, at + DAY_MS);
      expect(tomorrow.day.requests).toBe(0);
    });

    test('of several shares it is told at once, in their order', async () => {
      const at = Date.UTC(2028, 1, 29, 12);
      const row = { memberId: 'ben', keyId: 'laptop', promptTokens: 3, completionTokens: 4 };
      const measured = { ...row, images: 2, audioMs: 1_500 };
      record(1, { ...measured, at, shareId: 'one' });
      record(2, { ...measured, at: at - DAY_MS, shareId: 'one' });
      record(3, { ...measured, at: Date.UTC(2028, 0, 31), shareId: 'one' });
      record(4, { ...measured, at, shareId: 'two' });
      const uses = await store().shareUse(['two', 'none', 'one'], at);
      expect(uses).toEqual([
        { day: times(1), month: times(1) },
        { day: times(0), month: times(0) },
        { day: times(1), month: times(2) },
      ]);
      expect(await store().shareUse([], at)).toEqual([]);
    });

    test('it is that of one key, or of all keys of one member', async () => {
      const at = NOW;
      record(1, { at, memberId: 'anna', keyId: 'laptop' });
      record(2, { at, memberId: 'anna', keyId: 'phone' });
      record(3, { at, memberId: 'anna', keyId: 'console' });
      record(4, { at, memberId: 'ben', keyId: 'laptop' });
      expect((await used('anna', 'laptop', at)).day.requests).toBe(1);
      expect((await used('anna', null, at)).day.requests).toBe(3);
      expect((await used('ben', null, at)).month.requests).toBe(1);
      const nothing = { requests: 0, tokens: 0, images: 0, audioMs: 0 };
      expect(await used('cleo', null, at)).toEqual({ day: nothing, month: nothing });
    });
  });
}

/** What this many rows of the test count for. */
function times(count: number) {
  return { requests: count, tokens: 7 * count, images: 2 * count, audioMs: 1_500 * count };
}
