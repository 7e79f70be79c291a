/** The part of the contract that is about models that members asked for and nobody served. */
import type { Member, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import type { StoreHarness } from './store-harness.js';
import { createMember, createProvider, created, serve, SERVICE } from './store-rows.js';

const DAY_MS = 86_400_000;

const now = (): number => Date.now();

export function describeWanted(adapter: string, open: () => StoreHarness): void {
  const store = (): Store => open().store;
  const note = (members: readonly Member[], ...models: readonly string[]): void => {
    for (const { id: memberId } of members) {
      for (const model of models) store().noteWanted({ memberId, model });
    }
  };
  const shown = async ({ id }: Member, at = now()) => store().wantedModels(id, at);

  /** Members of one network, and one of another. */
  async function people() {
    const names = ['anna', 'ben', 'cleo', 'dora', 'emil'] as const;
    const [anna, ben, cleo, dora, emil] = (await Promise.all(
      names.map((name) => createMember(store(), name)),
    )) as [Member, Member, Member, Member, Member];
    const at = now();
    const network = async (name: string, [owner, ...others]: readonly [Member, ...Member[]]) => {
      const { id } = created(await store().createNetwork({ name, ownerId: owner.id }, at));
      for (const other of others) await store().joinNetwork(id, other.id, at);
      return id;
    };
    const friends = await network('friends', [anna, ben, cleo, dora]);
    await network('others', [emil, dora]);
    return { anna, ben, cleo, dora, emil, friends };
  }

  describe(`${adapter}: models that are wanted`, () => {
    test('three members of one network are needed, and its members alone see it', async () => {
      const { anna, ben, cleo, dora, emil, friends } = await people();
      note([anna, ben, ben], 'qwen3:8b');
      // Three members in all, but of no one network.
      note([anna, dora, emil], 'flux.1');
      expect(await shown(anna)).toEqual([]);
      note([cleo], 'qwen3:8b');
      const wanted = [{ model: 'qwen3:8b', members: 3 }];
      // Dora has not asked; Emil is in another network with her.
      for (const member of [anna, ben, cleo, dora]) expect(await shown(member)).toEqual(wanted);
      expect(await shown(emil)).toEqual([]);
      note([ben, cleo], 'flux.1');
      expect(await shown(ben)).toEqual([{ model: 'flux.1', members: 4 }, ...wanted]);
      await store().leaveNetwork(friends, cleo.id);
      expect(await shown(ben)).toEqual([{ model: 'flux.1', members: 3 }]);
      expect(await shown(cleo)).toEqual([]);
    });

    test('what any provider has is left out, shared or not, and names of aliases', async () => {
      const { anna, ben, cleo, emil } = await people();
      const provider = await createProvider(store(), { ownerId: emil.id });
      const models = ['Secret-Model', 'llama3:latest'].map((id) => {
        return { ...SERVICE.models[0], id } as (typeof SERVICE.models)[number];
      });
      await serve(store(), provider.id, { services: [{ ...SERVICE, models }] });
      await store().setAlias({ memberId: emil.id, name: 'fast', models: ['m'], cap: 9 }, now());
      note([anna, ben, cleo], 'secret-model', 'Secret-Model', 'llama3', 'fast', 'sk-abc', 'phi4');
      expect(await shown(anna)).toEqual([{ model: 'phi4', members: 3 }]);
      const gone = { services: [{ ...SERVICE, models: models.slice(0, 1) }], linkId: 'next' };
      await serve(store(), provider.id, gone);
      expect(await shown(anna)).toEqual([
        { model: 'llama3', members: 3 },
        { model: 'phi4', members: 3 },
      ]);
    });

    test('a day keeps 20 ids of a member, whichever coordinator hears them', async () => {
      const { anna, ben, cleo } = await people();
      const ids = Array.from({ length: 26 }, (_, n) => `model-${String.fromCharCode(97 + n)}`);
      note([anna, ben], ...ids.slice(0, 18));
      const peer = open().peer('peer');
      for (const { id: memberId } of [anna, ben, cleo]) {
        for (const model of ids) peer.noteWanted({ memberId, model });
      }
      await store().wantedModels(anna.id, now());
      expect(await peer.wantedModels(anna.id, now())).toHaveLength(20);
    });

    test('they are kept for 30 days, and not after their member', async () => {
      const { anna, ben, cleo, dora } = await people();
      note([anna, ben, cleo], 'qwen3:8b');
      expect(await shown(anna, now() + 28 * DAY_MS)).toHaveLength(1);
      expect(await shown(anna, now() + 30 * DAY_MS)).toEqual([]);
      expect(await store().deleteOldWanted(now() + 28 * DAY_MS, 9)).toBe(0);
      note([dora], 'qwen3:8b');
      expect(await shown(anna)).toEqual([{ model: 'qwen3:8b', members: 4 }]);
      await store().deleteMember(dora.id, now());
      // Asked before the deletion, written after it.
      note([dora], 'phi4');
      expect(await shown(anna)).toEqual([{ model: 'qwen3:8b', members: 3 }]);
      expect(await store().deleteOldWanted(now() + 30 * DAY_MS, 2)).toBe(2);
      expect(await store().deleteOldWanted(now() + 30 * DAY_MS, 2)).toBe(1);
      expect(await shown(anna)).toEqual([]);
    });
  });
}
