/** What the tables themselves guarantee, whatever an operation does. */
import { heldBy } from './dispatch-rows.js';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import {
  BROKEN,
  NEWEST_JOBS,
  ROOMY,
  claimJob,
  failJob,
  finishJob,
  newItem,
  submitBatch,
  submitJob,
  LINK_ID,
} from './job-rows.js';
import { NOW, createMember, newAsset } from './store-rows.js';

const LATER = NOW + 100;
const webhook = { url: 'https://example.org', secret: 'whsec_c2VjcmV0' };

test.each([
  ['has an unknown status', "status = 'DONE'"],
  ['runs without a claim', "status = 'PROCESSING', lease_until = 1"],
  ['runs without a lease', "status = 'PROCESSING', claim_id = 'c', last_claim_id = 'c'"],
  ['waits with a claim', "claim_id = 'c', last_claim_id = 'c'"],
  ['waits with a lease', 'lease_until = 1'],
  ['waits and was accepted', 'accepted_at = 1'],
  ['has ended at no time', "status = 'CANCELED'"],
  ['has not ended, at a time', 'finished_at = 1'],
  ['has failed for no reason', "status = 'FAILED', finished_at = 1"],
  ['has ended and waits out a back-off', "status = 'CANCELED', finished_at = 1, not_before = 2"],
  ['has a place in no batch', 'batch_index = 1'],
])('a job that %s is refused', async (_, change) => {
  const { database } = await stage();
  const update = database.prepare(`update jobs set ${change}`);
  expect(() => update.run()).toThrow(/CHECK constraint failed/);
});

test('a job that has not ended is not deleted', async () => {
  const { database, store, ids } = await stage();
  const remove = database.prepare('delete from jobs where id = ?');
  expect(() => remove.run(ids[0])).toThrow('has not ended');
  await claimJob(store, ids[0] ?? '');
  expect(() => remove.run(ids[0])).toThrow('has not ended');
});

test('the counts of the queue are those of its jobs, whatever happens to them', async () => {
  const { database, store, memberId, ids } = await stage();
  const [a, b, c, d, e] = ids.map(String);
  const counted = database.prepare(
    `select member_id, service_type, model, sum(status = 'QUEUED') as queued,
       sum(status = 'PROCESSING') as processing, sum(body_bytes) as bytes
     from jobs where status in ('QUEUED', 'PROCESSING') group by 1, 2, 3 order by 1, 2, 3`,
  );
  const kept = database.prepare('select * from queue_counts order by 1, 2, 3');
  const steps = [
    () => submitBatch(store, memberId, { items: [newItem({ endpoint: 'speech' }), newItem()] }),
    () => finishJob(store, a ?? ''),
    () => failJob(store, b ?? ''),
    () => store.retryJob(b ?? '', memberId, ROOMY, LATER),
    async () => {
      const held = { claimId: await claimJob(store, c ?? ''), linkId: LINK_ID };
      return store.failJob({ ...held, retryable: true, error: BROKEN, random: 0 }, LATER);
    },
    () => store.cancelJob(c ?? '', memberId, LATER),
    () => claimJob(store, d ?? ''),
    () => store.cancelJob(d ?? '', memberId, LATER),
    () => store.deleteOldJobs(LATER + 1, 10),
    () => finishJob(store, e ?? ''),
  ];
  for (const step of steps) {
    await step();
    expect(kept.all()).toEqual(counted.all());
  }
  expect(kept.all()).toHaveLength(2);
});

test('nothing of a job stays when it goes', async () => {
  const { database, store, memberId } = await stage();
  const submission = { webhook, idempotencyKey: 'key' };
  const { id: done } = await submitJob(store, memberId, submission);
  await finishJob(store, done, { assets: [newAsset(memberId)] });
  const text = await submitJob(store, memberId);
  await finishJob(store, text.id);
  const { id: batch } = await submitBatch(store, memberId, submission);
  for (const { id } of await unfinished(store)) await store.cancelJob(id, null, LATER);
  expect(await store.deleteOldJobs(LATER + 1, 100)).toBe(9);
  for (const table of TABLES) {
    expect([table, database.prepare(`select * from ${table}`).all()]).toEqual([table, []]);
  }
  expect(await store.findBatch(batch, null)).toBeNull();
  expect(database.pragma('foreign_key_check')).toEqual([]);
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
});

test('a body is kept as long as its job may have to be sent again', async () => {
  const { database, store, ids } = await stage();
  const [done, failed, canceled] = ids.map(String);
  await finishJob(store, done ?? '');
  await failJob(store, failed ?? '');
  await store.cancelJob(canceled ?? '', null, LATER);
  const kept = database.prepare('select job_id from job_bodies order by 1').pluck().all();
  expect(kept).toEqual(ids.slice(1).toSorted());
});

test('a retried job keeps nothing of its last run', async () => {
  const { database, store, ids } = await stage();
  const [id] = ids.map(String);
  const row = database.prepare('select * from jobs where id = ?');
  const before = row.get(id);
  const claimId = await claimJob(store, id ?? '');
  const release = { claimId, linkId: LINK_ID, counts: true, error: BROKEN, random: 0 };
  await store.releaseJob(release, NOW + 2);
  await store.requeueStuck(NOW + 3);
  const again = await claimJob(store, id ?? '', NOW + 4);
  await store.acceptJob(heldBy(again), LATER, NOW + 5);
  await store.cancelJob(id ?? '', null, NOW + 6);
  await store.retryJob(id ?? '', null, ROOMY, LATER);
  const fresh = { generation: 2, queued_at: LATER, fair_key: expect.any(Number) };
  expect(row.get(id)).toEqual({ ...Object(before), ...fresh });
});

const TABLES = [
  'jobs',
  'batches',
  'job_bodies',
  'job_results',
  'job_assets',
  'idempotency_keys',
  'queue_counts',
  'fair_callers',
  'webhooks',
  'webhook_deliveries',
];

const unfinished = (store: Store) =>
  store.listJobs({ ...NEWEST_JOBS, statuses: ['QUEUED', 'PROCESSING'] });

/** A store with five queued jobs of one member, and a second connection to its tables. */
async function stage() {
  const folder = await temporaryFolder();
  const store = await openStore(folder);
  const database = openDatabase(join(folder, 'gateway.db'));
  onTestFinished(async () => {
    database.close();
    await store.close();
  });
  const { id: memberId } = await createMember(store, 'anna');
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push((await submitJob(store, memberId)).id);
  return { store, database, memberId, ids };
}
