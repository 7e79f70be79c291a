/** The part of the contract that is about the coordinators that share the data. */
import type { NodeNews, NodeReport, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { NOW } from './store-rows.js';
import type { StoreHarness } from './store-harness.js';

const SELF: NodeReport = { url: 'wss://10.0.0.2:7071', version: '1', agents: 3, isNew: true };
const KEY = new Uint8Array(32).fill(1);
const OTHER_KEY = new Uint8Array(32).fill(2);

export function describeNodes(adapter: string, open: () => StoreHarness): void {
  const store = (): Store => open().store;

  describe(`${adapter}: nodes`, () => {
    test('learn of each other, and share the key of the first', async () => {
      const peer = open().peer('peer');
      const first = await report(store());
      expect(first.nodes).toMatchObject([{ name: 'local', isAlive: true, draining: false }]);
      const { nodes, keys } = await report(peer, { url: null, agents: 0 }, OTHER_KEY);
      expect(nodes).toMatchObject([
        { name: 'local', url: SELF.url, version: '1', agents: 3, isAlive: true },
        { name: 'peer', url: null, agents: 0, isAlive: true },
      ]);
      expect(keys.map(({ secret }) => [...secret])).toEqual([[...KEY]]);
      expect(await store().listNodes(NOW)).toEqual(nodes);
    });

    test('that say that they stop are down at once, and up with the next report', async () => {
      await report(store());
      await store().leaveNode(NOW);
      expect(await store().listNodes(NOW)).toMatchObject([{ isAlive: false, agents: 0 }]);
      await report(store(), { isNew: false });
      expect(await store().listNodes(NOW)).toMatchObject([{ isAlive: true, agents: 3 }]);
    });

    test('are drained and taken back, and it is logged', async () => {
      await report(store());
      expect(await store().setNodeDraining('local', true)).toBe(true);
      expect((await report(store(), { isNew: false })).nodes).toMatchObject([{ draining: true }]);
      expect(await store().setNodeDraining('local', false)).toBe(true);
      expect((await report(store())).nodes).toMatchObject([{ draining: false }]);
      expect(await store().setNodeDraining('nobody', true)).toBe(false);
      const question = { since: null, action: null, actor: null, subjectId: 'local', limit: 9 };
      const logged = await store().listAudit(question);
      expect(logged.map(({ action }) => action)).toEqual(['node.undrain', 'node.drain']);
    });

    test('are forgotten only once they have stopped', async () => {
      const peer = open().peer('peer');
      await report(peer);
      expect(await store().removeNode('peer', NOW)).toBe('alive');
      await peer.leaveNode(NOW);
      expect(await store().removeNode('peer', NOW)).toBe('removed');
      expect(await store().removeNode('peer', NOW)).toBe('unknown');
    });

    test('get a new key, and still know the one before', async () => {
      await report(store());
      await store().rotateNodeKey(OTHER_KEY, NOW + 1);
      const { keys } = await report(store(), { isNew: false });
      expect(keys.map(({ secret }) => secret[0])).toEqual([2, 1]);
      expect(new Set(keys.map(({ id }) => id)).size).toBe(2);
    });

    test('have the secret in common that one of them brought first', async () => {
      const peer = open().peer('peer');
      const mine = await store().sharedSecret('asset links', KEY, NOW);
      expect([...mine]).toEqual([...KEY]);
      expect([...(await peer.sharedSecret('asset links', OTHER_KEY, NOW))]).toEqual([...KEY]);
      expect((await report(store(), {}, OTHER_KEY)).keys[0]?.secret[0]).toBe(2);
    });

    test('do the upkeep, if there is one', async () => {
      expect(await store().holdsUpkeep()).toBe(true);
    });
  });
}

function report(one: Store, more: Partial<NodeReport> = {}, key = KEY): Promise<NodeNews> {
  return one.reportNode({ ...SELF, ...more }, key, NOW);
}
