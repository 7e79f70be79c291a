/** The part of the contract that is about the audit log. */
import type { AuditQuery, NewAuditEntry, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import type { StoreHarness } from './store-harness.js';
import { NOW, createKey, createMember, newKey } from './store-rows.js';

const ALL: AuditQuery = { since: null, action: null, actor: null, subjectId: null, limit: 1_000 };

export function describeAudit(adapter: string, harness: () => StoreHarness): void {
  const store = (): Store => harness().store;
  const actions = async (query: Partial<AuditQuery> = {}): Promise<string[]> =>
    (await store().listAudit({ ...ALL, ...query })).map(({ action }) => action);

  describe(`${adapter}: the audit log`, () => {
    test('an entry is read as it was recorded, with its time and actor, also later', async () => {
      const before = Date.now();
      await store().by('agent:anna/den-pc').recordAudit(entry('job.cancel'));
      await store().recordAudit({ ...entry('queue.requeue'), before: { a: 'ü' }, after: null });
      const listed = await store().listAudit(ALL);
      const about = { before: { a: 'ü' }, after: null, actor: 'system' };
      expect(listed).toEqual([
        { ...entry('queue.requeue'), ...about, id: expect.any(String), at: expect.any(Number) },
        {
          ...entry('job.cancel'),
          actor: 'agent:anna/den-pc',
          id: expect.stringMatching(/^[0-9A-Z]{26}$/),
          at: expect.any(Number),
        },
      ]);
      for (const { at } of listed) {
        expect(at).toBeGreaterThanOrEqual(before);
        expect(at).toBeLessThanOrEqual(Date.now());
      }
      expect(await (await harness().reopen()).listAudit(ALL)).toEqual(listed);
    });

    test('the newest come first, also within a millisecond, as many as are asked for', async () => {
      const recorded = Array.from({ length: 50 }, (_, i) => `job.n${i}`);
      for (const action of recorded) await store().recordAudit(entry(action));
      expect(await actions()).toEqual(recorded.toReversed());
      expect(await actions({ limit: 2 })).toEqual(['job.n49', 'job.n48']);
    });

    test('what is older than an entry is listed after it; after no known one nothing', async () => {
      for (const action of ['job.one', 'key.two', 'job.three']) {
        await store().recordAudit(entry(action));
      }
      const [three, two] = await store().listAudit(ALL);
      expect(await actions({ after: three?.id ?? '' })).toEqual(['key.two', 'job.one']);
      expect(await actions({ after: two?.id ?? '', limit: 1 })).toEqual(['job.one']);
      expect(await actions({ after: three?.id ?? '', action: 'key' })).toEqual(['key.two']);
      expect(await actions({ after: 'nobody' })).toEqual([]);
    });

    test('entries are found by action, noun, actor, subject and time, or by all', async () => {
      const by = { root: store().by('cli:root'), anna: store().by('member:anna') };
      await by.root.recordAudit(entry('key.create', 'one'));
      await by.anna.recordAudit(entry('key.create', 'two'));
      await by.anna.recordAudit(entry('key.revoke', 'one'));
      await by.anna.recordAudit(entry('keys.create', 'one'));
      expect(await actions({ action: 'key' })).toEqual(['key.revoke', 'key.create', 'key.create']);
      expect(await actions({ action: 'key.create' })).toHaveLength(2);
      for (const action of ['ke', 'key.', 'key%', 'k_y', '%', '']) {
        expect([action, await actions({ action })]).toEqual([action, []]);
      }
      expect(await actions({ actor: 'cli:root' })).toEqual(['key.create']);
      expect(await actions({ subjectId: 'one' })).toEqual([
        'keys.create',
        'key.revoke',
        'key.create',
      ]);
      const precise = { action: 'key', actor: 'member:anna', subjectId: 'one' };
      expect(await actions(precise)).toEqual(['key.revoke']);
      const [newest] = await store().listAudit(ALL);
      const at = newest?.at ?? 0;
      expect(await actions({ since: at })).toContain('keys.create');
      expect(await actions({ since: at + 1 })).toEqual([]);
      expect(await actions({ subjectId: 'one', since: at + 1 })).toEqual([]);
    });

    test('an operation that fails or is refused leaves no entry', async () => {
      const anna = await createMember(store(), 'anna');
      const { key } = await createKey(store(), anna.id, { name: 'laptop' });
      const before = await store().listAudit(ALL);
      await expect(store().createKey(newKey('nobody'), NOW)).rejects.toThrow('createKey failed');
      await expect(store().setMemberLimits(anna.id, { requests: 0 })).rejects.toThrow('failed');
      await store().createKey(newKey(anna.id, { name: 'laptop' }), NOW);
      await createMember(store(), 'anna').catch(() => {});
      await store().changeMember('nobody', { disabled: true }, NOW);
      await store().renameKey(key.id, 'laptop');
      await store().setKeyState(key.id, 'enabled', NOW);
      await store().setMemberLimits(anna.id, { requests: null });
      await store().setQueuePaused(false);
      expect(await store().listAudit(ALL)).toEqual(before);
    });

    test('limits are written down as they differ, under the member', async () => {
      const anna = await createMember(store(), 'anna');
      await store().setMemberLimits(anna.id, { requests: 7, concurrent: 2 });
      await store().by('cli:root').setMemberLimits(anna.id, { requests: null, concurrent: 2 });
      const entries = await audited(store(), 'limit.set');
      expect(entries).toMatchObject([
        { actor: 'cli:root', before: { requests: 7 }, after: { requests: null } },
        {
          actor: 'system',
          before: { requests: null, concurrent: null },
          after: { requests: 7, concurrent: 2 },
        },
      ]);
      expect(Object.keys(entries[0]?.after ?? {})).toEqual(['requests']);
      expect(entries[0]?.subject).toEqual({ kind: 'user', id: anna.id, name: anna.email });
    });

    test('the queue is paused and resumed under the name of the person who did it', async () => {
      await store().by('cli:root').setQueuePaused(true);
      await store().by('cli:ben').setQueuePaused(false);
      const subject = { kind: 'queue', id: 'queue', name: 'queue' };
      expect(await audited(store(), 'queue')).toEqual([
        {
          actor: 'cli:ben',
          action: 'queue.resume',
          subject,
          before: { paused: true },
          after: { paused: false },
        },
        {
          actor: 'cli:root',
          action: 'queue.pause',
          subject,
          before: { paused: false },
          after: { paused: true },
        },
      ]);
    });
  });
}

function entry(action: string, id = 'sub'): NewAuditEntry {
  const subject = { kind: action.split('.')[0] ?? '', id, name: `name of ${id}` };
  return { action, subject, before: null, after: { n: 1, deep: { is: [true, null] } } };
}
