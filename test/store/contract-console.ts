/** The part of the contract that the console's pages use. */
import type { Store, UsageRow } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { failJob, submitJob } from './job-rows.js';
import {
  NOW,
  createMember,
  createProvider,
  created,
  newMember,
  sha256,
  usageRow,
} from './store-rows.js';

const DAY_MS = 86_400_000;
const MIDNIGHT = Date.UTC(2026, 2, 1);

export function describeConsole(adapter: string, store: () => Store): void {
  const record = (...rows: readonly Partial<UsageRow>[]): void =>
    store().recordUsage(rows.map((row, index) => ({ ...usageRow(index), ...row })));
  const recent = async (limit: number, after: string | null = null, memberId = 'anna') =>
    (await store().recentUsage({ memberId, limit, after })).map(({ requestId }) => requestId);

  const activity = (since: number) => store().memberActivity('anna', since);
  const count = (since: number) => store().countRequests('anna', since);

  describe(`${adapter}: the latest requests`, () => {
    test('the newest come first, a page at a time, each once, also of one moment', async () => {
      const times = [5, 9, 9, 9, 7, 1];
      record(
        ...times.map((at, index) => ({ memberId: 'anna', requestId: `r${index}`, at: NOW + at })),
      );
      record({ memberId: 'ben', requestId: 'of-ben', at: NOW + 99 });
      const all = ['r3', 'r2', 'r1', 'r4', 'r0', 'r5'];
      expect(await recent(10)).toEqual(all);
      expect(await recent(2)).toEqual(all.slice(0, 2));
      expect(await recent(2, 'r2')).toEqual(all.slice(2, 4));
      expect(await recent(9, 'r5')).toEqual([]);
      expect(await recent(9, 'of-ben')).toEqual([]);
      expect(await recent(9, 'unknown')).toEqual([]);
    });

    test('each is told as it was recorded', async () => {
      const row = { ...usageRow(1), memberId: 'anna', errorCode: 'provider_error', queueMs: 0 };
      record({ ...row, outcome: 'failed', source: 'console', totalMs: 13 });
      const [told] = await store().recentUsage({ memberId: 'anna', limit: 1, after: null });
      const stored = { ...row, alias: null, outcome: 'failed', source: 'console', totalMs: 13 };
      expect(told).toEqual(stored);
      record({ memberId: 'anna', requestId: 'by-alias', alias: 'fast', totalMs: 12, queueMs: 0 });
      expect(await store().findUsage('by-alias', 'anna')).toMatchObject({ alias: 'fast' });
      expect(await store().findUsage(row.requestId, 'anna')).toEqual(stored);
    });

    test('one is found by its id alone, by its member alone, until it is deleted', async () => {
      record({ memberId: 'anna', requestId: 'old', at: NOW - 1 }, { requestId: 'new', at: NOW });
      expect(await store().findUsage('old', 'anna')).toMatchObject({ requestId: 'old' });
      expect(await store().findUsage('old', 'ben')).toBeNull();
      expect(await store().findUsage('none', 'anna')).toBeNull();
      await store().deleteOldUsage(NOW, 10);
      expect(await store().findUsage('old', 'anna')).toBeNull();
    });
  });

  describe(`${adapter}: a member's day`, () => {
    test('requests and errors are counted from a moment on, and whether any was', async () => {
      expect(await activity(NOW)).toEqual({ failedJobs: 0, hasCalled: false });
      expect(await count(NOW)).toEqual({ requests: 0, failed: 0 });
      record(
        { memberId: 'anna', at: NOW - 1, outcome: 'failed', requestId: 'a' },
        { memberId: 'anna', at: NOW, outcome: 'failed', requestId: 'b' },
        { memberId: 'anna', at: NOW + 1, requestId: 'c' },
        { memberId: 'ben', at: NOW + 1, outcome: 'failed', requestId: 'd' },
      );
      expect(await count(NOW)).toEqual({ requests: 2, failed: 1 });
      expect(await activity(NOW)).toEqual({ failedJobs: 0, hasCalled: true });
      expect(await count(NOW + 2)).toMatchObject({ requests: 0 });
      expect(await activity(NOW + 2)).toMatchObject({ hasCalled: true });
    });

    test('jobs that have failed since are counted', async () => {
      const { id } = await createMember(store(), 'anna');
      for (const endedAt of [NOW + 10, NOW + 20]) {
        const job = await submitJob(store(), id);
        await failJob(store(), job.id, endedAt);
      }
      await submitJob(store(), id);
      const failedSince = async (since: number): Promise<number> =>
        (await store().memberActivity(id, since)).failedJobs;
      expect([await failedSince(NOW), await failedSince(NOW + 11)]).toEqual([2, 1]);
      expect(await failedSince(NOW + 21)).toBe(0);
    });

    test('a provider tells what it has served today, and its last failure', async () => {
      const failed = { outcome: 'failed', errorCode: 'provider_error', model: 'big' } as const;
      record(
        { providerId: 'den', at: MIDNIGHT - 1, requestId: 'a' },
        { providerId: 'den', at: MIDNIGHT, requestId: 'b', ...failed },
        { providerId: 'den', at: MIDNIGHT + 5, requestId: 'c' },
        { providerId: 'attic', at: MIDNIGHT - 9, requestId: 'd', ...failed },
        { providerId: null, at: MIDNIGHT + 9, requestId: 'e', ...failed },
      );
      // The next read of usage writes everything recorded before it.
      await store().usageStats({ since: null, by: 'day', memberId: null });
      const ids = ['attic', 'den', 'nobody'];
      const error = { code: 'provider_error', model: 'big' };
      expect(await store().providerActivity(ids, MIDNIGHT + 7)).toEqual([
        {
          providerId: 'attic',
          servedToday: 0,
          lastError: { ...error, at: MIDNIGHT - 9, requestId: 'd' },
        },
        {
          providerId: 'den',
          servedToday: 2,
          lastError: { ...error, at: MIDNIGHT, requestId: 'b' },
        },
        { providerId: 'nobody', servedToday: 0, lastError: null },
      ]);
    });
  });

  describe(`${adapter}: usage that was given, and day by day`, () => {
    test("what an owner's providers have served is theirs, for all callers", async () => {
      const { id: providerId, ownerId } = await createProvider(store());
      record(
        { memberId: 'ben', providerId, requestId: 'a' },
        { memberId: ownerId, providerId, requestId: 'b' },
        { memberId: ownerId, providerId: 'another', requestId: 'c' },
        { memberId: ownerId, providerId: null, requestId: 'd' },
      );
      const query = { since: null, by: 'member', memberId: null, ownerId } as const;
      const stats = await store().usageStats(query);
      const told = stats.map(({ group, requests }) => `${group} ${requests}`);
      expect(new Set(told)).toEqual(new Set([`${ownerId} 1`, 'ben 1']));
      expect(await store().usageStats({ ...query, ownerId: 'nobody' })).toEqual([]);
    });

    test('a series has a point a day and group; of many groups those with most', async () => {
      const rows = [
        ['a', 0],
        ['a', 0],
        ['a', 1],
        ['b', 1],
        ['b', 1],
        ['c', 1],
      ] as const;
      record(
        ...rows.map(([keyId, day], index) => ({
          keyId,
          at: MIDNIGHT + day * DAY_MS,
          requestId: `r${index}`,
        })),
      );
      const query = { since: null, by: 'key', memberId: null, groups: 2 } as const;
      const points = await store().usageSeries(query);
      expect(points.map(({ day, group, requests }) => `${day} ${group} ${requests}`)).toEqual([
        '2026-03-01 a 2',
        '2026-03-02 b 2',
        '2026-03-02 a 1',
      ]);
      const since = { ...query, since: MIDNIGHT + DAY_MS, by: 'day' } as const;
      expect(await store().usageSeries({ ...since, groups: 1 })).toMatchObject([
        { day: '2026-03-02', group: '2026-03-02', requests: 4, ok: 4 },
      ]);
      expect(await store().usageSeries({ ...query, memberId: 'nobody' })).toEqual([]);
    });
  });

  describe(`${adapter}: a pause`, () => {
    test('it is kept and taken back, and only a change is in the audit log', async () => {
      const { id, paused } = await createProvider(store());
      expect(paused).toBe(false);
      for (const wanted of [true, true, false, false]) {
        expect(await store().setProviderPaused(id, wanted)).toBe(true);
        expect(await store().listProviders()).toMatchObject([{ paused: wanted, draining: false }]);
      }
      expect(await store().setProviderPaused('no such provider', true)).toBe(false);
      const [yes, no] = [{ paused: true }, { paused: false }];
      expect(await audited(store(), 'provider.pause')).toMatchObject([{ before: no, after: yes }]);
      expect(await audited(store(), 'provider.unpause')).toMatchObject([
        { before: yes, after: no },
      ]);
    });

    test('providers are listed of one owner, or of all', async () => {
      const { id, ownerId } = await createProvider(store());
      expect(await store().listProviders(ownerId)).toMatchObject([{ id }]);
      expect(await store().listProviders('nobody')).toEqual([]);
    });
  });

  describe(`${adapter}: the first member`, () => {
    test('is an administrator, and of many who try at once one is it', async () => {
      const tries = Array.from({ length: 20 }, (_, n) => newMember(`first-${n}`));
      const made = await Promise.all(
        tries.map(({ email, name, passwordHash }) =>
          store().by('setup').createFirstMember({ email, name, passwordHash }, NOW),
        ),
      );
      const [first, ...others] = made.filter((one) => one !== null);
      expect(others).toEqual([]);
      expect(await store().listMembers()).toEqual([first]);
      expect(first).toMatchObject({ role: 'admin', disabledAt: null });
      expect(await audited(store(), 'user.create')).toMatchObject([
        { actor: 'setup', after: { role: 'admin' } },
      ]);
      expect(await store().listNetworks()).toMatchObject([
        { name: 'friends', ownerId: first?.id, members: [{ id: first?.id }] },
      ]);
      expect(await audited(store(), 'network.create')).toMatchObject([{ actor: 'setup' }]);
    });

    test('is nobody where somebody is a member', async () => {
      await createMember(store(), 'anna');
      const { email, name, passwordHash } = newMember('ben');
      expect(await store().createFirstMember({ email, name, passwordHash }, NOW)).toBeNull();
      expect(await store().listNetworks()).toEqual([]);
    });
  });

  describe(`${adapter}: the first steps of a member`, () => {
    test('are done by shares, by invites and by others in a network of theirs', async () => {
      const { id: providerId, ownerId: anna } = await createProvider(store());
      const { id: ben } = await createMember(store(), 'ben');
      const own = store().by(`member:${anna}`);
      const nothing = { hasShared: false, hasInvited: false, checklistClosedAt: null };
      expect(await store().firstSteps(anna)).toEqual(nothing);
      const network = created(await own.createNetwork({ name: 'home', ownerId: anna }, NOW));
      expect(await store().firstSteps(anna)).toEqual(nothing);

      const audience = { kind: 'network', id: network.id } as const;
      const caps = { slots: null, maxTokens: null, hours: null };
      const subject = { serviceId: null, model: null };
      created(await own.putShare({ providerId, subject, audience, caps }, NOW));
      expect(await store().firstSteps(anna)).toEqual({ ...nothing, hasShared: true });

      const invite = { hash: sha256('x'), email: 'x@example.org', role: 'member' } as const;
      const made = { ...invite, networkId: network.id, expiresAt: NOW + 1 };
      const { id } = created(await own.createInvite(made, NOW));
      expect((await store().firstSteps(anna)).hasInvited).toBe(true);
      await store().revokeInvite(id, NOW);
      expect((await store().firstSteps(anna)).hasInvited).toBe(false);
      await store().joinNetwork(network.id, ben, NOW);
      expect((await store().firstSteps(anna)).hasInvited).toBe(true);
      expect(await store().firstSteps(ben)).toEqual(nothing);
    });

    test('a closed checklist stays closed until it is shown again', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      await store().closeChecklist(anna.id, NOW);
      expect((await store().firstSteps(anna.id)).checklistClosedAt).toBe(NOW);
      expect((await store().firstSteps(ben.id)).checklistClosedAt).toBeNull();
      await store().closeChecklist(anna.id, null);
      expect((await store().firstSteps(anna.id)).checklistClosedAt).toBeNull();
    });
  });
}
