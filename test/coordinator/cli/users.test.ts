import { hashPassword } from '@inference-gateway/coordinator/admin/password';
import { openForReading } from '@inference-gateway/coordinator/store/sqlite/database';
import { scryptSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import { serveAdminOn } from './running-admin.js';

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
  const address = await folder.run('user create --email Anna@example.org --name other');
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

test.each([
  ['anna', 'an e-mail address is written like'],
  ['anna@', 'an e-mail address is written like'],
  ['a/b@example.org', 'an e-mail address is written like'],
])('the address %s is a usage error', async (email, named) => {
  const { code, stderr } = await (await dataFolder()).run(`user create --email ${email}`);
  expect(code).toBe(2);
  expect(stderr).toContain(named);
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

/** An independent reading of the form in which passwords are kept. */
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
