import type { Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { SERVICE, createMember, created, serve } from '../../store/store-rows.js';
import { addProvider } from '../cli/providers-in-store.js';
import { adminOnStore } from './admin-on-store.js';
import type { AdminOnStore } from './admin-on-store.js';

const NOTHING = { service: null, model: null, network: null, user: null };
const NO_CAPS = { slots: null, hours: null, time_zone: null, max_tokens: null };
const SHARE = { provider: 'den-pc', ...NOTHING, ...NO_CAPS };
const UNSHARE = { provider: 'den-pc', ...NOTHING, share: null, all: false };

/** Anna has a machine and the network `friends`; Ben is a member. */
async function annasMachine(): Promise<AdminOnStore> {
  const admin = await adminOnStore();
  await fill(admin.store);
  return admin;
}

async function fill(store: Store): Promise<void> {
  const { id, ownerId } = await addProvider(store, 'anna', { name: 'den-pc' });
  await createMember(store, 'ben');
  created(await store.createNetwork({ name: 'friends', ownerId }, 1));
  const own = { ...SERVICE, service_id: 'own-1', models: [], foreign: false };
  await serve(store, id, { services: [SERVICE, own], now: Date.now() });
}

test('sharing is refused with a reason, and leaves nothing behind', async () => {
  const { store, refusal } = await annasMachine();
  const refused: readonly [string, object, string][] = [
    ['with nobody', {}, '2: share: say with whom: --network or --user'],
    ['with two at once', { network: 'friends', user: 'ben' }, '2: share: say with whom'],
    ['of two things', { network: 'friends', model: 'm', service: 's' }, '2: share: it binds one'],
    ['of an empty model', { network: 'friends', model: '' }, '2: model: an id of a service or'],
    ['with an unknown network', { network: 'frends' }, "3: no network is called 'frends'. Did"],
    ['with an unknown member', { user: 'bem' }, "3: no member is called 'bem'. Did you mean"],
    ['with the owner', { user: 'anna' }, "7: anna/den-pc is anna's own: it needs no share"],
    ['without a slot', { user: 'ben', slots: 0 }, '2: slots: --slots is a whole number from 1'],
    ['with too many slots', { user: 'ben', slots: 1_025 }, '2: slots: --slots is a whole'],
    ['with too many tokens', { user: 'ben', max_tokens: 1_000_001 }, '2: max_tokens: --max-tokens'],
    [
      'with hours that are none',
      { user: 'ben', hours: '22:00-22:00', time_zone: 'UTC' },
      '2: hours are written 22:00-07:00, with an end that is not the beginning, not',
    ],
    [
      'with a zone that is none',
      { user: 'ben', hours: '22:00-07:00', time_zone: 'Berlin' },
      "2: 'Berlin' is no time zone. Write one like Europe/Berlin.",
    ],
    ['with a zone of nothing', { user: 'ben', time_zone: 'UTC' }, '2: share: a time zone is that'],
  ];
  for (const [how, args, reason] of refused) {
    expect(await refusal('provider.share', { ...SHARE, ...args }), how).toContain(reason);
  }
  expect(await store.listShares(null)).toEqual([]);
});

test('a share is made, with a warning where nobody gets anything yet', async () => {
  const { run, store } = await annasMachine();
  const made: readonly [string, object, string | null][] = [
    ['all of it', {}, null],
    ['a model that is served', { model: 'llama-3.1-8b' }, null],
    ['a model that is not', { model: 'llama-3.1-8' }, "'llama-3.1-8' as yet; the share holds once"],
    ['a model with a near name', { model: 'llama-3.1-8' }, 'Did you mean llama-3.1-8b?'],
    ['a service that is not', { service: 'llm-9' }, 'Did you mean llm-1?'],
    ['a service of its owner alone', { service: 'own-1' }, '"foreign": false'],
  ];
  for (const [what, subject, warning] of made) {
    const shared = await run('provider.share', { ...SHARE, user: 'ben', ...subject });
    expect((await store.listShares(null)).map(({ id }) => id)).toContain(shared.id);
    if (warning === null) expect(shared.warning, what).toBeNull();
    else expect(shared.warning, what).toContain(warning);
  }
});

/** Four shares with different subjects and audiences. */
async function manyShares(): Promise<AdminOnStore & { readonly ids: readonly string[] }> {
  const admin = await annasMachine();
  const ids: string[] = [];
  for (const share of [
    { network: 'friends' },
    { network: 'friends', model: 'm' },
    { user: 'ben', model: 'm' },
    { user: 'ben', service: 's' },
  ]) {
    ids.push((await admin.run('provider.share', { ...SHARE, ...share })).id);
  }
  return { ...admin, ids };
}

describe('no longer sharing', () => {
  test.each<[string, object, readonly number[]]>([
    ['a network', { network: 'friends' }, [0, 1]],
    ['a member', { user: 'ben' }, [2, 3]],
    ['a model', { model: 'm' }, [1, 2]],
    ['a service', { service: 's' }, [3]],
    ['a model with a member', { model: 'm', user: 'ben' }, [2]],
    ['all', { all: true }, [0, 1, 2, 3]],
  ])('with %s ends what fits, and nothing else', async (_, args, ended) => {
    const { run, store, ids } = await manyShares();
    const result = await run('provider.unshare', { ...UNSHARE, ...args });
    expect(result.ended.map(({ id }) => ids.indexOf(id))).toEqual(ended);
    const left = (await store.listShares(null)).map(({ id }) => ids.indexOf(id));
    expect([...ended, ...left].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    expect(result.left.map(({ id }) => ids.indexOf(id))).toEqual(left);
  });

  test('by its id ends one share', async () => {
    const { run, ids } = await manyShares();
    const result = await run('provider.unshare', { ...UNSHARE, share: ids[1] });
    expect(result.ended).toMatchObject([{ id: ids[1], network: 'friends', model: 'm' }]);
  });

  test('is refused where nothing is named, where too much is, and where nothing fits', async () => {
    const { refusal, ids } = await manyShares();
    const refused = (args: object) => refusal('provider.unshare', { ...UNSHARE, ...args });
    expect(await refused({})).toMatch(/^2: unshare: say what to end/);
    expect(await refused({ all: true, user: 'ben' })).toMatch(/^2: unshare: say what to end/);
    expect(await refused({ share: ids[0], all: true })).toMatch(/^2: unshare: say what to end/);
    expect(await refused({ network: 'friends', user: 'ben' })).toMatch(/^2: unshare: name --net/);
    expect(await refused({ model: 'm', service: 's' })).toMatch(/^2: share: it binds one/);
    expect(await refused({ model: 'n' })).toMatch(/^3: .* its shares \(4\) with their ids\.$/);
    expect(await refused({ share: 'x' })).toMatch(/^3: no share of anna\/den-pc fits that/);
  });
});

test('a member is blocked once, unblocked once, and never by themselves', async () => {
  const { run, refusal, store } = await annasMachine();
  const pair = { member: 'ben', owner: 'anna' };
  expect(await run('provider.block', pair)).toEqual(pair);
  expect(await refusal('provider.block', pair)).toBe('7: anna blocks ben already.');
  expect(await store.listBlocks()).toMatchObject([{ ownerName: 'anna', memberName: 'ben' }]);
  expect(await run('provider.unblock', pair)).toEqual(pair);
  expect(await refusal('provider.unblock', pair)).toBe('7: anna does not block ben.');
  expect(await refusal('provider.block', { member: 'anna', owner: 'anna' })).toMatch(/^7: anna /);
});
