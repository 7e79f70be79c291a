import { expect, test } from 'vitest';
import { addProvider } from '../cli/providers-in-store.js';
import { adminOnStore } from './admin-on-store.js';

test('each operation on a provider is refused for its own reasons', async () => {
  const { store, refusal } = await adminOnStore();
  await addProvider(store, 'anna', { name: 'den-pc' });
  await addProvider(store, 'anna', { name: 'hall-pc' });
  for (const [command, args, reason] of [
    ['provider.approve', { provider: 'den-pc' }, '7: anna/den-pc is approved already.'],
    ['provider.kick', { provider: 'den-pc' }, '7: anna/den-pc is not online'],
    [
      'provider.rename',
      { provider: 'den-pc', name: 'HALL-PC' },
      "7: anna has a provider 'HALL-PC'",
    ],
    ['provider.rename', { provider: 'den-pc', name: 'a/b' }, '2: name: a name has 1 to 64'],
    ['provider.remove', { provider: 'attic-pc' }, "3: no provider is called 'attic-pc'"],
  ] as const) {
    expect(await refusal(command, args)).toContain(reason);
  }
  expect(await store.listProviders()).toMatchObject([{ name: 'den-pc' }, { name: 'hall-pc' }]);
});

test('a removed provider takes its shares with it, and how many is told', async () => {
  const { store, run } = await adminOnStore();
  const { id, ownerId } = await addProvider(store, 'anna', { name: 'den-pc' });
  const ben = await addProvider(store, 'ben', { name: 'attic-pc' });
  const audience = { kind: 'member', id: ben.ownerId } as const;
  const caps = { slots: null, hours: null, maxTokens: null };
  const subject = { serviceId: null, model: null };
  await store.putShare({ providerId: id, subject, audience, caps }, Date.now());
  const other = { kind: 'member', id: ownerId } as const;
  await store.putShare({ providerId: ben.id, subject, audience: other, caps }, Date.now());
  expect(await run('provider.remove', { provider: id })).toEqual({
    id,
    name: 'anna/den-pc',
    shares: 1,
  });
  expect(await store.listShares(null)).toMatchObject([{ providerId: ben.id }]);
});
