import { openForReading } from '@inference-gateway/coordinator/store/sqlite/database';
import { isSecret } from '@inference-gateway/shared/ids';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createMember, sha256 } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import { WHERE, prepareStopped } from './jobs-in-store.js';
import { fillWithPeople } from './people-in-store.js';
import { startCoordinatorProcess } from './run-coordinator.js';

const PUBLIC = { GATEWAY_PUBLIC_URL: 'https://gateway.example.org' };

describe.each(WHERE)('%s', (_, prepare) => {
  test('an invite is listed with what it gives, and taken back by its address', async () => {
    const folder = await dataFolder();
    await prepare(folder, fillWithPeople);
    await folder.output('user invite --email cleo@example.org --admin --network Friends');
    await folder.output('user invite --email dora@example.org --expires 12h');
    const [dora, cleo] = (await folder.json('user invites')) as Record<string, unknown>[];
    expect(cleo).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      email: 'cleo@example.org',
      role: 'admin',
      network: 'friends',
      state: 'open',
      created_at: expect.any(Number),
      expires_at: Number(cleo?.['created_at']) + 7 * 86_400_000,
      used_at: null,
      revoked_at: null,
    });
    expect(dora).toMatchObject({ role: 'member', network: null, state: 'open' });
    const run = await folder.run('user uninvite CLEO@example.org');
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toBe('Invites of cleo@example.org that are revoked: 1.\n');
    const again = await folder.run(`user uninvite ${String(cleo?.['id'])}`);
    expect(again.code).toBe(7);
    expect(again.stderr).toContain('is revoked already: nothing has changed');
    await folder.output(`user uninvite ${String(dora?.['id'])}`);
    const rows = (await folder.output('user invites')).split('\n').map((row) => row.split('\t'));
    expect(rows.map((row) => row.slice(1, 5))).toEqual([
      ['dora@example.org', 'member', '-', 'revoked'],
      ['cleo@example.org', 'admin', 'friends', 'revoked'],
    ]);
  });

  test('a member is not invited, and an unknown invite is not taken back', async () => {
    const folder = await dataFolder();
    await prepare(folder, fillWithPeople);
    const member = await folder.alone('user invite --email Anna@example.org');
    expect(member).toMatchObject({ code: 7, stdout: '' });
    expect(member.stderr).toContain("a member with the email 'Anna@example.org' exists already");
    const invite = await folder.run('user uninvite cleo@example.org');
    expect(invite.code).toBe(3);
    expect(invite.stderr).toContain('"user invites" shows them all');
  });
});

test('the link is printed alone with its secret behind the #, kept as a hash', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  const run = await folder.run('user invite --email ben@example.org', { env: PUBLIC });
  const [, secret = ''] = /^https:\/\/gateway\.example\.org\/join#(\S+)\n$/.exec(run.stdout) ?? [];
  expect(isSecret('gwi', secret)).toBe(true);
  expect(run.stderr).not.toContain(secret);
  expect(inviteHashes(folder)).toEqual([sha256(secret)]);
  const whole = await folder.run(`user uninvite ${secret}`);
  expect(whole.code).toBe(2);
  expect(whole.stderr).not.toContain(secret);
});

test('without a public URL, the token is printed alone, and that is said', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  const { stdout, stderr } = await folder.run('user invite --email ben@example.org');
  expect(isSecret('gwi', stdout.trimEnd())).toBe(true);
  expect(stderr).toContain('The link has <public URL>/join# before it.');
});

test('a running coordinator puts its own address into the link', async () => {
  const folder = await dataFolder();
  const { address } = await startCoordinatorProcess(['--data', folder.path]);
  const link = await folder.output('user invite --email ben@example.org', { env: PUBLIC });
  expect(link.startsWith(`${address}/join#gwi_`)).toBe(true);
});

test('used and expired invites are listed as such, and cannot be taken back', async () => {
  const folder = await dataFolder();

  await prepareStopped(folder, async (store) => {
    await createMember(store, 'anna');
    const open = { role: 'member', networkId: null } as const;
    const later = Date.now() + 60_000;
    const [ben, cleo] = [sha256('ben'), sha256('cleo')];
    await store.createInvite({ ...open, hash: ben, email: 'ben@b.org', expiresAt: later }, 1);
    await store.createInvite({ ...open, hash: cleo, email: 'cleo@c.org', expiresAt: 3 }, 2);
    await store.acceptInvite({ hash: ben, name: 'ben', passwordHash: '$scrypt$x' }, Date.now());
  });
  expect(await folder.json('user invites')).toMatchObject([
    { email: 'cleo@c.org', state: 'expired' },
    { email: 'ben@b.org', state: 'used' },
  ]);
  const used = await folder.run('user uninvite ben@b.org');
  expect(used.code).toBe(7);
  expect(used.stderr).toContain('is used already');
});

function inviteHashes({ path }: DataFolder): string[] {
  const database = openForReading(join(path, 'gateway.db'));
  try {
    return database.prepare<[], string>('select hash from invites').pluck().all();
  } finally {
    database.close();
  }
}
