/**
 * The part of the contract that is about which coordinator holds a provider's link, and what the
 * provider serves.
 */
import type { ServedModel } from '@inference-gateway/coordinator/core/routing/presence';
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
      await store().endLink({ providerId: id, linkId: 'first' }, NOW + 5);
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
      await store().endLink(older, NOW + 3);
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

    test('of a coordinator without links is not written again', async () => {
      await serve(store(), id, { now: NOW + 1 });
      await store().endLink({ providerId: id, linkId: 'link' }, NOW + 2);
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
