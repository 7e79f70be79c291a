import { openStore } from '@inference-gateway/coordinator/store/open';
import { openDatabase, schemaVersion } from '@inference-gateway/coordinator/store/sqlite/database';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { existsSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { usageRow } from './store-rows.js';

const MIGRATIONS = fileURLToPath(
  new URL('../../packages/coordinator/migrations/sqlite', import.meta.url),
);
const DAY_MS = 86_400_000;
const MIDNIGHT = Date.UTC(2026, 2, 1);

test('a database of the first schema keeps its rows, and its usage is added up', async () => {
  const folder = await firstSchema();
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  expect(existsSync(join(folder, 'gateway.db.schema-1.backup'))).toBe(true);
  expect(await store.listMembers()).toMatchObject([
    { name: 'anna', limits: { requests: null, concurrent: null } },
  ]);
  const stats = await store.usageStats({ since: null, by: 'day', memberId: null });
  const none = { canceled: 0, audioMs: 0, images: 0 };
  expect(stats).toEqual([
    { ...none, group: '2026-02-28', requests: 1, ok: 1, failed: 0, ...tokens(1), totalMs: 10 },
    { ...none, group: '2026-03-01', requests: 3, ok: 2, failed: 1, ...tokens(3), totalMs: 30 },
  ]);
});

test('a row from before that arrives once more is not counted twice', async () => {
  const store = await openStore(await firstSchema());
  onTestFinished(() => store.close());
  store.recordUsage([usageRow(1), usageRow(99)]);
  const stats = await store.usageStats({ since: null, by: 'source', memberId: null });
  expect(stats).toMatchObject([{ group: 'api', requests: 5 }]);
});

function tokens(requests: number) {
  return { promptTokens: 3 * requests, completionTokens: 4 * requests };
}

/** The data folder of a coordinator that had only the first migration. */
async function firstSchema(): Promise<string> {
  const folder = join(await temporaryFolder(), 'data');
  const first = join(await temporaryFolder(), 'migrations');
  await mkdir(folder, { mode: 0o700 });
  await mkdir(first);
  await copyFile(join(MIGRATIONS, '0001_initial.sql'), join(first, '0001_initial.sql'));
  const database = openDatabase(join(folder, 'gateway.db'));
  migrate(database, first);
  expect(schemaVersion(database)).toBe(1);
  database.exec(
    `insert into members values
       ('01AAAAAAAAAAAAAAAAAAAAAAAA', 'anna@example.org', 'anna', 'member', null, 1)`,
  );
  const insert = database.prepare(
    `insert into usage values
       (?, ?, 'anna', 'key', ?, 'llama', 'llm', 'chat', 3, 4, 0, null, 10, 1, ?, null, 'api')`,
  );
  insert.run('req_0', MIDNIGHT - 1, null, 'ok');
  insert.run('req_1', MIDNIGHT, 'den', 'ok');
  insert.run('req_2', MIDNIGHT + 1, null, 'failed');
  insert.run('req_3', MIDNIGHT + DAY_MS - 1, null, 'ok');
  database.close();
  return folder;
}
