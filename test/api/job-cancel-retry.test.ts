import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import {
  accepted,
  act,
  ended,
  getJob,
  JOBS,
  keyOf,
  pauseQueue,
  resumeQueue,
  submitted,
} from './job-calls.js';
import type { JobBody } from './job-calls.js';
import { openJobStage } from './job-stage.js';
import type { JobStage } from './job-stage.js';
import { failureOf } from './requests.js';

let stage: JobStage;
let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  stage = await openJobStage();
  ({ gateway, fake } = stage);
  return stage.stop;
});

const cancel = (id: string) => act(gateway, `${JOBS}/${id}/cancel`);
const retry = (id: string) => act(gateway, `${JOBS}/${id}/retry`);

describe('POST /jobs/{id}/cancel', () => {
  it('cancels a QUEUED job', async () => {
    await stage.holdQueue();
    const { id } = await submitted(gateway);
    const response = await cancel(id);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ id, status: 'CANCELED', canceled: true });
    expect(await getJob(gateway, id)).toMatchObject({ status: 'CANCELED', error: null });
  });

  it('cancels a PROCESSING job, and the GPU stops', async () => {
    const { id } = await stage.running();
    expect(await (await cancel(id)).json()).toEqual({ id, status: 'CANCELED', canceled: true });
    await until(() => fake.lastRequest.abortedAt !== null);
  });

  it('of a finished job is 200 with its real status and canceled: false', async () => {
    const { id: done } = await ended(gateway, (await submitted(gateway)).id);
    const { id: broken } = await stage.failed();
    for (const [id, status] of [
      [done, 'PROCESSED'],
      [broken, 'FAILED'],
    ] as const) {
      const response = await cancel(id);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ id, status, canceled: false });
    }
  });

  it('twice changes nothing the second time', async () => {
    await stage.holdQueue();
    const { id } = await submitted(gateway);
    await cancel(id);
    expect(await (await cancel(id)).json()).toEqual({ id, status: 'CANCELED', canceled: false });
  });

  it('of another member’s job is 404, and it goes on', async () => {
    const { id } = await stage.running();
    const response = await act(gateway, `${JOBS}/${id}/cancel`, keyOf(gateway.ben));
    expect(await failureOf(response)).toMatchObject({ status: 404, code: 'job_not_found' });
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
  });
});

describe('POST /jobs/{id}/retry', () => {
  it('re-queues a FAILED job with the same payload: 202 with the updated envelope', async () => {
    const { id, created } = await stage.failed();
    await stage.holdQueue();
    const job = await accepted<JobBody>(await retry(id));
    expect(job).toMatchObject({ id, created, status: 'QUEUED', attempts: 0, error: null });
    expect(job).toMatchObject({ started_at: null, finished_at: null, position: 1 });
    await resumeQueue(gateway);
    const { body: first } = fake.lastRequest;
    expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
    expect(fake.lastRequest.body).toEqual(first);
  });

  it('re-queues a CANCELED job', async () => {
    const { id } = await stage.running();
    await act(gateway, `${JOBS}/${id}/cancel`);
    expect((await accepted<JobBody>(await retry(id))).id).toBe(id);
    expect((await ended(gateway, id)).status).toBe('PROCESSED');
  });

  it('is 409 Conflict in any other state', async () => {
    const { id: done } = await ended(gateway, (await submitted(gateway)).id);
    const { id: busy } = await stage.running();
    await stage.holdQueue();
    const { id: queued } = await submitted(gateway);
    for (const [id, status] of [
      [done, 'PROCESSED'],
      [busy, 'PROCESSING'],
      [queued, 'QUEUED'],
    ] as const) {
      const failure = await failureOf(await retry(id));
      expect(failure).toMatchObject({ status: 409, type: 'conflict', code: 'job_not_retryable' });
      expect(failure.retry).toBe('false');
      expect(failure.message).toContain(status);
      expect((await getJob(gateway, id)).status).toBe(status);
    }
    await act(gateway, `${JOBS}/${queued}/cancel`);
  });

  it('is 404 for an unknown job', async () => {
    expect(await failureOf(await retry('01ABC'))).toMatchObject({ code: 'job_not_found' });
  });

  it('is 429 queue_full where the queue has no room', async () => {
    const small = await startGateway({ maxQueuedJobs: 1 });
    await small.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
    await pauseQueue(small);
    const { id } = await submitted(small);
    await act(small, `${JOBS}/${id}/cancel`);
    await submitted(small);
    const response = await act(small, `${JOBS}/${id}/retry`);
    expect(await failureOf(response)).toMatchObject({ status: 429, code: 'queue_full' });
  });
});
