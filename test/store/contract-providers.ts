/** The part of the contract that is about providers, however they were enrolled. */
import type { Provider, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { audited } from './audited.js';
import { jobOf, laneOf, runningJob } from './dispatch-rows.js';
import { BROKEN, NO_ID } from './job-rows.js';
import { HOST, NOW, SERVICE, createMember, createProvider, sha256, serve } from './store-rows.js';

export function describeProviders(adapter: string, store: () => Store): void {
  const onlyProvider = async (): Promise<Provider | undefined> =>
    (await store().listProviders())[0];

  describe(`${adapter}: providers`, () => {
    test('what its newest link says that it serves is kept', async () => {
      const provider = await createProvider(store());
      await serve(store(), provider.id, { now: NOW + 5 });
      const lastSeenAt = NOW + 5;
      const known = { ...provider, services: [SERVICE], host: HOST, lastSeenAt };
      expect(await onlyProvider()).toEqual(known);
      const link = { providerId: provider.id, linkId: 'link' };
      await store().recordServed(link, { services: [], host: HOST }, NOW + 4);
      expect(await onlyProvider()).toEqual({ ...known, services: [] });
      await store().endLink({ ...link, reason: 'kicked' }, NOW + 9);
      expect(await onlyProvider()).toEqual({ ...known, services: [], lastSeenAt: NOW + 9 });
      await serve(store(), 'no such provider');
      expect(await store().listProviders()).toHaveLength(1);
    });

    test('draining is kept and taken back, and only a change is in the audit log', async () => {
      const { id } = await createProvider(store());
      expect(await onlyProvider()).toMatchObject({ draining: false });
      for (const draining of [true, true, false, false]) {
        expect(await store().setProviderDraining(id, draining)).toBe(true);
        expect(await onlyProvider()).toMatchObject({ draining });
      }
      expect(await store().setProviderDraining('no such provider', true)).toBe(false);
      const subject = { kind: 'provider', id, name: 'anna/den-pc' };
      const [yes, no] = [{ draining: true }, { draining: false }];
      expect(await audited(store(), 'provider.drain')).toEqual([
        { actor: 'system', action: 'provider.drain', subject, before: no, after: yes },
      ]);
      expect(await audited(store(), 'provider.resume')).toEqual([
        { actor: 'system', action: 'provider.resume', subject, before: yes, after: no },
      ]);
    });

    test('those that wait for approval are counted, but of nobody who is disabled', async () => {
      const count = (): Promise<number> => store().countWaitingProviders();
      const { ownerId } = await createProvider(store());
      expect(await count()).toBe(0);
      const waiting = await createProvider(store(), { ownerId, name: 'attic', approved: false });
      expect(await count()).toBe(1);
      await store().changeMember(ownerId, { disabled: true }, NOW);
      expect(await count()).toBe(0);
      await store().changeMember(ownerId, { disabled: false }, NOW);
      expect(await count()).toBe(1);
      await store().approveProvider(waiting.id, NOW);
      expect(await count()).toBe(0);
    });

    test('one that waits for approval is approved once', async () => {
      const tokenHash = sha256('agent');
      const { id } = await createProvider(store(), { tokenHash, approved: false });
      const approve = (now: number): Promise<boolean> =>
        store().by('cli:root').approveProvider(id, now);
      expect(await approve(NOW + 1)).toBe(true);
      expect(await approve(NOW + 2)).toBe(false);
      expect(await store().approveProvider(NO_ID, NOW)).toBe(false);
      expect(await store().findProviderByToken(tokenHash)).toMatchObject({ approvedAt: NOW + 1 });
      const subject = { kind: 'provider', id, name: 'anna/den-pc' };
      const [before, after] = [{ approved: false }, { approved: true }];
      expect(await audited(store(), 'provider.approve')).toEqual([
        { actor: 'cli:root', action: 'provider.approve', subject, before, after },
      ]);
    });

    test('it is known whether its owner is disabled', async () => {
      const tokenHash = sha256('agent');
      const { ownerId, isOwnerDisabled } = await createProvider(store(), { tokenHash });
      expect(isOwnerDisabled).toBe(false);
      await store().changeMember(ownerId, { disabled: true }, NOW);
      expect(await onlyProvider()).toMatchObject({ isOwnerDisabled: true });
      const found = await store().findProviderByToken(tokenHash);
      expect(found).toMatchObject({ isOwnerDisabled: true });
    });

    test('a new name is unique among those of its owner, in either case', async () => {
      const den = await createProvider(store());
      const { ownerId } = den;
      const attic = await createProvider(store(), { ownerId, name: 'attic' });
      const { id: bens } = await createMember(store(), 'ben');
      await createProvider(store(), { ownerId: bens, name: 'cellar' });
      const rename = (name: string): ReturnType<Store['renameProvider']> =>
        store().renameProvider(den.id, name);
      expect(await rename('ATTIC')).toEqual({ kind: 'taken', field: 'name' });
      expect(await rename('cellar')).toMatchObject({ kind: 'changed', value: { name: 'cellar' } });
      expect(await rename('Cellar')).toEqual({
        kind: 'changed',
        value: { ...den, name: 'Cellar' },
      });
      expect(await rename('Cellar')).toMatchObject({ kind: 'changed' });
      expect(await store().renameProvider(NO_ID, 'x')).toEqual({ kind: 'unknown' });
      const names = (await store().listProviders()).map(({ name }) => name);
      expect(names.toSorted()).toEqual(['Cellar', attic.name, 'cellar']);
      const entries = await audited(store(), 'provider.rename');
      expect(entries).toHaveLength(2);
      expect(entries).toContainEqual({
        actor: 'system',
        action: 'provider.rename',
        subject: { kind: 'provider', id: den.id, name: 'anna/den-pc' },
        before: { name: 'den-pc' },
        after: { name: 'cellar' },
      });
    });
  });

  describe(`${adapter}: a removed provider`, () => {
    test('is gone with its token and its shares, and its name is free', async () => {
      const tokenHash = sha256('agent');
      const { id, ownerId } = await createProvider(store(), { tokenHash });
      const other = await createProvider(store(), { ownerId, name: 'attic' });
      const audience = { kind: 'member', id: (await createMember(store(), 'ben')).id } as const;
      const caps = { slots: null, hours: null, maxTokens: null };
      for (const providerId of [id, other.id]) {
        const subject = { serviceId: null, model: null };
        await store().putShare({ providerId, subject, audience, caps }, NOW);
      }
      await serve(store(), id);
      expect(await store().removeProvider(id, NOW)).toBe(true);
      expect(await store().removeProvider(id, NOW)).toBe(false);
      expect(await store().findProviderByToken(tokenHash)).toBeNull();
      expect(await store().listProviders()).toEqual([other]);
      const shares = await store().listShares(null);
      expect(shares.map(({ providerId }) => providerId)).toEqual([other.id]);
      expect(await createProvider(store(), { ownerId })).toMatchObject({ services: [] });
      const subject = { kind: 'provider', id, name: 'anna/den-pc' };
      const before = { name: 'den-pc', shares: 1 };
      expect(await audited(store(), 'provider.remove')).toEqual([
        { actor: 'system', action: 'provider.remove', subject, before, after: null },
      ]);
    });

    test('loses its jobs to the next sweep, which queues them for others', async () => {
      const { id: providerId, ownerId } = await createProvider(store());
      const lost = await runningJob(store(), ownerId, { claim: { providerId } });
      const others = await runningJob(store(), ownerId, { claim: { providerId: 'attic' } });
      const sweep = (now: number): ReturnType<Store['sweepLeases']> =>
        store().sweepLeases({ error: BROKEN, random: 0.5, limit: 10 }, now);
      expect(await sweep(NOW + 3)).toEqual([]);
      await store().removeProvider(providerId, NOW + 3);
      expect(await jobOf(store(), lost.job.id)).toMatchObject({ status: 'PROCESSING' });
      expect(await sweep(NOW + 4)).toMatchObject([
        { kind: 'requeued', job: { id: lost.job.id, status: 'QUEUED', attempts: 1 } },
      ]);
      expect(await jobOf(store(), others.job.id)).toMatchObject({ status: 'PROCESSING' });
      await store().ripenJobs(NOW + 60_000);
      expect((await laneOf(store(), lost.job.id))?.lane.avoided).toEqual([providerId]);
    });
  });
}
