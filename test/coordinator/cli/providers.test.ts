import { isSecret } from '@inference-gateway/shared/ids';
import type { ProviderView } from '@inference-gateway/coordinator/core/sessions';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Provider, Store } from '@inference-gateway/coordinator/store/port';
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { HOST, SERVICE } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import { serveAdminOn } from './running-admin.js';

test('token create prints a join token alone, with which one machine can enrol', async () => {
  const folder = await dataFolder();
  const ownerId = await folder.output('user create --email anna@example.org');
  const run = await folder.run('token create --owner anna --name den-pc --expires 30m');
  const token = run.stdout.trimEnd();
  expect(run).toMatchObject({ code: 0, stdout: `${token}\n` });
  expect(isSecret('gwj', token)).toBe(true);
  expect(run.stderr).not.toContain(token);
  const store = await openStore(folder.path);
  const enroll = (now: number): ReturnType<Store['enroll']> =>
    store.enroll({ joinTokenHash: sha256(token), tokenHash: sha256('agent'), name: null }, now);
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
  expect((await folder.run('token create --owner nobody')).code).toBe(3);
});

test('providers are listed and shown while no coordinator runs', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  const { id } = await addProvider(store, 'anna', 'den-pc');
  await store.close();
  expect(await folder.json('provider list')).toMatchObject([
    { id, name: 'den-pc', owner: 'anna', online: false, models: ['llama-3.1-8b'], slots: 2 },
  ]);
  expect((await folder.output('provider list')).split('\t').slice(0, 6)).toEqual([
    id,
    'anna',
    'den-pc',
    'offline',
    '0/2',
    'llama-3.1-8b',
  ]);
  expect(await folder.json('provider show den-pc')).toMatchObject({
    id,
    session_id: null,
    host: HOST,
    services: [SERVICE],
  });
  expect(await folder.output(`provider show ${id}`)).toMatch(/^created_at +\d{4}-\d\d-\d\dT/m);
});

test('beside a running coordinator, its links say who is online', async () => {
  const folder = await dataFolder();
  const { store, links } = await serveAdminOn(folder.path);
  const provider = await addProvider(store, 'anna', 'den-pc');
  links.online.set(provider.id, online(provider));
  expect(await folder.json('provider list')).toMatchObject([{ online: true, busy: 1, slots: 2 }]);
  expect(await folder.json('provider show anna/den-pc')).toMatchObject({
    session_id: 'session',
    agent_version: '0.1.0',
    accepts: 'all',
  });
});

test('drain, resume and kick reach the store and the links', async () => {
  const folder = await dataFolder();
  const { store, links } = await serveAdminOn(folder.path);
  const provider = await addProvider(store, 'anna', 'den-pc');
  links.online.set(provider.id, online(provider));
  await folder.output('provider drain den-pc');
  expect(await store.listProviders()).toMatchObject([{ draining: true }]);
  expect((await folder.output('provider list')).split('\t')[3]).toBe('online, draining');
  await folder.output('provider resume den-pc');
  expect(await store.listProviders()).toMatchObject([{ draining: false }]);
  await folder.output('provider kick den-pc');
  expect(links.asked).toEqual(['drain', 'resume', 'kick'].map((verb) => `${verb} ${provider.id}`));
});

test('draining is kept where no coordinator runs; kicking who is not online exits 7', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  await addProvider(store, 'anna', 'den-pc');
  await store.close();
  await folder.output('provider drain anna/den-pc');
  expect(await folder.json('provider list')).toMatchObject([{ draining: true }]);
  const { code, stderr } = await folder.run('provider kick den-pc');
  expect(code).toBe(7);
  expect(stderr).toContain('anna/den-pc is not online');
});

test('a name that two owners gave exits 7, and OWNER/NAME tells them apart', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  await addProvider(store, 'anna', 'den-pc');
  const { id } = await addProvider(store, 'ben', 'den-pc');
  await store.close();
  const { code, stderr } = await folder.run('provider show den-pc');
  expect(code).toBe(7);
  expect(stderr).toContain('write one of anna/den-pc, ben/den-pc');
  expect(await folder.json('provider show BEN/den-pc')).toMatchObject({ id });
  const unknown = await folder.run('provider show den-pd');
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toContain('Did you mean den-pc?');
});

async function addProvider(store: Store, owner: string, name: string): Promise<Provider> {
  const now = Date.now();
  const email = `${owner}@example.org`;
  await store.createMember({ email, name: owner, role: 'member', passwordHash: null }, now);
  const ownerId = (await store.findMember(owner))?.id ?? '';
  const hash = sha256(`token of ${owner}`);
  await store.createJoinToken({ ownerId, name, hash, expiresAt: now + 1_000 }, now);
  const tokenHash = sha256(`agent of ${owner}`);
  const enrolled = await store.enroll({ joinTokenHash: hash, tokenHash, name }, now);
  if (enrolled.kind !== 'created') throw new Error(`${name} is not enrolled`);
  await store.recordProviderSeen(enrolled.value.id, { services: [SERVICE], host: HOST }, now);
  return enrolled.value;
}

function online(provider: Provider): ProviderView {
  return {
    providerId: provider.id,
    ownerId: provider.ownerId,
    ownerName: provider.ownerName,
    name: provider.name,
    createdAt: provider.createdAt,
    session: {
      sessionId: 'session',
      connectedAt: Date.now(),
      agentVersion: '0.1.0',
      host: HOST,
      accepts: 'all',
      busy: 1,
      busyByService: new Map(),
    },
    offlineSince: null,
    draining: false,
    services: [SERVICE],
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
