import { openStore } from '@inference-gateway/coordinator/store/open';
import { isSecret } from '@inference-gateway/shared/ids';
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import { expectFailures } from './expect-failures.js';
import { serveAdminOn } from './running-admin.js';

const WHERE = [
  ['without a coordinator', async () => {}],
  ['beside a running one', async ({ path }: DataFolder) => void (await serveAdminOn(path))],
] as const;

describe.each(WHERE)('%s', (_, prepare) => {
  async function withAnna(): Promise<DataFolder> {
    const folder = await dataFolder();
    await prepare(folder);
    await folder.output('user create --email anna@example.org --name Anna');
    return folder;
  }

  test('key create prints the key alone, and its hash is all that is kept', async () => {
    const folder = await withAnna();
    const { code, stdout, stderr } = await folder.alone('key create --user anna --name laptop');
    const key = stdout.trimEnd();
    expect(code).toBe(0);
    expect(stdout).toBe(`${key}\n`);
    expect(isSecret('gwk', key)).toBe(true);
    expect(stderr).not.toContain(key.slice(12));
    const [row] = (await folder.json('key list')) as Record<string, unknown>[];
    expect(row).toMatchObject({
      name: 'laptop',
      owner: 'anna@example.org',
      prefix: key.slice(0, 12),
      state: 'active',
      scope: 'any',
      assets: null,
      expires_at: null,
      last_used_at: null,
    });
    expect(await filesThatHold(folder.path, key)).toEqual([]);
    const hash = createHash('sha256').update(key).digest('hex');
    expect(await filesThatHold(folder.path, hash)).not.toEqual([]);
  });

  test.each(['link', 'private'])('a key says itself that its files are: %s', async (access) => {
    const folder = await withAnna();
    await folder.output(`key create --user anna --name n8n --assets ${access}`);
    expect(await folder.json('key list')).toMatchObject([{ name: 'n8n', assets: access }]);
    const refused = await folder.run('key create --user anna --name x --assets public');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('private, link')]);
  });

  test('a key has rules from the start, shows what it has used, and its rules change', async () => {
    const folder = await withAnna();
    await folder.output('key create --user anna --name n8n --models a,b:7b --day requests=9');
    const none = { requests: null, tokens: null, images: null, audio_s: null };
    const shown = () => folder.json('key show anna/n8n');
    expect(await shown()).toMatchObject({
      name: 'n8n',
      models: ['a', 'b:7b'],
      day: { ...none, requests: 9 },
      month: none,
      used: { day: { requests: 0, tokens: 0 }, month: { images: 0, audio_s: 0 } },
    });
    expect(await folder.output('key show anna/n8n')).toMatch(/a day +requests 0\/9/);
    const run = await folder.alone('key limit anna/n8n --models any --month tokens=5');
    expect(run.stderr).toBe(
      'anna@example.org/n8n: models any; endpoints any; a day requests 9; a month tokens 5.\n',
    );
    expect(await shown()).toMatchObject({ models: null, month: { ...none, tokens: 5 } });
    await folder.output('key limit anna/n8n --endpoints /v1/rerank,/embeddings');
    expect(await shown()).toMatchObject({ endpoints: ['/v1/rerank', '/v1/embeddings'] });
    for (const [paths, why] of [
      ['/v1/chat', 'name some of /v1/chat/completions, '],
      ['embeddings', 'Write paths with commas between'],
    ]) {
      const refused = await folder.run(`key limit anna/n8n --endpoints ${paths}`);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(why ?? '')]);
    }
    await folder.output('key limit anna/n8n --endpoints any --day none --month none');
    expect(await shown()).toMatchObject({ models: null, endpoints: null, day: none, month: none });
    const actions = (await folder.json('audit list --action key.limit')) as unknown[];
    expect(actions).toHaveLength(3);
  });

  test('a key is disabled by its prefix and enabled by OWNER/NAME', async () => {
    const folder = await withAnna();
    const key = await folder.output('key create --user ANNA@example.org --name laptop');
    const rows = (): Promise<unknown> => folder.json('key list --user Anna');
    await folder.output(`key disable ${key.slice(0, 12)}`);
    expect(await rows()).toMatchObject([{ state: 'disabled' }]);
    await folder.output('key enable anna/LAPTOP');
    expect(await rows()).toMatchObject([{ state: 'active', disabled_at: null }]);
  });

  test('a key is revoked only with --yes, and that cannot be taken back', async () => {
    const folder = await withAnna();
    await folder.output('key create --user anna --name laptop');
    expect(await folder.alone('key revoke anna/laptop')).toMatchObject({ code: 2, stdout: '' });
    const [row] = (await folder.json('key list')) as { id: string; state: string }[];
    expect(row?.state).toBe('active');
    await folder.output(`key revoke ${row?.id} --yes`);
    expect(await folder.json('key list')).toMatchObject([{ state: 'revoked' }]);
    const { code, stderr } = await folder.alone('key enable anna/laptop');
    expect(code).toBe(7);
    expect(stderr).toContain('is revoked, which cannot be taken back');
  });

  test('a name that the member has given exits 7, and is free after a revocation', async () => {
    const folder = await withAnna();
    await folder.output('key create --user anna --name laptop');
    const again = await folder.run('key create --user anna --name Laptop');
    expect(again).toMatchObject({ code: 7, stdout: '' });
    expect(again.stderr).toContain("has a key 'Laptop' already");
    await folder.output('key revoke anna/laptop --yes');
    await folder.output('key create --user anna --name laptop --scope own --expires 90d');
    await folder.output('key disable anna/laptop');
    const rows = (await folder.json('key list')) as { state: string; scope: string }[];
    expect(rows.map(({ state, scope }) => `${state} ${scope}`)).toEqual([
      'revoked any',
      'disabled own',
    ]);
  });

  test('an unknown member exits 3, with who was probably meant', async () => {
    const folder = await withAnna();
    const { code, stdout, stderr } = await folder.alone('key create --user ana --name x');
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain("no member is called 'ana'. Did you mean Anna");
  });

  test('a key is renamed, but not to a name that the member has given', async () => {
    const folder = await withAnna();
    await folder.output('key create --user anna --name laptop');
    await folder.output('key create --user anna --name phone');
    const run = await folder.run('key rename anna/laptop desktop');
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toBe('anna@example.org/laptop is anna@example.org/desktop now.\n');
    const taken = await folder.run('key rename anna/desktop Phone');
    expect(taken.code).toBe(7);
    expect(taken.stderr).toContain("has a key 'Phone' already");
  });

  test('a rotated key has a new secret, and the old one stays good for a while', async () => {
    const folder = await withAnna();
    const old = await folder.output('key create --user anna --name laptop');
    const run = await folder.run('key rotate anna/laptop');
    const key = run.stdout.trimEnd();
    expect(run.stdout).toBe(`${key}\n`);
    expect(isSecret('gwk', key) && key !== old).toBe(true);
    expect(run.stderr).not.toContain(key.slice(12));
    const [row] = (await folder.json('key list')) as { prefix: string; previous_until: number }[];
    expect(row?.prefix).toBe(key.slice(0, 12));
    const left = (row?.previous_until ?? 0) - Date.now();
    expect(left).toBeGreaterThan(86_400_000 - 60_000);
    expect(left).toBeLessThanOrEqual(86_400_000);
    expect(run.stderr).toContain(`good until ${new Date(row?.previous_until ?? 0).toISOString()}`);
    const atOnce = await folder.run('key rotate anna/laptop --overlap 0s');
    expect(atOnce.stderr).toContain('The old one has ended.');
    expect(await folder.json('key list')).toMatchObject([{ previous_until: null }]);
  });

  test('a key that is given whole is refused without being shown again', async () => {
    const folder = await withAnna();
    const key = await folder.output('key create --user anna --name laptop');
    const { code, stdout, stderr } = await folder.run(`key disable ${key}`);
    expect(code).toBe(2);
    expect(stderr).toContain(key.slice(0, 12));
    expect(stdout + stderr).not.toContain(key.slice(0, 13));
  });
});

test('--expires is counted from now, and an expired key is listed as such', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  const before = Date.now();
  await folder.output('key create --user anna --name laptop --expires 12h');
  const [row] = (await folder.json('key list')) as { expires_at: number }[];
  const lifetimeMs = (row?.expires_at ?? 0) - before;
  expect(lifetimeMs).toBeGreaterThanOrEqual(12 * 3_600_000);
  expect(lifetimeMs).toBeLessThan(12 * 3_600_000 + 60_000);
  await addExpiredKey(folder.path);
  const states = ((await folder.json('key list')) as { state: string }[]).map(({ state }) => state);
  expect(states.toSorted()).toEqual(['active', 'expired']);
});

test('keys that share a prefix are told apart by id: exit 7 names them', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  await addExpiredKey(folder.path, 'one');
  await addExpiredKey(folder.path, 'two');
  const { code, stderr } = await folder.run('key disable gwk_00000000');
  expect(code).toBe(7);
  expect(stderr).toContain('(anna@example.org/one)');
  expect(stderr).toContain('(anna@example.org/two)');
});

test('what cannot be a lifetime, a scope or a secret is a usage error', async () => {
  await expectFailures(await dataFolder(), [
    ['key create --user anna --name laptop --expires 90', 2, '--expires'],
    ['key create --user anna --name laptop --expires 0d', 2, '--expires'],
    ['key create --user anna --name laptop --expires 4000d', 2, '--expires'],
    ['key create --user anna --name laptop --scope mine', 2, '--scope'],
    ['key create --user anna --name laptop --key secret', 2, '--key'],
    ['key rotate anna/laptop --overlap 1', 2, '--overlap'],
  ]);
});

async function filesThatHold(folder: string, text: string): Promise<string[]> {
  const files = await readdir(folder);
  const found: string[] = [];
  for (const file of files.filter((name) => name.startsWith('gateway.db'))) {
    if ((await readFile(join(folder, file))).includes(text)) found.push(file);
  }
  return found;
}

/** A key with a prefix of zeros that expired long ago. */
async function addExpiredKey(dataDir: string, name = 'old'): Promise<void> {
  const store = await openStore(dataDir);
  const anna = await store.findMember('anna');
  const hash = createHash('sha256').update(name).digest('hex');
  const key = {
    memberId: anna?.id ?? '',
    name,
    prefix: 'gwk_00000000',
    hash,
    scope: 'any',
  } as const;
  await store.createKey({ ...key, expiresAt: 1_000 }, 500);
  await store.close();
}
