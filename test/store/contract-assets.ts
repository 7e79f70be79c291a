/** The part of the contract that is about assets. */
import type { Asset, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { NOW, createMember, newAsset } from './store-rows.js';

const ROOMY = { memberBytes: 1_000_000, totalBytes: 1_000_000 };
const UNKNOWN = 'x'.repeat(22);

export function describeAssets(adapter: string, store: () => Store): void {
  const keep = async (memberId: string, asset: Partial<Asset> = {}): Promise<Asset> => {
    const kept = newAsset(memberId, asset);
    expect(await store().createAsset(kept, ROOMY)).toBe('created');
    return kept;
  };
  const idsOf = async (
    memberId: string | null,
    after: string | null = null,
    limit = 10,
  ): Promise<string[]> =>
    (await store().listAssets({ memberId, limit, after })).map(({ id }) => id);

  describe(`${adapter}: assets`, () => {
    test('an asset is found by its id as it was made', async () => {
      const anna = await createMember(store(), 'anna');
      const speech = await keep(anna.id, { seconds: 1.5, providerId: 'provider' });
      const image = await keep(anna.id, { seconds: null, endpoint: 'images' });
      expect(await store().findAsset(speech.id)).toEqual(speech);
      expect(await store().findAsset(image.id)).toEqual(image);
      expect(await store().findAsset(UNKNOWN)).toBeNull();
    });

    test('a list is newest first, of one member or of all, and a page at most', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const first = await keep(anna.id, { createdAt: NOW });
      const second = await keep(ben.id, { createdAt: NOW + 1 });
      const third = await keep(anna.id, { createdAt: NOW + 2 });
      expect(await idsOf(anna.id)).toEqual([third.id, first.id]);
      expect(await idsOf(null)).toEqual([third.id, second.id, first.id]);
      expect(await idsOf(null, null, 2)).toEqual([third.id, second.id]);
      expect(await idsOf('nobody')).toEqual([]);
    });

    test('pages miss nothing and repeat nothing while new assets come in', async () => {
      const anna = await createMember(store(), 'anna');
      // Several have the same millisecond: then the id decides their order.
      const made = await Promise.all(
        Array.from({ length: 10 }, (_, i) => keep(anna.id, { createdAt: NOW + Math.floor(i / 4) })),
      );
      const seen: string[] = [];
      for (let page = await idsOf(anna.id, null, 3); page.length > 0;) {
        seen.push(...page);
        await keep(anna.id, { createdAt: NOW + 100 + seen.length });
        page = await idsOf(anna.id, page.at(-1), 3);
      }
      expect(seen.toSorted()).toEqual(made.map(({ id }) => id).toSorted());
      expect(await idsOf(null, seen[4], 100)).toEqual(seen.slice(5));
    });

    test("an unknown 'after' is an empty list, and another member's is no different", async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const old = await keep(anna.id, { createdAt: NOW });
      const bens = await keep(ben.id, { createdAt: NOW + 1 });
      expect(await idsOf(anna.id, UNKNOWN)).toEqual([]);
      expect(await idsOf(anna.id, bens.id)).toEqual([]);
      expect(await idsOf(null, bens.id)).toEqual([old.id]);
    });

    test("a member deletes their own, never another's; null deletes anybody's", async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const asset = await keep(anna.id);
      expect(await store().deleteAsset(asset.id, ben.id)).toBe(false);
      expect(await store().findAsset(asset.id)).toEqual(asset);
      expect(await store().deleteAsset(asset.id, anna.id)).toBe(true);
      expect(await store().findAsset(asset.id)).toBeNull();
      expect(await store().deleteAsset(asset.id, anna.id)).toBe(false);
      const other = await keep(ben.id);
      expect(await store().deleteAsset(other.id, null)).toBe(true);
    });

    test('those that have a row are told from those that have none', async () => {
      const anna = await createMember(store(), 'anna');
      const [one, two] = [await keep(anna.id), await keep(anna.id)];
      const known = await store().knownAssets([UNKNOWN, two.id, one.id, "'; drop table assets"]);
      expect(known.toSorted()).toEqual([one.id, two.id].toSorted());
      expect(await store().knownAssets([])).toEqual([]);
    });
  });

  describe(`${adapter}: the space of assets`, () => {
    test('space is counted for the member and for all, and freed by every way out', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const one = await keep(anna.id, { bytes: 100 });
      await keep(anna.id, { bytes: 20, expiresAt: NOW + 1 });
      await keep(ben.id, { bytes: 3 });
      expect(await store().assetSpace(anna.id)).toEqual({ memberBytes: 120, totalBytes: 123 });
      expect(await store().assetSpace(ben.id)).toEqual({ memberBytes: 3, totalBytes: 123 });
      expect(await store().assetSpace('nobody')).toEqual({ memberBytes: 0, totalBytes: 123 });
      await store().deleteAsset(one.id, anna.id);
      expect(await store().assetSpace(anna.id)).toEqual({ memberBytes: 20, totalBytes: 23 });
      await store().takeExpiredAssets(NOW + 1, 10);
      expect(await store().assetSpace(anna.id)).toEqual({ memberBytes: 0, totalBytes: 3 });
    });

    test("a member's space may be used to its last byte, and not one more", async () => {
      const anna = await createMember(store(), 'anna');
      const limits = { memberBytes: 100, totalBytes: 1_000 };
      const create = (bytes: number): Promise<string> =>
        store().createAsset(newAsset(anna.id, { bytes }), limits);
      expect(await create(60)).toBe('created');
      expect(await create(41)).toBe('member_full');
      expect(await create(40)).toBe('created');
      expect(await create(1)).toBe('member_full');
      expect(await create(0)).toBe('created');
      expect(await idsOf(anna.id)).toHaveLength(3);
      expect(await store().assetSpace(anna.id)).toEqual({ memberBytes: 100, totalBytes: 100 });
    });

    test('of a member who has been deleted meanwhile, none is written', async () => {
      const anna = await createMember(store(), 'anna');
      expect(await store().deleteMember(anna.id, NOW)).toMatchObject({ kind: 'deleted' });
      expect(await store().createAsset(newAsset(anna.id), ROOMY)).toBe('member_gone');
      expect(await idsOf(null)).toEqual([]);
      expect(await store().assetSpace(anna.id)).toEqual({ memberBytes: 0, totalBytes: 0 });
    });

    test('the space of all is shared, to its last byte', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const limits = { memberBytes: 80, totalBytes: 100 };
      const create = (memberId: string, bytes: number): Promise<string> =>
        store().createAsset(newAsset(memberId, { bytes }), limits);
      expect(await create(anna.id, 80)).toBe('created');
      expect(await create(ben.id, 21)).toBe('full');
      expect(await create(ben.id, 20)).toBe('created');
      expect(await idsOf(ben.id)).toHaveLength(1);
    });

    test('of many that want the last space at once, only those that fit get it', async () => {
      const anna = await createMember(store(), 'anna');
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, () =>
          store().createAsset(newAsset(anna.id, { bytes: 30 }), {
            memberBytes: 100,
            totalBytes: 1_000,
          }),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(3);
      expect(outcomes.filter((outcome) => outcome === 'member_full')).toHaveLength(5);
    });
  });

  describe(`${adapter}: the expiry of assets`, () => {
    test('what expires now is over, what expires later is not; a look takes nothing', async () => {
      const anna = await createMember(store(), 'anna');
      const later = await keep(anna.id, { expiresAt: NOW + 11 });
      const now = await keep(anna.id, { expiresAt: NOW + 10 });
      const before = await keep(anna.id, { expiresAt: NOW + 9 });
      const expired = [before.id, now.id];
      expect(await store().listExpiredAssets(NOW + 10, 10)).toEqual(expired);
      expect(await idsOf(anna.id)).toHaveLength(3);
      const taken = await store().takeExpiredAssets(NOW + 10, 10);
      expect(taken.toSorted()).toEqual(expired.toSorted());
      expect(await idsOf(anna.id)).toEqual([later.id]);
      expect(await store().takeExpiredAssets(NOW + 10, 10)).toEqual([]);
    });

    test('a sweep takes no more than its limit, those first whose time ended first', async () => {
      const anna = await createMember(store(), 'anna');
      const { id: third } = await keep(anna.id, { expiresAt: NOW + 3 });
      const { id: first } = await keep(anna.id, { expiresAt: NOW + 1 });
      const { id: second } = await keep(anna.id, { expiresAt: NOW + 2 });
      expect(await store().listExpiredAssets(NOW + 5, 2)).toEqual([first, second]);
      const taken = await store().takeExpiredAssets(NOW + 5, 2);
      expect(taken.toSorted()).toEqual([first, second].toSorted());
      expect(await store().takeExpiredAssets(NOW + 5, 2)).toEqual([third]);
    });
  });
}
