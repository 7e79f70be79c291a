import { migrationsOf, openStore } from '@inference-gateway/coordinator/store/open';
import type { AuditEntry, AuditQuery, Store } from '@inference-gateway/coordinator/store/port';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMember } from '../../store/store-rows.js';
import { secondSchema } from '../../store/second-schema.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runAlone, runCoordinator } from './run-coordinator.js';
import { serveAdminOn } from './running-admin.js';

const BACKUPS: AuditQuery = {
  since: null,
  action: 'backup.create',
  actor: null,
  subjectId: 'backup',
  limit: 10,
};

async function dataFolder(): Promise<string> {
  const dataDir = join(await temporaryFolder(), 'data');
  const store = await openStore(dataDir);
  await createMember(store, 'anna');
  await store.close();
  return dataDir;
}

async function backUp(dataDir: string) {
  const file = join(await temporaryFolder(), 'gateway.tar');
  const run = await runCoordinator(['backup', '-o', file, '--data', dataDir, '--json']);
  return { ...run, file };
}

function expectRecorded(entries: readonly AuditEntry[], target: string): void {
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject({
    actor: expect.stringMatching(/^cli:/),
    subject: { kind: 'backup', id: 'backup', name: target },
    before: null,
    after: { target, bytes: expect.any(Number) },
  });
  expect(entries[0]?.after?.['bytes']).toBeGreaterThan(4_096);
}

async function readOnce<T>(dataDir: string, ask: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(dataDir);
  try {
    return await ask(store);
  } finally {
    await store.close();
  }
}

test('a backup is written down by itself where no coordinator runs', async () => {
  const dataDir = await dataFolder();
  const { file, code, stderr } = await backUp(dataDir);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expectRecorded(await readOnce(dataDir, (store) => store.listAudit(BACKUPS)), file);
});

test('and by the coordinator that runs', async () => {
  const dataDir = await dataFolder();
  const { store } = await serveAdminOn(dataDir);
  const { file, code, stderr } = await backUp(dataDir);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expectRecorded(await store.listAudit(BACKUPS), file);
});

test('one to stdout has no file', async () => {
  const dataDir = await dataFolder();
  const { code } = await runAlone(['backup', '-o', '-', '--data', dataDir]);
  expect(code).toBe(0);
  expectRecorded(await readOnce(dataDir, (store) => store.listAudit(BACKUPS)), 'stdout');
});

test('where somebody else has the folder, it is whole and told to be unknown', async () => {
  const dataDir = await dataFolder();
  const { code, stderr, file } = await readOnce(dataDir, () => backUp(dataDir));
  expect(code).toBe(0);
  expect(stderr).toMatch(/^The backup is whole, but it is not in the audit log: .*in use/);
  const verified = await runCoordinator(['restore', file, '--verify']);
  expect(verified.code).toBe(0);
});

test('before an upgrade, it changes nothing', async () => {
  const dataDir = await secondSchema();
  const { code, stderr } = await backUp(dataDir);
  expect(code).toBe(0);
  expect(stderr).toContain('is not in the audit log: the database waits for its migration.');
  const migrations = await migrationsOf({ dataDir, databaseUrl: null });
  expect(migrations).toMatchObject({ schemaVersion: 2, backups: [] });
});
