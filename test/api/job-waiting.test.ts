import { beforeAll, describe, expect, it } from 'vitest';
import { hangBeforeHeaders, reply } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { HeldAnswer } from './held-answer.js';
import { act, ended, getJob, JOBS, listJobs, resumeQueue, submitted } from './job-calls.js';
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

describe('a job that waits', () => {
  it('a job that backs off tells why and until when, and shows no error', async () => {
    fake.once(reply(500, { error: { message: 'the card is out of memory' } }));
    const { id } = await submitted(gateway);
    const job = await until(async () => {
      const seen = await getJob(gateway, id);
      return seen.status === 'QUEUED' && seen.attempts === 1 ? seen : null;
    });
    expect(job).toMatchObject({ error: null, position: null });
    expect(job.waiting_reason).toMatch(/^It is tried again at \d{4}-.*Z, after attempt 1 of 3: /);
    expect(job.waiting_reason).toContain('the card is out of memory');
    await act(gateway, `${JOBS}/${id}/cancel`);
  });

  it('a QUEUED job has its position and the reason why it waits, list and get', async () => {
    await stage.holdQueue();
    const first = await submitted(gateway);
    const second = await submitted(gateway);
    const reason = 'The queue is paused by an administrator.';
    expect(second).toMatchObject({ status: 'QUEUED', position: 2, waiting_reason: reason });
    expect(await getJob(gateway, first.id)).toMatchObject({ position: 1, waiting_reason: reason });
    const { data } = await listJobs(gateway, '?limit=2');
    expect(data.map(({ position }) => position)).toEqual([2, 1]);
    for (const { id } of data) await act(gateway, `${JOBS}/${id}/cancel`);
  });

  it('says when all slots are busy, and how many jobs come before', async () => {
    const busy = await startGateway();
    const home = await startFakeOpenAi({ behaviour: hangBeforeHeaders() });
    await busy.startAgent({ services: [{ baseUrl: home.baseUrl, slots: 1 }] });
    await submitted(busy);
    await until(() => home.inFlight === 1);
    const { waiting_reason: next } = await submitted(busy);
    expect(next).toBe("The only slot for 'tiny' is busy; it is the next.");
    const { waiting_reason: behind } = await submitted(busy);
    expect(behind).toBe("The only slot for 'tiny' is busy; it is behind 1 job of yours.");
    await home.close();
  });
});

describe('GET /jobs/{id}?wait=', () => {
  it('is answered as soon as the job ends', async () => {
    const held = new HeldAnswer();
    fake.once(held.behaviour);
    const { id } = await submitted(gateway);
    await held.asked();
    const waited = ended(gateway, id);
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
    held.chunk('Here it is.');
    held.finish();
    expect(await waited).toMatchObject({ status: 'PROCESSED', result: expect.any(Object) });
  });

  it('a canceled job ends it, too', async () => {
    const { id } = await stage.running();
    const waited = ended(gateway, id);
    await act(gateway, `${JOBS}/${id}/cancel`);
    expect((await waited).status).toBe('CANCELED');
  });

  it('is answered after that time as the job then is; a fraction is allowed', async () => {
    const { id } = await stage.running();
    const before = performance.now();
    expect((await getJob(gateway, id, '?wait=0.3')).status).toBe('PROCESSING');
    expect(performance.now() - before).toBeGreaterThan(290);
  });

  it('is answered at once where the job has ended', async () => {
    const { id } = await stage.failed();
    const before = performance.now();
    await getJob(gateway, id, '?wait=60');
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  it('a caller who leaves is not waited for', async () => {
    const { id } = await stage.running();
    const departure = new AbortController();
    const waited = gateway.fetch(`${JOBS}/${id}?wait=60`, { signal: departure.signal });
    const left = expect(waited).rejects.toThrow();
    departure.abort();
    await left;
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
  });

  it.each(['-1', '60.5', '61', '600', 'x', '', '1e1'])('wait=%s is 400', async (wait) => {
    const { id } = await stage.failed();
    const failure = await failureOf(await gateway.fetch(`${JOBS}/${id}?wait=${wait}`));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_value', param: 'wait' });
  });

  it('an unknown job is 404 at once', async () => {
    expect((await gateway.fetch(`${JOBS}/01ABC?wait=60`)).status).toBe(404);
  });
});

it('an administrator’s pause holds jobs back and nothing else', async () => {
  await stage.holdQueue();
  const { id } = await submitted(gateway);
  expect((await gateway.client.models.list()).data.length).toBeGreaterThan(0);
  await resumeQueue(gateway);
  expect((await ended(gateway, id)).status).toBe('PROCESSED');
});
