import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { createOfflineJobs } from '@inference-gateway/coordinator/jobs/offline-jobs';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { NEWEST_JOBS } from '../../store/job-rows.js';
import { fillWithJobs } from '../cli/jobs-in-store.js';

async function idle() {
  const store = await openStore(await temporaryFolder());
  onTestFinished(() => store.close());
  return {
    store,
    jobActions: createOfflineJobs(store, { jobs: 2, bytes: 1_000_000 }, SYSTEM_CLOCK),
  };
}

test('only queued jobs wait, each where the queue has it, because nothing runs', async () => {
  const { store, jobActions } = await idle();
  const { queued, running, processed } = await fillWithJobs(store);
  const all = await store.listJobs(NEWEST_JOBS);
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining([running.id, processed.id]));
  const reason = 'No coordinator is running.';
  expect([...(await jobActions.waiting(all))]).toEqual([[queued.id, { position: 1, reason }]]);
  expect((await jobActions.waiting([])).size).toBe(0);
});

test('a member cancels and retries only what is theirs', async () => {
  const { store, jobActions } = await idle();
  const { anna, ben, queued, failed } = await fillWithJobs(store);
  expect(await jobActions.cancel(queued.id, ben.id)).toEqual({ kind: 'unknown' });
  expect(await jobActions.cancel(queued.id, anna.id)).toMatchObject({
    kind: 'canceled',
    claimId: null,
  });
  expect(await jobActions.retry(failed.id, ben.id)).toEqual({ kind: 'unknown' });
  expect(await jobActions.retry(failed.id, anna.id)).toMatchObject({ kind: 'queued' });
  expect(await jobActions.cancelBatch('01K6ZJ3V0Q8W4M2T7R5X9B1C3D', null)).toBeNull();
});

test('a retry beyond the limit of the queue is refused', async () => {
  const { store, jobActions } = await idle();
  const { canceled, failed } = await fillWithJobs(store);
  const narrow = createOfflineJobs(store, { jobs: 1, bytes: 1_000_000 }, SYSTEM_CLOCK);
  expect(await narrow.retry(failed.id, null)).toMatchObject({ kind: 'queue_full', limit: 'jobs' });
  // Ben has nothing queued.
  expect(await narrow.retry(canceled.id, null)).toMatchObject({ kind: 'queued' });
  expect(jobActions.lastTickAt).toBeNull();
});

test('nothing is submitted to it, and nobody waits at it', async () => {
  const { store, jobActions } = await idle();
  const { anna, queued } = await fillWithJobs(store);
  const submitter = {
    memberId: anna.id,
    keyId: 'key',
    scope: 'any',
    requestId: 'req_2',
    idempotencyKey: null,
    webhook: null,
  } as const;
  const { endpoint, model, needs } = queued;
  const item = { endpoint, model, needs, body: Buffer.from('{}') };
  await expect(jobActions.submit(submitter, item)).rejects.toThrow('no coordinator runs');
  const batch = jobActions.submitBatch({ ...submitter, label: null }, [item]);
  await expect(batch).rejects.toThrow('no coordinator runs');
  await jobActions.whenEnded(queued.id, 3_600_000, new AbortController().signal);
});
