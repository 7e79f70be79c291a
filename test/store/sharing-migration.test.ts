import { openStore } from '@inference-gateway/coordinator/store/open';
import { openDatabase, schemaVersion } from '@inference-gateway/coordinator/store/sqlite/database';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ANNA, MIGRATIONS } from './second-schema.js';
import { NOW, sha256 } from './store-rows.js';

const DEN = '01DDDDDDDDDDDDDDDDDDDDDDDD';
const OPEN_TOKEN = sha256('open');
const SPENT_TOKEN = sha256('spent');
const KEY = sha256('key');

test('a database of the third schema keeps its members, keys, providers and tokens', async () => {
  const folder = await thirdSchema();
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  expect(existsSync(join(folder, 'gateway.db.schema-3.backup'))).toBe(true);
  expect(await store.listMembers()).toMatchObject([
    { id: ANNA, name: 'anna', role: 'admin', disabledAt: null, hasPassword: true },
  ]);
  expect(await store.findKeyHolder(KEY)).toMatchObject({
    key: { name: 'laptop', previousUntil: null, lastUsedAt: NOW },
    isMemberDisabled: false,
    validUntil: NOW + 9,
  });
  // Providers from before the migration need no approval.
  expect(await store.listProviders()).toMatchObject([
    { id: DEN, name: 'den-pc', approvedAt: NOW, lastSeenAt: NOW + 5, host: { os: 'linux' } },
  ]);
  const known = { ownerId: ANNA, ownerName: 'anna', replaces: null, revokedAt: null };
  expect(await store.listJoinTokens()).toEqual([
    {
      ...known,
      id: OPEN_TOKEN.slice(0, 26).toUpperCase(),
      name: 'attic',
      createdAt: NOW + 2,
      expiresAt: NOW + 99,
      usedAt: null,
      providerId: null,
    },
    {
      ...known,
      id: SPENT_TOKEN.slice(0, 26).toUpperCase(),
      name: null,
      createdAt: NOW + 1,
      expiresAt: NOW + 9,
      usedAt: NOW + 3,
      providerId: DEN,
    },
  ]);
});

test('a token of the third schema is still good once, and shares nothing', async () => {
  const store = await openStore(await thirdSchema());
  onTestFinished(() => store.close());
  const enroll = (joinTokenHash: string, name: string) => {
    const row = { joinTokenHash, tokenHash: sha256(name), name, approved: true };
    return store.enroll(row, NOW + 50);
  };
  expect(await enroll(SPENT_TOKEN, 'again')).toEqual({ kind: 'refused', reason: 'used' });
  expect(await enroll(OPEN_TOKEN, 'attic')).toMatchObject({ kind: 'created' });
  expect(await enroll(OPEN_TOKEN, 'again')).toEqual({ kind: 'refused', reason: 'used' });
  const facts = await store.sharingFacts();
  expect(facts).toMatchObject({ shares: [], memberships: [], blocks: [], disabledMembers: [] });
  expect(facts.providers.map(({ approved }) => approved)).toEqual([true, true]);
});

/** The data folder of a coordinator from before sharing, with a provider and two join tokens. */
async function thirdSchema(): Promise<string> {
  const folder = join(await temporaryFolder(), 'data');
  const known = join(await temporaryFolder(), 'migrations');
  await mkdir(folder, { mode: 0o700 });
  await mkdir(known);
  for (const file of (await readdir(MIGRATIONS)).toSorted().slice(0, 3)) {
    await copyFile(join(MIGRATIONS, file), join(known, file));
  }
  const database = openDatabase(join(folder, 'gateway.db'));
  migrate(database, known);
  expect(schemaVersion(database)).toBe(3);
  database.exec(
    `insert into members (id, email, name, role, password_hash, created_at)
       values ('${ANNA}', 'anna@example.org', 'anna', 'admin', '$scrypt$one', ${NOW});
     insert into api_keys
       values ('01KKKKKKKKKKKKKKKKKKKKKKKK', '${ANNA}', 'laptop', 'gwk_1', '${KEY}', 'any', ${NOW},
         ${NOW}, ${NOW + 9}, null, null);
     insert into providers
       values ('${DEN}', '${ANNA}', 'den-pc', '${sha256('agent')}', ${NOW}, ${NOW + 5}, 0);
     insert into provider_snapshots
       values ('${DEN}', '[]', '{"os":"linux","arch":"x64","gpus":[]}');
     insert into join_tokens (hash, owner_id, name, created_at, expires_at, used_at, provider_id)
       values ('${SPENT_TOKEN}', '${ANNA}', null, ${NOW + 1}, ${NOW + 9}, ${NOW + 3}, '${DEN}'),
         ('${OPEN_TOKEN}', '${ANNA}', 'attic', ${NOW + 2}, ${NOW + 99}, null, null);`,
  );
  database.close();
  return folder;
}
