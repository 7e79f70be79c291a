import { isSecret } from '@inference-gateway/shared/ids';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Provider, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { HOST, SERVICE, newProvider, sha256 } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import { expectFailures } from './expect-failures.js';
import { WHERE } from './jobs-in-store.js';
import { addProvider, online } from './providers-in-store.js';
import { serveAdminOn } from './running-admin.js';

test('token create prints a join token alone, with which one machine can enrol', async () => {
  const folder = await dataFolder();
  const ownerId = await folder.output('user create --email anna@example.org');
  const run = await folder.alone('token create --owner anna --name den-pc --expires 30m');
  const token = run.stdout.trimEnd();
  expect(run).toMatchObject({ code: 0, stdout: `${token}\n` });
  expect(isSecret('gwj', token)).toBe(true);
  expect(run.stderr).not.toContain(token);
  const store = await openStore(folder.path);
  const enroll = (now: number): ReturnType<Store['enroll']> =>
    store.enroll(newProvider(sha256(token)), now);
  const in31Minutes = Date.now() + 31 * 60_000;
  expect(await enroll(in31Minutes)).toEqual({ kind: 'refused', reason: 'expired' });
  expect(await enroll(Date.now())).toMatchObject({ value: { ownerId, name: 'den-pc' } });
  await store.close();
});

test('a join token lasts an hour where nobody says otherwise', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  const { stderr } = await folder.run('token create --owner anna');
  const end = Date.parse(/until (\S+Z)/.exec(stderr)?.[1] ?? '');
  expect(end - Date.now()).toBeGreaterThan(3_590_000);
  expect(end - Date.now()).toBeLessThanOrEqual(3_600_000);
  expect((await folder.alone('token create --owner nobody')).code).toBe(3);
});

interface Machines {
  /** Anna's, draining. */
  readonly den: Provider;
  /** Ben's; Ben is disabled, and the provider is not approved. */
  readonly attic: Provider;
}

async function fill(store: Store): Promise<Machines> {
  const den = await addProvider(store, 'anna', { name: 'den-pc' });
  await addProvider(store, 'anna', { name: 'hall-pc' });
  const attic = await addProvider(store, 'ben', { name: 'attic-pc', approved: false });
  await store.setProviderDraining(den.id, true);
  await store.changeMember(attic.ownerId, { disabled: true }, Date.now());
  return { den, attic };
}

describe.each(WHERE)('%s', (_, prepare) => {
  test('providers are listed and shown, with what keeps them from work', async () => {
    const folder = await dataFolder();
    const { den, attic } = await prepare(folder, fill);
    expect(await folder.json('provider show den-pc')).toMatchObject({
      id: den.id,
      name: 'den-pc',
      owner: 'anna',
      online: false,
      draining: true,
      approved: true,
      owner_disabled: false,
      models: ['llama-3.1-8b'],
      slots: 2,
      busy: 0,
      session_id: null,
      host: HOST,
      services: [SERVICE],
      shares: [],
      blocked: [],
    });
    const shown = await folder.output(`provider show ${den.id}`);
    expect(shown).toMatch(/^created_at +\d{4}-\d\d-\d\dT/m);
    const rows = (await folder.output('provider list')).split('\n').map((row) => row.split('\t'));
    expect(rows.map((row) => row.slice(0, 6))).toEqual([
      [den.id, 'anna', 'den-pc', 'offline, draining', '0/2', 'llama-3.1-8b'],
      [expect.any(String), 'anna', 'hall-pc', 'offline', '0/2', 'llama-3.1-8b'],
      [attic.id, 'ben', 'attic-pc', expect.any(String), '0/2', 'llama-3.1-8b'],
    ]);
    expect(rows[2]?.[3]).toBe('offline, waiting for approval, owner disabled');
  });

  test('providers are approved, renamed, drained and removed', async () => {
    const folder = await dataFolder();
    const { den, attic } = await prepare(folder, fill);
    expect(await folder.run('provider approve ben/attic-pc')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'ben/attic-pc is approved.\n',
    });
    const renamed = await folder.run('provider rename den-pc cellar-pc');
    expect(renamed.stderr).toBe('anna/den-pc is called anna/cellar-pc.\n');
    await folder.output('provider resume cellar-pc');
    await folder.output('provider drain attic-pc');
    const removed = await folder.alone('provider remove hall-pc --yes');
    expect(removed).toMatchObject({ code: 0, stdout: '' });
    expect(await folder.json('provider list')).toMatchObject([
      { id: den.id, name: 'cellar-pc', draining: false },
      { id: attic.id, approved: true, draining: true, owner_disabled: true },
    ]);
  });

  test('what cannot be done says why, and exits with its code', async () => {
    const folder = await dataFolder();
    await prepare(folder, async (store) => {
      await addProvider(store, 'ben', { name: 'den-pc' });
      await fill(store);
    });
    await expectFailures(folder, [
      ['provider show den-pd', 3, 'Did you mean den-pc?'],
      ['provider show den-pc', 7, 'write one of ben/den-pc, anna/den-pc'],
      ['provider remove hall-pc', 2, 'add --yes'],
      ['provider kick hall-pc', 7, 'anna/hall-pc is not online'],
    ]);
  });
});

test('beside a running coordinator, its links say who is online', async () => {
  const folder = await dataFolder();
  const { store, links } = await serveAdminOn(folder.path);
  const provider = await addProvider(store, 'anna', { name: 'den-pc' });
  links.online.set(provider.id, online(provider));
  expect(await folder.json('provider list')).toMatchObject([{ online: true, busy: 1, slots: 2 }]);
  expect(await folder.json('provider show anna/den-pc')).toMatchObject({
    session_id: 'link',
    agent_version: '0.1.0',
    accepts: 'all',
  });
});

test('drain, resume, rename and remove reach the store, and kick the link', async () => {
  const folder = await dataFolder();
  const { store, links } = await serveAdminOn(folder.path);
  const provider = await addProvider(store, 'anna', { name: 'den-pc' });
  const { id } = provider;
  links.online.set(id, online(provider));
  await folder.output('provider drain den-pc');
  expect(await store.listProviders()).toMatchObject([{ draining: true }]);
  expect((await folder.output('provider list')).split('\t')[3]).toBe('online, draining');
  await folder.output('provider resume den-pc');
  expect(await store.listProviders()).toMatchObject([{ draining: false }]);
  await folder.output('provider kick den-pc');
  await folder.output('provider rename den-pc cellar-pc');
  expect(await store.listProviders()).toMatchObject([{ name: 'cellar-pc' }]);
  await folder.output('provider remove cellar-pc --yes');
  expect(await store.listProviders()).toEqual([]);
  expect(links.asked).toEqual([`kick ${id}`]);
  const query = { since: null, action: 'provider.kick', actor: null, subjectId: id, limit: 10 };
  expect(await store.listAudit(query)).toMatchObject([
    { actor: expect.stringMatching(/^cli:./), subject: { name: 'anna/den-pc' } },
  ]);
});
