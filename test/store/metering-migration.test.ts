import { bucketOf } from '@inference-gateway/coordinator/core/usage/durations';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { openDatabase, schemaVersion } from '@inference-gateway/coordinator/store/sqlite/database';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { usageRow } from './store-rows.js';

const MIGRATIONS = fileURLToPath(
  new URL('../../packages/coordinator/migrations/sqlite', import.meta.url),
);
/** The number of the migration that adds usage up by periods. */
const PERIODS = 25;
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

test('single requests and daily sums from before are added up by hour and day', async () => {
  const folder = await firstSchema();
  const database = openDatabase(join(folder, 'gateway.db'));
  migrate(database, await firstMigrations(PERIODS - 1));
  // Of a day whose single requests are no longer kept.
  database.exec(
    `insert into usage_daily values
       ('2026-01-01', 'anna', 'key', 'den', 'llama', 'chat', 'api', 'failed', 5, 6, 7, 0, 0, 8)`,
  );
  database.close();
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  const query = { since: Date.UTC(2025, 11, 1), until: MIDNIGHT + DAY_MS, model: null } as const;
  const durations = ['queue', 'total'] as const;
  const more = { models: null, durations, of: { kind: 'gateway' } } as const;
  const months = await store.usagePeriods({ ...query, ...more, step: 'month' });
  expect(months.map(({ period, requests }) => `${period} ${requests}`)).toEqual([
    '2026-01 5',
    '2026-02 1',
    '2026-03 3',
  ]);
  expect(months[0]).toMatchObject({ failed: 5, promptTokens: 6, totalMs: 8, generationMs: 0 });
  expect(months[2]).toMatchObject({ ok: 2, failed: 1, ...tokens(3), generationMs: 30 });
  expect(months[2]?.durations.total?.[bucketOf(10)]).toBe(2);
  expect(months[2]?.durations.queue?.[0]).toBe(3);
  const hours = await store.usagePeriods({ ...query, ...more, step: 'hour' });
  expect(hours.map(({ period, requests }) => `${period} ${requests}`)).toEqual([
    '2026-02-28T23 1',
    '2026-03-01T00 2',
    '2026-03-01T23 1',
  ]);
  const models = { count: 5, by: 'requests' } as const;
  const anna = { ...more, of: { kind: 'member', id: 'anna' }, models } as const;
  expect(await store.usagePeriods({ ...query, ...anna, step: 'day' })).toMatchObject([
    { period: '2026-01-01', model: 'llama', requests: 5 },
    { period: '2026-02-28', requests: 1 },
    { period: '2026-03-01', requests: 3 },
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
  await mkdir(folder, { mode: 0o700 });
  const database = openDatabase(join(folder, 'gateway.db'));
  migrate(database, await firstMigrations(1));
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

/** A folder with this many migrations. */
async function firstMigrations(count: number): Promise<string> {
  const folder = join(await temporaryFolder(), 'migrations');
  await mkdir(folder);
  const names = (await readdir(MIGRATIONS)).toSorted().slice(0, count);
  for (const name of names) await copyFile(join(MIGRATIONS, name), join(folder, name));
  return folder;
}
