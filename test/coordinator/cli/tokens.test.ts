import { openStore } from '@inference-gateway/coordinator/store/open';
import { isSecret } from '@inference-gateway/shared/ids';
import { describe, expect, test } from 'vitest';
import { createJoinToken, createProvider, sha256 } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import { WHERE, prepareStopped } from './jobs-in-store.js';
import { fillWithPeople } from './people-in-store.js';

describe.each(WHERE)('%s', (_, prepare) => {
  test('join tokens are listed without their secrets, and revoked only with --yes', async () => {
    const folder = await dataFolder();
    const { provider } = await prepare(folder, fillWithPeople);
    const secret = await folder.output('token create --owner ben --name attic');
    const json = await folder.output('token list --json');
    expect(json).not.toContain(secret.slice(4));
    const [token, spent] = JSON.parse(json) as { id: string; created_at: number }[];
    expect(token).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      owner: 'ben',
      name: 'attic',
      replaces: null,
      state: 'open',
      created_at: expect.any(Number),
      expires_at: (token?.created_at ?? 0) + 3_600_000,
      used_at: null,
      revoked_at: null,
      provider: null,
      provider_id: null,
    });
    expect(spent).toMatchObject({
      state: 'used',
      provider: 'anna/den-pc',
      provider_id: provider.id,
    });
    const id = token?.id ?? '';
    expect(await folder.run(`token revoke ${id}`)).toMatchObject({ code: 2, stdout: '' });
    const revoked = await folder.alone(`token revoke ${id} --yes`);
    expect(revoked).toMatchObject({ code: 0, stderr: `The token ${id} of ben is revoked.\n` });
    expect((await folder.output('token list')).split('\n')[0]?.split('\t').slice(0, 5)).toEqual([
      id,
      'ben',
      'attic',
      '-',
      'revoked',
    ]);
    expect((await folder.run(`token revoke ${id} --yes`)).stderr).toContain('is revoked: nothing');
    const used = await folder.alone(`token revoke ${spent?.id} --yes`);
    expect(used.code).toBe(7);
    expect(used.stderr).toContain('is used: nothing has changed');
  });

  test('--replace is for a machine of the same owner', async () => {
    const folder = await dataFolder();
    const { ben, provider } = await prepare(folder, async (store) => {
      const people = await fillWithPeople(store);
      await createProvider(store, { ownerId: people.ben.id });
      return people;
    });
    for (const reference of ['den-pc', 'anna/den-pc', provider.id]) {
      const { stdout, stderr } = await folder.run(
        `token create --owner anna --replace ${reference}`,
      );
      expect(isSecret('gwj', stdout.trimEnd())).toBe(true);
      expect(stderr).toContain('For den-pc, which enrols again');
    }
    const tokens = (await folder.json('token list')) as { replaces: string | null }[];
    const [again, fresh] = ['anna/den-pc', null];
    expect(tokens.map(({ replaces }) => replaces)).toEqual([again, again, again, fresh, fresh]);
    const other = await folder.run(`token create --owner ${ben.id} --replace anna/den-pc`);
    expect(other).toMatchObject({ code: 2, stdout: '' });
    expect(other.stderr).toContain('anna/den-pc belongs to anna, not to ben');
  });
});

test('a machine that enrols again keeps its id, and its old token ends', async () => {
  const folder = await dataFolder();
  const { provider } = await prepareStopped(folder, fillWithPeople);
  const secret = await folder.output('token create --owner anna --replace den-pc');
  const store = await openStore(folder.path);
  const agent = { name: null, approved: true, tokenHash: sha256('new agent') };
  const enrolled = await store.enroll({ ...agent, joinTokenHash: sha256(secret) }, Date.now());
  expect(enrolled).toMatchObject({ value: { id: provider.id, name: 'den-pc' } });
  expect(await store.listProviders()).toHaveLength(1);
  expect(await store.findProviderByToken(agent.tokenHash)).toMatchObject({ id: provider.id });
  await store.close();
});

test('expired tokens are listed as such, and may be revoked all the same', async () => {
  const folder = await dataFolder();
  const { id } = await prepareStopped(folder, async (store) => {
    return (await createJoinToken(store, {})).joinToken;
  });
  expect(await folder.json('token list')).toMatchObject([{ id, state: 'expired' }]);
  await folder.output(`token revoke ${id} --yes`);
  expect(await folder.json('token list')).toMatchObject([{ id, state: 'revoked' }]);
});

test('what can be no lifetime is a usage error', async () => {
  const folder = await dataFolder();
  const { code, stdout, stderr } = await folder.run('token create --owner anna --expires soon');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('--expires');
});

test('a token that is given whole is refused without being shown again', async () => {
  const folder = await dataFolder();
  await prepareStopped(folder, fillWithPeople);
  const secret = await folder.output('token create --owner anna');
  const { code, stdout, stderr } = await folder.run(`token revoke ${secret} --yes`);
  expect(code).toBe(2);
  expect(stdout + stderr).not.toContain(secret.slice(4));
});
