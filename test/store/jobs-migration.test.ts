import { openStore } from '@inference-gateway/coordinator/store/open';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NEWEST_JOBS, finishJob, submitBatch, submitJob } from './job-rows.js';
import { ANNA, ASSET, secondSchema } from './second-schema.js';
import { newAsset } from './store-rows.js';

test('a database of the second schema keeps its rows, and takes jobs', async () => {
  const folder = await secondSchema();
  const store = await openStore(folder);
  onTestFinished(() => store.close());
  expect(existsSync(join(folder, 'gateway.db.schema-2.backup'))).toBe(true);
  expect(await store.listMembers()).toMatchObject([{ id: ANNA, name: 'anna' }]);
  expect(await store.findAsset(ASSET)).toMatchObject({ memberId: ANNA, bytes: 12 });
  expect(await store.assetSpace(ANNA)).toEqual({ memberBytes: 12, totalBytes: 12 });
  const { id } = await submitJob(store, ANNA);
  await submitBatch(store, ANNA);
  await finishJob(store, id, { assets: [newAsset(ANNA, { bytes: 3 })] });
  expect((await store.findJob(id, ANNA))?.assets).toMatchObject([{ bytes: 3 }]);
  expect(await store.assetSpace(ANNA)).toEqual({ memberBytes: 15, totalBytes: 15 });
  const stats = await store.usageStats({ since: null, by: 'source', memberId: null });
  expect(stats).toMatchObject([{ group: 'api', requests: 2, ok: 2 }]);
});

test('a database of the second schema has no job, and an open queue', async () => {
  const store = await openStore(await secondSchema());
  onTestFinished(() => store.close());
  const page = { memberId: null, after: null, limit: 10 };
  expect(await store.listJobs(NEWEST_JOBS)).toEqual([]);
  expect(await store.listBatches(page)).toEqual([]);
  expect(await store.laneHeads(1)).toEqual([]);
  expect(await store.nextWebhookAt()).toBeNull();
  expect(await store.isQueuePaused()).toBe(false);
});
