/** Expired rows are deleted, sums stay, and the freed space goes back to the disk. */
import { openStore } from '@inference-gateway/coordinator/store/open';
import { USAGE_GROUPS } from '@inference-gateway/coordinator/store/port';
import type { Store, UsageRow } from '@inference-gateway/coordinator/store/port';
import { openDatabase, openForReading } from '@inference-gateway/coordinator/store/sqlite/database';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { createMember, usageRow } from './store-rows.js';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 5, 1);
const OUTCOMES = ['ok', 'failed', 'canceled'] as const;

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await temporaryFolder();
  store = await openStore(folder);
  return () => store.close();
});

/** A thousand requests over two hundred days, with every outcome. */
function rows(memberId: string): UsageRow[] {
  return Array.from({ length: 1_000 }, (_, i) => ({
    ...usageRow(i),
    at: NOW - (1_000 - i) * (DAY_MS / 5),
    memberId,
    keyId: `key-${i % 3}`,
    providerId: i % 7 === 0 ? null : `provider-${i % 2}`,
    model: `model-${i % 5}`,
    promptTokens: i * 7,
    completionTokens: i * 3,
    images: i % 2,
    outcome: OUTCOMES[i % 3] ?? 'ok',
    source: i % 4 === 0 ? 'console' : 'api',
  }));
}

/** Each read of usage first writes the pending rows. */
async function everySum(): Promise<unknown> {
  const asked = USAGE_GROUPS.flatMap((by) => [
    store.usageStats({ by, since: null, memberId: null }),
    store.usageStats({ by, since: NOW - 150 * DAY_MS, memberId: null }),
    store.usageSeries({ by, since: null, memberId: null, groups: 100 }),
  ]);
  return Promise.all(asked);
}

async function deleteAll(step: () => Promise<number>): Promise<number> {
  let sum = 0;
  for (let done = 1; done > 0; sum += done) done = await step();
  return sum;
}

test('single requests go by their age, and no sum changes by a token', async () => {
  const { id } = await createMember(store, 'anna');
  store.recordUsage(rows(id));
  const before = await everySum();
  const bound = NOW - 90 * DAY_MS;
  expect(await store.countOld({ jobs: 1, usage: bound, audit: 1 })).toMatchObject({ usage: 550 });
  expect(await store.deleteOldUsage(bound, 100)).toBe(100);
  expect(await deleteAll(() => store.deleteOldUsage(bound, 100))).toBe(450);
  expect(await everySum()).toEqual(before);
  const left = await store.recentUsage({ memberId: id, limit: 1_000, after: null });
  expect(left).toHaveLength(450);
  expect(left.every(({ at }) => at >= bound)).toBe(true);
  await deleteAll(() => store.deleteOldUsage(NOW, 1_000));
  expect(await everySum()).toEqual(before);
  expect(await store.countRequests(id, 0)).toMatchObject({ requests: 0 });
  expect(await store.memberActivity(id, 0)).toMatchObject({ hasCalled: true });
});

test('a row from when the clock was wrong keeps no other one', async () => {
  const [first, ...others] = rows('member');
  if (first === undefined) throw new Error('there is no row');
  store.recordUsage([{ ...first, at: NOW + DAY_MS }, ...others]);
  await everySum();
  expect(await store.countOld({ jobs: 1, usage: NOW, audit: 1 })).toMatchObject({ usage: 999 });
  expect(await deleteAll(() => store.deleteOldUsage(NOW, 500))).toBe(999);
});

test('entries of the audit log go by their age', async () => {
  await createMember(store, 'anna');
  await createMember(store, 'ben');
  const all = { since: null, action: null, actor: null, subjectId: null, limit: 10 };
  expect(await store.deleteOldAudit(NOW, 10)).toBe(0);
  expect(await store.deleteOldAudit(Date.now() + 1, 1)).toBe(1);
  expect(await store.listAudit(all)).toMatchObject([{ subject: { name: 'ben@example.org' } }]);
});

test('the pages of what went are given back, some at a time and then all', async () => {
  await fillAndEmpty();
  const before = bytes();
  expect(await store.releasePages(10)).toBe(10);
  const { freedBytes, lacksRoom } = await store.compact();
  expect(lacksRoom).toBe(false);
  expect(freedBytes).toBeGreaterThan(1_000_000);
  expect(bytes()).toBeLessThan(before / 2);
  expect(await store.releasePages(10)).toBe(0);
  expect(await store.isWritable()).toBe(true);
});

test('what else is asked for meanwhile is done before and after', async () => {
  await fillAndEmpty();
  const asked = [
    store.createMember(
      { email: 'a@example.org', name: 'a', role: 'member', passwordHash: null },
      1,
    ),
    store.compact(),
    store.createMember(
      { email: 'b@example.org', name: 'b', role: 'member', passwordHash: null },
      1,
    ),
  ];
  expect(await Promise.all(asked)).toMatchObject([
    { kind: 'created' },
    { lacksRoom: false },
    { kind: 'created' },
  ]);
});

test('a database that was made without it is rewritten once, and nothing is lost', async () => {
  await fillAndEmpty();
  await createMember(store, 'anna');
  await store.close();
  const database = openDatabase(join(folder, 'gateway.db'));
  database.pragma('auto_vacuum = NONE');
  database.exec('vacuum');
  database.close();
  store = await openStore(folder);
  expect(autoVacuum()).toBe(0);
  await fillAndEmpty();
  expect(await store.releasePages(10)).toBe(0);
  expect((await store.compact()).freedBytes).toBeGreaterThan(1_000_000);
  expect(autoVacuum()).toBe(2);
  expect(await store.findMember('anna')).toMatchObject({ name: 'anna' });
});

/** Writes some megabytes of expired rows and deletes them. */
async function fillAndEmpty(): Promise<void> {
  for (let i = 0; i < 4; i++) {
    store.recordUsage(
      rows('member').map((row) => ({
        ...row,
        requestId: `${row.requestId}-${i}`,
        errorCode: 'x'.repeat(500),
      })),
    );
  }
  await store.usageStats({ by: 'day', since: null, memberId: null });
  await deleteAll(() => store.deleteOldUsage(NOW, 5_000));
}

function bytes(): number {
  const files = ['gateway.db', 'gateway.db-wal'].map((name) => join(folder, name));
  return files.reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

function autoVacuum(): number {
  const database = openForReading(join(folder, 'gateway.db'));
  try {
    return Number(database.pragma('auto_vacuum', { simple: true }));
  } finally {
    database.close();
  }
}
