import { MAX_PENDING_CALLS } from '@inference-gateway/coordinator/store/client/client';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { SYSTEM } from '@inference-gateway/coordinator/store/operations/audit/audit-trail';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { runInThread, StoreCalls } from '@inference-gateway/coordinator/store/sqlite/calls';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { NOW, newMember, usageRow } from './store-rows.js';

const ACT = { actor: SYSTEM, at: NOW };
const UNAVAILABLE = { code: 'storage_unavailable', status: 503 };

test('when the thread dies, what is pending and what comes later is refused', async () => {
  const databaseFile = join(await temporaryFolder(), 'no such folder', 'gateway.db');
  const calls = new StoreCalls(runInThread({ databaseFile, nodeId: 'node' }));
  const pending = [calls.call(ACT, 'listMembers'), calls.call(ACT, 'listProviders')];
  for (const call of pending) await expect(call).rejects.toMatchObject(UNAVAILABLE);
  const later = calls.call(ACT, 'listMembers');
  await expect(later).rejects.toMatchObject({ ...UNAVAILABLE, cause: { message: /thread/ } });
  await calls.close();
});

test('calls beyond the limit are refused at once, and the others are answered', async () => {
  const file = join(await temporaryFolder(), 'gateway.db');
  const database = openDatabase(file);
  migrate(database);
  database.close();
  const calls = new StoreCalls(runInThread({ databaseFile: file, nodeId: 'node' }));
  const pending = Array.from({ length: MAX_PENDING_CALLS }, () =>
    calls.call(ACT, 'findMember', 'anna'),
  );
  await expect(calls.call(ACT, 'findMember', 'anna')).rejects.toMatchObject(UNAVAILABLE);
  expect(new Set(await Promise.all(pending))).toEqual(new Set([null]));
  expect(await calls.call(ACT, 'findMember', 'anna')).toBeNull();
  await calls.close();
});

test('while the file cannot be written, writes are refused and usage is kept', async () => {
  const folder = await temporaryFolder();
  const store = await openStore(folder, { inThread: true });
  const other = openDatabase(join(folder, 'gateway.db'));
  other.exec('begin immediate');
  const write = store.createMember(newMember('anna'), NOW);
  const isWritable = store.isWritable();
  store.recordUsage(Array.from({ length: 200 }, (_, index) => usageRow(index)));
  await expect(write).rejects.toMatchObject(UNAVAILABLE);
  expect(await isWritable).toBe(false);
  other.exec('rollback');
  expect(await store.createMember(newMember('anna'), NOW)).toMatchObject({ kind: 'created' });
  await store.close();
  expect(other.prepare('select count(*) from usage').pluck().get()).toBe(200);
  other.close();
});
