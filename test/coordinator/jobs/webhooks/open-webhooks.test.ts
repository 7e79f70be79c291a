/** Webhooks of jobs and batches that have really ended in a real store. */
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { openWebhooks } from '@inference-gateway/coordinator/jobs/webhooks/sender';
import { onTestFinished, expect, test } from 'vitest';
import { failJob, finishJob, jobIdsOf, submitBatch, submitJob } from '../../../store/job-rows.js';
import { createMember, storeWith } from '../../../store/store-rows.js';
import { send } from '../../../support/recording-server.js';
import type { RecordingServer } from '../../../support/recording-server.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { until } from '../../../support/until.js';
import { SECRET, idsOf, listeningLogger, startReceiver, verify } from './webhook-stage.js';

interface Stage {
  readonly dataDir: string;
  readonly store: Store;
  readonly anna: string;
  readonly receiver: RecordingServer;
  readonly webhook: { readonly url: string; readonly secret: string };
}

async function openStage(): Promise<Stage> {
  const dataDir = await temporaryFolder();
  const store = await openStore(dataDir);
  onTestFinished(() => store.close());
  const receiver = await startReceiver((_, response) => send(response, 200, ''));
  const anna = (await createMember(store, 'anna')).id;
  return { dataDir, store, anna, receiver, webhook: { url: receiver.origin, secret: SECRET } };
}

function open(store: Store) {
  const sender = openWebhooks({
    store,
    now: Date.now,
    logger: listeningLogger().logger,
    config: { webhookPrivate: true, publicUrl: null },
    present: {
      job: ({ job, result }) => JSON.stringify({ id: job.id, status: job.status, result }),
      batch: ({ batch, jobs }) => JSON.stringify({ id: batch.id, jobs: jobs.length }),
    },
  });
  onTestFinished(() => sender.close());
  return sender;
}

test('the caller is told of a finished job, a failed one and a canceled one', async () => {
  const { store, anna, receiver, webhook } = await openStage();
  const finished = await submitJob(store, anna, { webhook });
  const failed = await submitJob(store, anna, { webhook });
  const canceled = await submitJob(store, anna, { webhook });
  await submitJob(store, anna);
  await finishJob(store, finished.id);
  await failJob(store, failed.id);
  await store.cancelJob(canceled.id, anna, Date.now());
  open(store).wake();
  await until(async () => (await store.nextWebhookAt()) === null);
  const told = receiver.requests.map((request) => verify(request));
  const job = { type: 'job.finished', timestamp: expect.any(String) };
  expect(told).toHaveLength(3);
  expect(told).toEqual(
    expect.arrayContaining([
      { ...job, data: { id: finished.id, status: 'PROCESSED', result: '{"choices":[]}' } },
      { ...job, data: { id: failed.id, status: 'FAILED', result: null } },
      { ...job, data: { id: canceled.id, status: 'CANCELED', result: null } },
    ]),
  );
  expect(receiver.requests[0]?.headers['user-agent']).toMatch(/^inference-gateway\/\d+\.\d+\.\d+$/);
});

test('a batch is told of once, when its last job has ended', async () => {
  const { store, anna, receiver, webhook } = await openStage();
  const batch = await submitBatch(store, anna, { webhook });
  const [first = '', second = ''] = await jobIdsOf(store, batch.id);
  await finishJob(store, first);
  expect(await store.nextWebhookAt()).toBeNull();
  await failJob(store, second);
  open(store).wake();
  await until(async () => (await store.nextWebhookAt()) === null);
  expect(receiver.requests.map((request) => verify(request))).toEqual([
    { type: 'batch.finished', timestamp: expect.any(String), data: { id: batch.id, jobs: 2 } },
  ]);
});

test('a job that was retried before it was told of is told of when it ends again', async () => {
  const { store, anna, receiver, webhook } = await openStage();
  const { id } = await submitJob(store, anna, { webhook });
  await failJob(store, id);
  await store.retryJob(id, anna, { jobs: 10, bytes: 10_000 }, Date.now());
  const sender = open(store);
  sender.wake();
  await until(async () => (await store.nextWebhookAt()) === null);
  expect(receiver.requests).toEqual([]);
  await finishJob(store, id);
  sender.wake();
  const request = await until(() => receiver.requests[0]);
  expect(verify(request)).toMatchObject({ data: { id, status: 'PROCESSED' } });
});

test('a coordinator that dies before it has noted the answer sends the same id again', async () => {
  const { dataDir, store, anna, receiver, webhook } = await openStage();
  const { id } = await submitJob(store, anna, { webhook });
  await finishJob(store, id);
  const dying = open(storeWith(store, { endWebhook: () => Promise.reject(new Error('killed')) }));
  dying.wake();
  await until(() => receiver.requests.length === 1);
  await dying.close();
  await store.close();
  const next = await openStore(dataDir);
  onTestFinished(() => next.close());
  open(next).wake();
  await until(async () => (await next.nextWebhookAt()) === null);
  const [first, second] = idsOf(receiver.requests);
  expect(receiver.requests).toHaveLength(2);
  expect(second).toBe(first);
  expect(first).toMatch(/./);
});
