import { Endings } from '@inference-gateway/coordinator/jobs/jobs';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  chatItem,
  ended,
  getJob,
  JOBS,
  pauseQueue,
  submit,
  submitBatch,
  submitted,
} from '../api/job-calls.js';
import { failureOf } from '../api/requests.js';
import { runningJob } from '../store/dispatch-rows.js';
import { createMember } from '../store/store-rows.js';
import { startGateway } from '../support/gateway.js';
import { connectJobAgent } from '../support/job-agent.js';
import { DOCUMENT } from '../support/raw-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { query } from '../support/usage-rows.js';

const TIMES = 100;
const HEADERS = { 'idempotency-key': 'the evening run' };

const countsOf = `select
  (select count(*) from jobs) as jobs, (select count(*) from batches) as batches,
  (select count(*) from job_bodies) as bodies, (select count(*) from idempotency_keys) as keys`;

/** Concurrent submissions; returns their status, whether they were replayed, and their ids. */
async function inParallel(send: () => Promise<Response>) {
  const responses = await Promise.all(Array.from({ length: TIMES }, send));
  const bodies = await Promise.all(responses.map((one) => one.json() as Promise<{ id: string }>));
  return {
    statuses: new Set(responses.map(({ status }) => status)),
    created: responses.filter(({ headers }) => headers.get('idempotency-replayed') === null),
    ids: new Set(bodies.map(({ id }) => id)),
  };
}

describe('100 parallel submissions with one idempotency key', () => {
  it('make one job', async () => {
    const gateway = await startGateway();
    await connectJobAgent(gateway);
    await pauseQueue(gateway);
    const told = await inParallel(() => submit(gateway, { model: 'm' }, { headers: HEADERS }));
    expect(told.statuses).toEqual(new Set([202]));
    expect(told.ids.size).toBe(1);
    expect(told.created).toHaveLength(1);
    expect(query(gateway, countsOf)).toEqual([{ jobs: 1, batches: 0, bodies: 1, keys: 1 }]);
  });

  it('make one batch', async () => {
    const gateway = await startGateway();
    await pauseQueue(gateway);
    const items = [chatItem({ model: 'm' }), chatItem({ model: 'm' })];
    const told = await inParallel(() => submitBatch(gateway, items, { headers: HEADERS }));
    expect(told.statuses).toEqual(new Set([202]));
    expect(told.ids.size).toBe(1);
    expect(told.created).toHaveLength(1);
    expect(query(gateway, countsOf)).toEqual([{ jobs: 2, batches: 1, bodies: 2, keys: 1 }]);
  });
});

it('a batch whose last item of 256 is malformed leaves nothing, its key included', async () => {
  const gateway = await startGateway();
  const items: unknown[] = Array(255).fill(chatItem());
  const malformed = { endpoint: '/v1/chat/completions', body: { messages: [] } };
  const response = await submitBatch(gateway, [...items, malformed], { headers: HEADERS });
  const failure = await failureOf(response);
  expect(failure).toMatchObject({ status: 400, type: 'invalid_request', code: 'invalid_item' });
  expect(failure.param).toContain('requests[255].body');
  expect(query(gateway, countsOf)).toEqual([{ jobs: 0, batches: 0, bodies: 0, keys: 0 }]);
  const mended = await submitBatch(gateway, [...items, chatItem()], { headers: HEADERS });
  expect(mended.status).toBe(202);
  expect(query(gateway, countsOf)).toEqual([{ jobs: 256, batches: 1, bodies: 256, keys: 1 }]);
});

describe('a caller that polls for the end of a job and leaves', () => {
  it('stops nothing: the job ends, and those who stay are told', async () => {
    const gateway = await startGateway();
    const { agent } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const { stream } = await agent.nextOpen();
    const callers = Array.from({ length: 50 }, () => new AbortController());
    const polls = callers.map(({ signal }) =>
      gateway.fetch(`${JOBS}/${id}?wait=60`, { signal }).catch(() => 'left'),
    );
    const staying = ended(gateway, id);
    // An answer in between: the polls have come in by then.
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
    for (const caller of callers) caller.abort();
    expect(await Promise.all(polls)).toEqual(Array(50).fill('left'));
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
    agent.answer(stream, DOCUMENT);
    expect((await staying).status).toBe('PROCESSED');
    expect(agent.messages.some(({ t }) => t === 'RESET')).toBe(false);
  });

  it('is not waited for', async () => {
    const store = await openStore(await temporaryFolder(), { inThread: true });
    onTestFinished(() => store.close());
    const { job } = await runningJob(store, (await createMember(store, 'anna')).id);
    const looks = { count: 0 };
    const endings = new Endings({
      findJob: (...args) => {
        looks.count += 1;
        return store.findJob(...args);
      },
    });
    const callers = Array.from({ length: 50 }, () => new AbortController());
    const waits = callers.map(({ signal }) => endings.wait(job.id, 60_000, signal));
    await store.findJob(job.id, null);
    const leftAt = performance.now();
    for (const caller of callers) caller.abort();
    await Promise.all(waits);
    expect(performance.now() - leftAt).toBeLessThan(2_000);
    const before = looks.count;
    // Nobody is left who could be woken.
    endings.ended(job.id);
    await store.findJob(job.id, null);
    expect(looks.count).toBe(before);
  });
});
