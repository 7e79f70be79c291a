/**
 * The part of the contract that is about which coordinator holds a provider's link, and what the
 * provider serves.
 */
import type { ServedModel } from '@inference-gateway/coordinator/core/routing/presence';
import { LINK_HISTORY_MS, MAX_LINKS_KEPT } from '@inference-gateway/coordinator/store/port';
import type { Store } from '@inference-gateway/coordinator/store/port';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import { beforeEach, describe, expect, test } from 'vitest';
import { LEASE_MS, jobOf, runningJob } from './dispatch-rows.js';
import { BROKEN } from './job-rows.js';
import { HOST, NOW, SERVICE, createProvider, serve } from './store-rows.js';
import type { StoreHarness } from './store-harness.js';

export function describePresence(adapter: string, open: () => StoreHarness): void {
  const store = (): Store => open().store;
  const servedAs = async (model: string): Promise<ServedModel | undefined> => {
    const [first, ...others] = await store().servedModels('llm', model);
    expect(others).toEqual([]);
    return first;
  };

  describe(`${adapter}: presence`, () => {
    let id: string;
    let ownerId: string;

    beforeEach(async () => {
      await store().startNode(NOW);
      ({ id, ownerId } = await createProvider(store()));
    });

    const link = { nodeId: 'local', linkedAt: NOW + 1, endedAt: null };

    test('tells who serves a model, and by which link', async () => {
      expect(await servedAs('llama-3.1-8b')).toBeUndefined();
      await serve(store(), id, { now: NOW + 1, linkId: 'first' });
      expect(await servedAs('llama-3.1-8b')).toEqual({
        providerId: id,
        serviceId: 'llm-1',
        foreign: true,
        model: SERVICE.models[0],
        leftAt: null,
        link: { ...link, linkId: 'first', epoch: 1, nodeSeenAt: NOW + 1 },
      });
      await store().endLink({ providerId: id, linkId: 'first', reason: 'kicked' }, NOW + 5);
      const ended = { ...link, linkId: 'first', epoch: 1, nodeSeenAt: NOW + 1, endedAt: NOW + 5 };
      expect((await servedAs('llama-3.1-8b'))?.link).toEqual(ended);
      expect(await store().servedModels('tts', 'llama-3.1-8b')).toEqual([]);
      await store().removeProvider(id, NOW + 6);
      expect(await servedAs('llama-3.1-8b')).toBeUndefined();
    });

    test('of a link that is not the newest any more is not changed by it', async () => {
      const peer = open().peer('peer');
      await peer.startNode(NOW);
      await serve(store(), id, { now: NOW + 1, linkId: 'older' });
      await serve(peer, id, { now: NOW + 2, linkId: 'newer' });
      const older = { providerId: id, linkId: 'older' };
      await store().endLink({ ...older, reason: 'connection_lost' }, NOW + 3);
      await store().recordServed(older, { services: [], host: HOST }, NOW + 3);
      const newer = { nodeId: 'peer', linkId: 'newer', epoch: 2, linkedAt: NOW + 2, endedAt: null };
      expect(await servedAs('llama-3.1-8b')).toMatchObject({ leftAt: null, link: newer });
      expect((await store().listProviders())[0]).toMatchObject({ services: [SERVICE] });
    });

    test('remembers a model that a list leaves out until it is back', async () => {
      await serve(store(), id, { services: [serviceOf('one', 'two')] });
      const newest = { providerId: id, linkId: 'link' };
      const list = (services: AdvertisedService[], now: number): Promise<void> =>
        store().recordServed(newest, { services, host: HOST }, now);
      await list([serviceOf('two')], NOW + 10);
      expect(await servedAs('one')).toMatchObject({ leftAt: NOW + 10 });
      await list([], NOW + 20);
      expect(await servedAs('one')).toMatchObject({ leftAt: NOW + 10 });
      expect(await servedAs('two')).toMatchObject({ leftAt: NOW + 20 });
      const own = { ...serviceOf('one'), foreign: false };
      await list([own], NOW + 30);
      expect(await servedAs('one')).toMatchObject({ leftAt: null, foreign: false });
      expect(await servedAs('two')).toMatchObject({ leftAt: NOW + 20, foreign: true });
    });

    test('remembers 512 models that a provider left out, the last ones', async () => {
      const serves = (models: readonly string[], now: number): Promise<void> => {
        const newest = { providerId: id, linkId: 'link' };
        return store().recordServed(newest, { services: [serviceOf(...models)], host: HOST }, now);
      };
      await serve(store(), id, { services: [] });
      await serves(['first'], NOW + 1);
      await serves(['second'], NOW + 2);
      await serves(
        Array.from({ length: 511 }, (_, i) => `model-${i}`),
        NOW + 3,
      );
      await serves(['last'], NOW + 4);
      expect(await servedAs('first')).toBeUndefined();
      expect(await servedAs('second')).toMatchObject({ leftAt: NOW + 3 });
      expect(await servedAs('model-510')).toMatchObject({ leftAt: NOW + 4 });
      expect(await servedAs('last')).toMatchObject({ leftAt: null });
    });

    test('ends the links that a coordinator left open when it was last seen', async () => {
      const peer = open().peer('peer');
      await peer.startNode(NOW);
      await serve(peer, id, { now: NOW + 1 });
      await peer.beatNode(NOW + 30);
      await store().startNode(NOW + 50);
      expect((await servedAs('llama-3.1-8b'))?.link).toMatchObject({ endedAt: null });
      await peer.startNode(NOW + 60);
      const endedAt = NOW + 30;
      expect((await servedAs('llama-3.1-8b'))?.link).toMatchObject({ endedAt, epoch: 1 });
    });

    test('knows when a provider was linked, and why its links ended', async () => {
      const none = { since: null, periods: [], holderSeenAt: null };
      expect(await store().linkHistory(id)).toEqual(none);
      await serve(store(), id, { now: NOW + 1, linkId: 'first' });
      const lost = { providerId: id, linkId: 'first', reason: 'connection_lost' } as const;
      await store().endLink(lost, NOW + 5);
      // It has ended already.
      await store().endLink({ ...lost, reason: 'kicked' }, NOW + 6);
      await serve(store(), id, { now: NOW + 9, linkId: 'second' });
      await serve(store(), id, { now: NOW + 20, linkId: 'third' });
      expect(await store().linkHistory(id)).toEqual({
        since: NOW + 1,
        periods: [
          { linkedAt: NOW + 1, endedAt: NOW + 5, reason: 'connection_lost' },
          { linkedAt: NOW + 9, endedAt: NOW + 20, reason: 'replaced' },
          { linkedAt: NOW + 20, endedAt: null, reason: null },
        ],
        holderSeenAt: NOW + 20,
      });
      await store().removeProvider(id, NOW + 30);
      expect(await store().linkHistory(id)).toEqual(none);
    });

    test('of one that has crashed, its links end when it was last seen', async () => {
      const peer = open().peer('peer');
      await peer.startNode(NOW);
      const { id: theirs } = await createProvider(store(), { ownerId, name: 'attic' });
      await serve(peer, id, { now: NOW + 1, linkId: 'left' });
      await serve(peer, theirs, { now: NOW + 2, linkId: 'moved' });
      await peer.beatNode(NOW + 30);
      // Its agent has noticed first, and links to another one.
      await serve(store(), theirs, { now: NOW + 40, linkId: 'anew' });
      await peer.startNode(NOW + 60);
      const crashed = { reason: 'coordinator_crashed' };
      expect((await store().linkHistory(id)).periods).toEqual([
        { linkedAt: NOW + 1, endedAt: NOW + 30, ...crashed },
      ]);
      expect((await store().linkHistory(theirs)).periods).toEqual([
        { linkedAt: NOW + 2, endedAt: NOW + 40, ...crashed },
        { linkedAt: NOW + 40, endedAt: null, reason: null },
      ]);
      await serve(peer, id, { now: NOW + 70, linkId: 'next' });
      expect(await store().removeNode('peer', NOW + 86_400_000)).toBe('removed');
      expect((await store().linkHistory(id)).periods.at(-1)).toEqual({
        linkedAt: NOW + 70,
        endedAt: NOW + 70,
        ...crashed,
      });
    });

    test('forgets links of 30 days ago, and the oldest of too many', async () => {
      const linked = async (linkId: string, at: number): Promise<void> => {
        const link = { providerId: id, linkId };
        const claims = { claimIds: [], leaseUntil: at, random: 0 };
        await store().resumeClaims({ ...link, ...claims }, at);
        await store().endLink({ ...link, reason: 'agent_stopped' }, at + 1);
      };
      await linked('old', NOW);
      await linked('new', NOW + 1_000);
      expect(await store().deleteOldLinks(NOW + 1 + LINK_HISTORY_MS, 10)).toBe(0);
      expect(await store().deleteOldLinks(NOW + 2 + LINK_HISTORY_MS, 10)).toBe(1);
      const { since, periods } = await store().linkHistory(id);
      expect(since).toBe(NOW);
      expect(periods).toHaveLength(1);
      for (let more = 0; more < MAX_LINKS_KEPT; more += 1) {
        await linked(`more-${more}`, NOW + 2_000 + 2 * more);
      }
      const kept = await store().linkHistory(id);
      expect(kept.periods).toHaveLength(MAX_LINKS_KEPT);
      expect(kept.since).toBe(NOW + 2_000);
    });

    test('of a coordinator without links is not written again', async () => {
      await serve(store(), id, { now: NOW + 1 });
      await store().endLink({ providerId: id, linkId: 'link', reason: 'kicked' }, NOW + 2);
      await store().beatNode(NOW + 30);
      expect((await servedAs('llama-3.1-8b'))?.link).toMatchObject({ nodeSeenAt: NOW + 1 });
      await serve(store(), id, { now: NOW + 40, linkId: 'next' });
      await store().beatNode(NOW + 50);
      expect((await servedAs('llama-3.1-8b'))?.link).toMatchObject({ nodeSeenAt: NOW + 50 });
    });

    test('a coordinator renews no lease of a provider that is linked to another one', async () => {
      const peer = open().peer('peer');
      await peer.startNode(NOW);
      const { id: theirs } = await createProvider(store(), { ownerId, name: 'attic' });
      await serve(store(), id, { now: NOW + 1 });
      await serve(peer, theirs, { now: NOW + 1 });
      const claim = { leaseUntil: NOW + LEASE_MS };
      const own = await runningJob(store(), ownerId, { claim: { ...claim, providerId: id } });
      const other = await runningJob(store(), ownerId, { claim: { ...claim, providerId: theirs } });
      const sweep = async (): Promise<readonly string[]> => {
        const ends = { error: BROKEN, random: 0, limit: 10 };
        await store().sweepLeases(ends, NOW + LEASE_MS + 1);
        const jobs = await Promise.all([own, other].map(({ job }) => jobOf(store(), job.id)));
        return jobs.map(({ status }) => status);
      };
      await store().renewOwnClaims(NOW + 9 * LEASE_MS, NOW);
      expect(await sweep()).toEqual(['PROCESSING', 'QUEUED']);
    });

    test('a coordinator renews the leases that one left behind which is lost', async () => {
      const peer = open().peer('peer');
      await peer.startNode(NOW);
      await serve(peer, id, { now: NOW + 1 });
      const claim = { leaseUntil: NOW + LEASE_MS, providerId: id };
      const { job } = await runningJob(store(), ownerId, { claim });
      await store().renewOwnClaims(NOW + 9 * LEASE_MS, NOW + 2);
      await store().sweepLeases({ error: BROKEN, random: 0, limit: 10 }, NOW + LEASE_MS + 1);
      expect((await jobOf(store(), job.id)).status).toBe('PROCESSING');
    });
  });
}

function serviceOf(...ids: string[]): AdvertisedService {
  return { ...SERVICE, models: SERVICE.models.flatMap((one) => ids.map((id) => ({ ...one, id }))) };
}
