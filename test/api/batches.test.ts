import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { MODELS } from '../support/studio.js';
import { until } from '../support/until.js';
import { accepted, act, BATCHES, chatItem, ended, getJson, JOBS, keyOf } from './job-calls.js';
import { listJobs, pauseQueue, resumeQueue, submitBatch } from './job-calls.js';
import type { BatchBody, ListBody } from './job-calls.js';
import { openJobStage } from './job-stage.js';
import type { JobStage } from './job-stage.js';
import { failureOf, post } from './requests.js';

let stage: JobStage;
let gateway: TestGateway;
let fake: FakeModelServer;

const IMAGE = {
  endpoint: '/v1/images/generations',
  body: { model: MODELS.image, prompt: 'a cat' },
};

beforeAll(async () => {
  stage = await openJobStage();
  ({ gateway, fake } = stage);
  return stage.stop;
});

async function submitted(items: readonly unknown[], fields: object = {}): Promise<BatchBody> {
  return accepted<BatchBody>(await submitBatch(gateway, items, { ...fields }));
}

function getBatch(id: string): Promise<BatchBody> {
  return getJson(gateway, `${BATCHES}/${id}`);
}

async function done(id: string): Promise<BatchBody> {
  return until(async () => {
    const batch = await getBatch(id);
    return batch.status === 'DONE' ? batch : null;
  });
}

function left({ headers }: Response): number {
  return Number(headers.get('x-ratelimit-remaining'));
}

async function newestJob(): Promise<string | undefined> {
  return (await listJobs(gateway, '?limit=1')).data[0]?.id;
}

describe('POST /batches', () => {
  it('on acceptance is 202 with a Batch object, without jobs', async () => {
    await stage.holdQueue();
    const response = await submitBatch(gateway, [chatItem(), IMAGE], { label: 'night run' });
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      object: 'service.batch',
      label: 'night run',
      status: 'PENDING',
      total: 2,
      queued: 2,
      processing: 0,
      processed: 0,
      failed: 0,
      canceled: 0,
      created: expect.toSatisfy((s) => Math.abs(s - Date.now() / 1000) < 60),
    });
  });

  it('every item becomes an independent async job, whose results are read from it', async () => {
    const completion = { endpoint: '/v1/completions', body: { model: 'tiny', prompt: 'once' } };
    const { id } = await submitted([chatItem(), IMAGE, completion]);
    const { jobs = [], processed } = await done(id);
    expect(processed).toBe(3);
    const [text, image, legacy] = await Promise.all(jobs.map((job) => ended(gateway, job.id)));
    expect(text).toMatchObject({ batch_id: id, inference_type: 'LLM', status: 'PROCESSED' });
    expect(text?.result?.choices).toHaveLength(1);
    expect(image).toMatchObject({ batch_id: id, inference_type: 'IMAGE' });
    expect(image?.result_url).toContain('/api/inference/assets/');
    expect(legacy).toMatchObject({ endpoint: '/v1/completions', result: { model: 'tiny' } });
  });

  it('takes 256 items in one request of the rate limit', async () => {
    await stage.holdQueue();
    const before = left(await gateway.fetch(JOBS));
    const response = await submitBatch(
      gateway,
      Array.from({ length: 256 }, () => chatItem()),
    );
    expect(left(response)).toBe(before - 1);
    const { id } = await accepted<BatchBody>(response);
    const { jobs = [] } = await getBatch(id);
    expect(jobs.map(({ index }) => index)).toEqual(Array.from({ length: 256 }, (_, i) => i));
    await act(gateway, `${BATCHES}/${id}/cancel`);
  });

  it('a boolean async inside an item is dropped, and its stream with it', async () => {
    const { id } = await submitted([chatItem({ async: false, stream: true })]);
    expect(await done(id)).toMatchObject({ processed: 1 });
    expect(fake.lastRequest.body).not.toHaveProperty('async');
    expect(fake.lastRequest.body['stream'] ?? false).toBe(false);
  });

  it('an item of a model that nobody has ever served is accepted, and fails alone', async () => {
    const { id } = await submitted([chatItem(), chatItem({ model: 'nobody-has-it' })]);
    const { jobs = [], ...counts } = await done(id);
    expect(counts).toMatchObject({ total: 2, processed: 1, failed: 1 });
    const lost = await ended(gateway, jobs[1]?.id ?? '');
    expect(lost.error).toMatchObject({ type: 'no_provider', code: 'no_provider' });
    expect(lost.error?.message).toContain("serves the model 'nobody-has-it' as llm");
  });

  it('its webhook is accepted, and the secret is never returned', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const webhook = { url: 'https://example.org/hook', secret };
    const { id } = await submitted([chatItem()], { webhook });
    expect(JSON.stringify(await getBatch(id))).not.toContain('whsec_');
    const local = { ...webhook, url: 'http://[::1]/hook' };
    const failure = await failureOf(await submitBatch(gateway, [chatItem()], { webhook: local }));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_value', param: 'webhook.url' });
  });
});

describe('a batch that is refused as a whole, and no job exists', () => {
  const many = Array.from({ length: 256 }, () => chatItem());

  it.each<[string, unknown, object]>([
    ['without requests', { label: 'x' }, { code: 'missing_requests', param: 'requests' }],
    ['with no item', { requests: [] }, { code: 'empty_batch', param: 'requests' }],
    [
      'whose last item is malformed',
      { requests: [...many.slice(1), chatItem({ model: null })] },
      { code: 'invalid_item', param: 'requests[255].body.model' },
    ],
    [
      'with a file upload',
      { requests: [chatItem(), { endpoint: '/v1/audio/transcriptions', body: {} }] },
      { code: 'invalid_item', param: 'requests[1].endpoint' },
    ],
    [
      'with an async that is no boolean',
      { requests: [chatItem({ async: 'true' })] },
      { code: 'invalid_item', param: 'requests[0].body.async' },
    ],
  ])('%s is 400 invalid_request', async (_what, body, expected) => {
    const before = await newestJob();
    const failure = await failureOf(await post(gateway, body, { path: BATCHES }));
    expect(failure).toMatchObject({ status: 400, type: 'invalid_request', ...expected });
    expect(await newestJob()).toBe(before);
  });

  it('with more than 256 items is 400 too_large', async () => {
    const before = await newestJob();
    const failure = await failureOf(await submitBatch(gateway, [...many, chatItem()]));
    expect(failure).toMatchObject({ status: 400, type: 'too_large', code: 'batch_too_large' });
    expect(await newestJob()).toBe(before);
  });

  it('that does not fit into the queue is 429 queue_full, and none of it is queued', async () => {
    const small = await startGateway({ maxQueuedJobs: 3 });
    const response = await submitBatch(small, many.slice(0, 4));
    expect(await failureOf(response)).toMatchObject({ status: 429, code: 'queue_full' });
    expect((await listJobs(small)).data).toEqual([]);
    expect(await getJson(small, BATCHES)).toMatchObject({ data: [] });
  });

  it.each(['', '{', 'null'])('that is the text %j is 400', async (body) => {
    expect((await post(gateway, body, { path: BATCHES })).status).toBe(400);
  });
});

describe('GET /batches/{id}', () => {
  it('has jobs in the order of the request, each with its index', async () => {
    await stage.holdQueue();
    const { id } = await submitted([chatItem(), IMAGE, chatItem()]);
    const { jobs } = await getBatch(id);
    expect(jobs).toEqual(
      [
        { inference_type: 'LLM', model: 'tiny', excerpt: 'hello' },
        { inference_type: 'IMAGE', model: 'sd', excerpt: 'a cat' },
        { inference_type: 'LLM', model: 'tiny', excerpt: 'hello' },
      ].map((job, index) => ({ id: expect.any(String), status: 'QUEUED', index, ...job })),
    );
    await act(gateway, `${BATCHES}/${id}/cancel`);
  });

  it('is PENDING, then PROCESSING, then DONE, and its counts add up', async () => {
    const own = await startGateway();
    await own.startAgent({ services: [{ baseUrl: fake.baseUrl, slots: 1 }] });
    await pauseQueue(own);
    const items = [chatItem(), chatItem({ model: 'nobody-has-it' }), chatItem()];
    const { id } = await accepted<BatchBody>(await submitBatch(own, items));
    const seen = new Set<string>();
    await resumeQueue(own);
    await until(async () => {
      const batch = await getJson<BatchBody>(own, `${BATCHES}/${id}`);
      const { queued, processing, processed, failed, canceled, total } = batch;
      expect(queued + processing + processed + failed + canceled).toBe(total);
      seen.add(batch.status);
      return batch.status === 'DONE';
    });
    expect(seen).toContain('DONE');
    const end = await getJson<BatchBody>(own, `${BATCHES}/${id}`);
    expect(end).toMatchObject({ queued: 0, processing: 0, processed: 2, failed: 1, total: 3 });
  });

  it('is 404 batch_not_found where it is unknown or another member’s', async () => {
    const { id } = await submitted([chatItem()]);
    const headers = keyOf(gateway.ben);
    for (const path of [`${BATCHES}/${id}`, `${BATCHES}/01ABC`]) {
      const failure = await failureOf(await gateway.fetch(path, { headers }));
      expect(failure).toMatchObject({ status: 404, type: 'not_found', code: 'batch_not_found' });
    }
  });
});

describe('GET /batches', () => {
  it('lists the caller’s batches, newest first, in pages', async () => {
    const own = await startGateway();
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      const response = await submitBatch(own, [chatItem()], { label: `run ${i}` });
      ids.unshift((await accepted<BatchBody>(response)).id);
    }
    const list = (query: string) => getJson<ListBody<BatchBody>>(own, BATCHES + query);
    const all = await list('');
    expect(all).toMatchObject({ object: 'list', has_more: false });
    expect(all.data.map(({ id }) => id)).toEqual(ids);
    expect(all.data[0]).toMatchObject({ object: 'service.batch', label: 'run 2', total: 1 });
    expect(all.data[0]).not.toHaveProperty('jobs');
    const page = await list('?limit=2');
    expect(page).toMatchObject({ has_more: true });
    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const rest = await list(`?limit=2&after=${ids[1]}`);
    expect(rest).toMatchObject({ has_more: false });
    expect(rest.data.map(({ id }) => id)).toEqual(ids.slice(2));
    const bens = await own.fetch(BATCHES, { headers: keyOf(own.ben) });
    expect(await bens.json()).toEqual({ object: 'list', data: [], has_more: false });
  });

  it('at most 50', async () => {
    const own = await startGateway();
    for (let i = 0; i < 51; i++) await submitBatch(own, [chatItem()]);
    const list = await getJson<ListBody<BatchBody>>(own, BATCHES);
    expect(list.data).toHaveLength(50);
    expect(list.has_more).toBe(true);
    const failure = await failureOf(await own.fetch(`${BATCHES}?limit=51`));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_value', param: 'limit' });
  });
});

describe('POST /batches/{id}/cancel', () => {
  it('cancels every QUEUED or PROCESSING job and returns the updated Batch', async () => {
    const { id: runs } = await stage.running();
    const finished = await ended(gateway, (await submitted([chatItem()]).then(firstJob)).id);
    await stage.holdQueue();
    const { id } = await submitted([chatItem(), chatItem(), IMAGE]);
    const response = await act(gateway, `${BATCHES}/${id}/cancel`);
    expect(response.status).toBe(200);
    const batch = (await response.json()) as BatchBody;
    expect(batch).toMatchObject({ id, status: 'DONE', total: 3, queued: 0, canceled: 3 });
    expect(batch).not.toHaveProperty('jobs');
    const { jobs = [] } = await getBatch(id);
    expect(jobs.map(({ status }) => status)).toEqual(['CANCELED', 'CANCELED', 'CANCELED']);
    // Jobs outside the batch stay as they are, whether they have ended or still run.
    expect((await ended(gateway, finished.id)).status).toBe('PROCESSED');
    expect((await getJson<{ status: string }>(gateway, `${JOBS}/${runs}`)).status).toBe(
      'PROCESSING',
    );
  });

  it('stops what is running, and leaves what had finished', async () => {
    const { id } = await submitted([chatItem()]);
    await done(id);
    const response = await act(gateway, `${BATCHES}/${id}/cancel`);
    expect(await response.json()).toMatchObject({ status: 'DONE', processed: 1, canceled: 0 });
  });

  it('of another member’s batch is 404', async () => {
    const { id } = await submitted([chatItem()]);
    const response = await act(gateway, `${BATCHES}/${id}/cancel`, keyOf(gateway.ben));
    expect(await failureOf(response)).toMatchObject({ status: 404, code: 'batch_not_found' });
  });
});

async function firstJob({ id }: BatchBody): Promise<{ id: string }> {
  return (await getBatch(id)).jobs?.[0] ?? { id: '' };
}
