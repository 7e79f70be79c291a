import { hashPassword } from '@inference-gateway/coordinator/accounts/password';
import { openForReading } from '@inference-gateway/coordinator/store/sqlite/database';
import { scryptSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createProvider } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import { expectFailures } from './expect-failures.js';
import { WHERE } from './jobs-in-store.js';
import { fillWithPeople } from './people-in-store.js';
import { onlineView, serveAdminOn } from './running-admin.js';

const PASSWORD = 'correct horse battery';

test('user create prints the id, and user list shows who there is', async () => {
  const folder = await dataFolder();
  const id = await folder.output('user create --email anna@example.org --name Anna --admin');
  const ben = (await folder.json('user create --email ben@example.org')) as { id: string };
  expect(id).toMatch(/^[0-9A-Z]{26}$/);
  expect(await folder.json('user list')).toMatchObject([
    { id, email: 'anna@example.org', name: 'Anna', role: 'admin' },
    { id: ben.id, email: 'ben@example.org', name: 'ben', role: 'member' },
  ]);
  const lines = (await folder.output('user list')).split('\n');
  expect(lines[0]?.split('\t').slice(0, 4)).toEqual([id, 'Anna', 'anna@example.org', 'admin']);
});

test('an address or a name that exists exits 7; a name that nobody chose gives way', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  const address = await folder.alone('user create --email Anna@example.org --name other');
  expect(address).toMatchObject({ code: 7, stdout: '' });
  expect(address.stderr).toContain("a member with the email 'Anna@example.org' exists already");
  const name = await folder.run('user create --email anna@example.com --name ANNA');
  expect(name.code).toBe(7);
  expect(name.stderr).toContain('Give another with --name.');
  expect(await folder.json('user create --email anna@example.com')).toMatchObject({
    name: 'anna-2',
  });
});

describe('a password', () => {
  test('is read from stdin or a file, and kept as scrypt', async () => {
    const folder = await dataFolder();
    const file = join(folder.path, '..', 'password');
    await writeFile(file, `${PASSWORD}\n`);
    await folder.output('user create --email anna@example.org --password-file -', {
      input: `${PASSWORD}\n`,
    });
    await folder.output(`user create --email ben@example.org --password-file ${file}`);
    await folder.output('user create --email cleo@example.org');
    const [anna, ben, cleo] = passwordHashes(folder);
    for (const hash of [anna, ben]) expect(verifies(PASSWORD, hash)).toBe(true);
    expect(verifies('correct horse batterx', anna)).toBe(false);
    expect(anna).not.toBe(ben);
    expect(cleo).toBeNull();
  });

  test('that is too short exits 2, and is not shown', async () => {
    const folder = await dataFolder();
    await serveAdminOn(folder.path);
    const { code, stderr } = await folder.run('user create --email a@b.org --password-file -', {
      input: 'eleven-char',
    });
    expect(code).toBe(2);
    expect(stderr).toContain('a password has at least 12 characters');
    expect(stderr).not.toContain('eleven');
    expect(await folder.json('user list')).toEqual([]);
  });

  test('in a file that is missing exits 3, and an empty one 2', async () => {
    const folder = await dataFolder();
    const create = 'user create --email anna@example.org --password-file';
    expect((await folder.run(`${create} /nowhere/password`)).code).toBe(3);
    expect((await folder.run(`${create} -`, { input: '\n' })).code).toBe(2);
  });

  test('is the same however its letters are composed', async () => {
    expect(
      verifies('fa\u00e7ade fa\u00e7ade', await hashPassword('fac\u0327ade fac\u0327ade')),
    ).toBe(true);
  });
});

const NO_LIMITS = { requests: null, tokens: null, images: null, audio_s: null };
const NOTHING_USED = { requests: 0, tokens: 0, images: 0, audio_s: 0, until: expect.any(Number) };

describe.each(WHERE)('%s', (_, prepare) => {
  test('a member is shown with what is theirs, then renamed and given a role', async () => {
    const folder = await dataFolder();
    const { anna } = await prepare(folder, fillWithPeople);
    expect(await folder.json('user show anna')).toEqual({
      id: anna.id,
      email: 'anna@example.org',
      name: 'anna',
      role: 'member',
      state: 'active',
      created_at: anna.createdAt,
      disabled_at: null,
      has_password: false,
      limits: { requests: null, concurrent: null, day: NO_LIMITS, month: NO_LIMITS },
      used: { day: NOTHING_USED, month: NOTHING_USED },
      networks: ['friends'],
      providers: ['den-pc'],
      keys: 1,
      sessions: 2,
      blocks: ['ben'],
      blocked_by: [],
    });
    const ben = await folder.json('user show ben');
    expect(ben).toMatchObject({ networks: ['friends'], blocks: [], blocked_by: ['anna'] });
    const renamed = await folder.run('user rename ANNA@example.org anna-lee');
    expect(renamed).toMatchObject({ code: 0, stdout: '' });
    expect(renamed.stderr).toBe('anna@example.org is called anna-lee now.\n');
    await folder.output('user role anna-lee admin');
    expect(await folder.output(`user show ${anna.id}`)).toMatch(/^role +admin$/m);
    const taken = await folder.run('user rename ben Anna-Lee');
    expect(taken).toMatchObject({ code: 7, stdout: '' });
    expect(taken.stderr).toContain("a member with the name 'Anna-Lee' exists already");
  });

  test('a member is deleted once it is told what goes with them, and asked for', async () => {
    const folder = await dataFolder();
    const { anna } = await prepare(folder, fillWithPeople);
    const told = await folder.run('user delete anna');
    expect(told).toMatchObject({ code: 2, stdout: '' });
    expect(told.stderr).toContain('To delete anna for good means:\n  1 API key and 2 sessions end');
    expect(told.stderr).toContain("  their machines' links end for good: den-pc\n");
    expect(told.stderr).toContain('  networks that they own end: friends\n');
    expect(told.stderr).toContain('user delete cannot be taken back: add --yes.');
    expect(await folder.output('user list')).toContain(anna.id);
    const deleted = await folder.run('user delete ANNA@example.org --yes');
    expect(deleted.stderr).toBe('anna is deleted, with 0 files of 0 bytes.\n');
    expect(deleted.code).toBe(0);
    expect((await folder.output('user list')).split('\n')).toHaveLength(1);
    expect(await folder.output('provider list')).toBe('');
    expect(await folder.output('audit list --limit 500')).not.toMatch(/\banna\b/i);
    expect(await folder.output('audit list --action user.delete')).toContain('deleted member');
  });

  test('a reset link is printed alone, for a member who is enabled', async () => {
    const folder = await dataFolder();
    await prepare(folder, fillWithPeople);
    const env = { GATEWAY_PUBLIC_URL: 'https://gateway.example.org' };
    const made = await folder.run('user reset-link ANNA@example.org', { env });
    expect(made.stdout).toMatch(/^https?:\/\/[^/\s]+\/reset#gwr_\w+\n$/);
    expect(made.stderr).toMatch(/^For anna \(anna@example\.org\), once, until /);
    // Without a public URL or a running coordinator, the token alone.
    const plain = await folder.run('user reset-link anna');
    expect(plain.stdout).toMatch(/^(http:\/\/[^/\s]+\/reset#)?gwr_\w+\n$/);
    await folder.run('user disable anna');
    const refused = await folder.run('user reset-link anna');
    expect([refused.code, refused.stderr]).toEqual([7, expect.stringContaining('is disabled')]);
  });

  test('the last admin is not deleted', async () => {
    const folder = await dataFolder();
    await prepare(folder, fillWithPeople);
    await folder.output('user role ben admin');
    const refused = await folder.run('user delete ben --yes');
    expect(refused).toMatchObject({ code: 7, stdout: '' });
    expect(refused.stderr).toContain('ben is the last admin: make another one with "user role"');
    expect(await folder.json('user show ben')).toMatchObject({ state: 'active' });
  });

  test('a disabled member is listed as such, with their keys, until enabled', async () => {
    const folder = await dataFolder();
    const { anna } = await prepare(folder, fillWithPeople);
    const disabled = await folder.alone('user disable anna');
    expect(disabled).toMatchObject({ code: 0, stdout: '' });
    expect(disabled.stderr).toBe('anna is disabled. Links of their machines closed: 0.\n');
    const row = (await folder.output('user list'))
      .split('\n')
      .find((line) => line.includes(anna.id));
    expect(row?.split('\t').slice(1, 5)).toEqual([
      'anna',
      'anna@example.org',
      'member',
      'disabled',
    ]);
    expect(await folder.json('user sessions anna')).toEqual([]);
    const keys = (await folder.json('key list --user anna')) as { name: string }[];
    expect(keys.find(({ name }) => name === 'laptop')).toMatchObject({
      state: 'disabled',
      disabled_at: null,
    });
    expect(keys.find(({ name }) => name === 'old')).toMatchObject({ state: 'revoked' });
    const key = await folder.run('key enable anna/laptop');
    expect(key.stderr).toBe('anna@example.org/laptop is enabled, but its owner is disabled.\n');
    await folder.output('user enable anna');
    expect(await folder.json('user show anna')).toMatchObject({
      state: 'active',
      disabled_at: null,
    });
  });

  test('a new password is kept as scrypt, and ends the sessions', async () => {
    const folder = await dataFolder();
    await prepare(folder, fillWithPeople);
    const run = await folder.run('user password anna --password-file -', { input: PASSWORD });
    expect(run).toMatchObject({ code: 0, stdout: '' });
    const kept = passwordHashes(folder).filter((hash) => hash !== null);
    expect(kept.map((hash) => verifies(PASSWORD, hash))).toEqual([true]);
    expect(await folder.json('user show anna')).toMatchObject({ has_password: true, sessions: 0 });
    const short = { input: 'eleven-char' };
    expect((await folder.run('user password anna --password-file -', short)).code).toBe(2);
    expect((await folder.run('user password anna --password-file /nowhere')).code).toBe(3);
  });

  test('sessions are listed, and ended by their id or all of a member', async () => {
    const folder = await dataFolder();
    const { sessions } = await prepare(folder, fillWithPeople);
    const [first, second, bens] = sessions.map(({ id }) => id);
    expect(await folder.json('user sessions')).toHaveLength(3);
    expect(await folder.json('user sessions ben')).toMatchObject([
      {
        id: bens,
        member: 'ben',
        address: '203.0.113.7',
        user_agent: 'Firefox',
        method: 'password',
      },
    ]);
    const one = await folder.run(`user logout ${first}`);
    expect(one).toMatchObject({ code: 0, stdout: '' });
    expect(one.stderr).toBe('Sessions of anna that have ended: 1.\n');
    expect((await folder.output('user sessions anna')).split('\t')[0]).toBe(second);
    expect((await folder.run('user logout anna')).stderr).toContain('have ended: 1.');
    expect(await folder.json('user sessions')).toMatchObject([{ id: bens }]);
    const nobody = await folder.alone(`user logout ${first}`);
    expect(nobody.code).toBe(3);
    expect(nobody.stderr).toContain(`no member or session is called '${first}'`);
  });
});

test('an unknown member exits 3, with who was probably meant', async () => {
  const folder = await dataFolder();
  await fillWithPeople((await serveAdminOn(folder.path)).store);
  await expectFailures(folder, [
    ['user show ana', 3, 'Did you mean anna'],
    ['user rename ana x', 3, 'Did you mean anna'],
    ['user role ana admin', 3, 'Did you mean anna'],
    ['user disable ana', 3, 'Did you mean anna'],
    ['user enable ana', 3, 'Did you mean anna'],
    ['user sessions ana', 3, 'Did you mean anna'],
  ]);
  const password = 'user password ana --password-file -';
  const { code, stdout, stderr } = await folder.alone(password, { input: PASSWORD });
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toContain('Did you mean anna');
});

test('disabling a member closes the links of their machines, and no others', async () => {
  const folder = await dataFolder();
  const { store, links } = await serveAdminOn(folder.path);
  const { anna, ben, provider } = await fillWithPeople(store);
  await createProvider(store, { ownerId: ben.id });
  links.online.set(provider.id, onlineView(provider));
  expect((await folder.run('user disable anna')).stderr).toContain('closed: 1.');
  expect(links.asked).toEqual([`refuse ${provider.id}: disabled`]);
  expect(await store.findMember(anna.id)).toMatchObject({ disabledAt: expect.any(Number) });
});

test('what can be no role, option or address is a usage error', async () => {
  await expectFailures(await dataFolder(), [
    ['user role anna owner', 2, 'owner'],
    ['user password anna --password secret', 2, '--password'],
    ['user create --email anna', 2, 'an e-mail address is written like'],
    ['user create --email anna@', 2, 'an e-mail address is written like'],
    ['user create --email a/b@example.org', 2, 'an e-mail address is written like'],
  ]);
});

test('a folder that holds no data exits 3, and is not made by reading', async () => {
  const folder = await dataFolder();
  for (const command of ['user list', 'key list', 'provider list', 'token create --owner anna']) {
    const { code, stdout, stderr } = await folder.run(command);
    expect({ command, code, stdout }).toEqual({ command, code: 3, stdout: '' });
    expect(stderr).toContain(folder.path);
  }
  expect((await folder.run('user create --email anna@example.org')).code).toBe(0);
});

function passwordHashes({ path }: DataFolder): (string | null)[] {
  const database = openForReading(join(path, 'gateway.db'));
  try {
    return database
      .prepare<[], string | null>('select password_hash from members order by created_at')
      .pluck()
      .all();
  } finally {
    database.close();
  }
}

/** Checks a stored password hash independently of the gateway's code. */
function verifies(password: string, stored: string | null | undefined): boolean {
  const match = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored ?? '');
  const [, ln = '', r = '', p = '', salt = '', hash = ''] = match ?? [];
  const derived = scryptSync(password, Buffer.from(salt, 'base64'), 32, {
    N: 2 ** Number(ln),
    r: Number(r),
    p: Number(p),
    maxmem: 128 * 1024 * 1024,
  });
  return derived.toString('base64') === hash;
}
