import { beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../support/gateway.js';
import {
  accepted,
  act,
  ended,
  getJob,
  JOBS,
  keyOf,
  listJobs,
  submit,
  submitted,
} from './job-calls.js';
import type { JobBody } from './job-calls.js';
import { openJobStage } from './job-stage.js';
import type { JobStage } from './job-stage.js';
import { draw } from './media-calls.js';
import { failureOf } from './requests.js';

let stage: JobStage;
let gateway: TestGateway;

beforeAll(async () => {
  stage = await openJobStage();
  ({ gateway } = stage);
  return stage.stop;
});

describe('GET /jobs', () => {
  it('lists the caller’s jobs, newest first', async () => {
    const ids = [];
    for (let i = 0; i < 3; i++) ids.unshift((await submitted(gateway)).id);
    const list = await listJobs(gateway);
    expect(list.object).toBe('list');
    expect(list.data.slice(0, 3).map(({ id }) => id)).toEqual(ids);
    const bens = await gateway.fetch(JOBS, { headers: keyOf(gateway.ben) });
    expect(await bens.json()).toEqual({ object: 'list', data: [], has_more: false });
  });

  it('status: filter by job status', async () => {
    const { id } = await stage.failed();
    const { data } = await listJobs(gateway, '?status=FAILED');
    expect(data[0]?.id).toBe(id);
    expect(new Set(data.map(({ status }) => status))).toEqual(new Set(['FAILED']));
  });

  it('active=1: only QUEUED or PROCESSING jobs', async () => {
    const { id: processing } = await stage.running();
    await stage.holdQueue();
    const { id: queued } = await submitted(gateway);
    const { data } = await listJobs(gateway, '?active=1');
    expect(data.map(({ id }) => id)).toEqual([queued, processing]);
    const only = async (query: string) => (await listJobs(gateway, query)).data.map(({ id }) => id);
    expect(await only('?active=1&status=QUEUED')).toEqual([queued]);
    expect(await only('?active=1&status=FAILED')).toEqual([]);
    expect(await only('?active=0&limit=1')).toEqual([queued]);
  });

  it('type: only jobs of this inference_type', async () => {
    const image = await accepted<JobBody>(await draw(gateway, { async: true }));
    const text = await submitted(gateway);
    const only = async (query: string) => (await listJobs(gateway, query)).data;
    const images = await only('?type=IMAGE');
    expect(images[0]?.id).toBe(image.id);
    expect(new Set(images.map((job) => job.inference_type))).toEqual(new Set(['IMAGE']));
    expect((await only('?type=LLM&limit=1'))[0]?.id).toBe(text.id);
    expect(await only('?type=TTS')).toEqual([]);
  });

  it('model: only jobs with this part of a model’s id, whatever its case', async () => {
    await ended(gateway, (await submitted(gateway)).id);
    const failed = await stage.failed();
    const all = (await listJobs(gateway, '?type=LLM&limit=500')).data.map(({ id }) => id);
    const only = async (query: string) => (await listJobs(gateway, query)).data.map(({ id }) => id);
    expect(all.length).toBeGreaterThan(3);
    expect(await only('?model=IN&limit=500')).toEqual(all);
    expect(await only('?model=t%25y')).toEqual([]);
    expect(await only('?model=t_ny')).toEqual([]);
    expect(await only('?model=tiny&status=FAILED&limit=1')).toEqual([failed.id]);
    expect(await only('?model=tiny&type=IMAGE')).toEqual([]);
    expect(await only('?model=tiny&active=1')).toEqual([]);
    const [, second, third] = all.toReversed();
    expect(await only(`?model=tiny&type=LLM&order=asc&limit=1&after=${second}`)).toEqual([third]);
    const some = await listJobs(gateway, '?model=tiny&limit=1');
    expect(some).toMatchObject({ data: [{ id: failed.id }], has_more: true });
    const bens = await gateway.fetch(`${JOBS}?model=tiny`, { headers: keyOf(gateway.ben) });
    expect(await bens.json()).toMatchObject({ data: [] });
  });

  it('limit: maximum results, and has_more; after: what follows', async () => {
    await Promise.all(Array.from({ length: 4 }, () => submitted(gateway)));
    const all = (await listJobs(gateway, '?limit=500')).data.map(({ id }) => id);
    const first = await listJobs(gateway, '?limit=3');
    expect(first.has_more).toBe(true);
    expect(first.data.map(({ id }) => id)).toEqual(all.slice(0, 3));
    const rest = await listJobs(gateway, `?limit=500&after=${all[2]}`);
    expect(rest.has_more).toBe(false);
    expect(rest.data.map(({ id }) => id)).toEqual(all.slice(3));
    expect(await listJobs(gateway, '?after=unknown')).toMatchObject({ data: [], has_more: false });
  });

  it('order=asc: the oldest first, page by page, whatever their status', async () => {
    const newestFirst = (await listJobs(gateway, '?limit=500')).data.map(({ id }) => id);
    const oldestFirst = newestFirst.toReversed();
    const only = async (query: string) => (await listJobs(gateway, query)).data.map(({ id }) => id);
    expect(await only('?order=asc&limit=500')).toEqual(oldestFirst);
    expect(await only(`?order=asc&limit=3&after=${oldestFirst[1]}`)).toEqual(
      oldestFirst.slice(2, 5),
    );
    const { id: processing } = await stage.running();
    await stage.holdQueue();
    const { id: queued } = await submitted(gateway);
    expect(await only('?order=asc&active=1')).toEqual([processing, queued]);
    expect(await only('?order=desc&active=1')).toEqual([queued, processing]);
  });

  it('limit has the default 50', async () => {
    await stage.holdQueue();
    await Promise.all(Array.from({ length: 51 }, () => submitted(gateway)));
    const { data, has_more: hasMore } = await listJobs(gateway);
    expect(data).toHaveLength(50);
    expect(hasMore).toBe(true);
    for (const { id } of data) await act(gateway, `${JOBS}/${id}/cancel`);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=ten', 'limit'],
    ['status=WRONG', 'status'],
    ['status=queued', 'status'],
    ['status=', 'status'],
    ['active=2', 'active'],
    ['active=true', 'active'],
    ['order=up', 'order'],
    ['type=llm', 'type'],
    ['type=STT', 'type'],
    ['type=', 'type'],
    ['model=', 'model'],
    [`model=${'x'.repeat(257)}`, 'model'],
  ])('?%s is 400 invalid_value', async (query, param) => {
    const failure = await failureOf(await gateway.fetch(`${JOBS}?${query}`));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_value', param });
  });
});

it('what is wrong with a type or a model is said with what it may be', async () => {
  const saying = async (query: string) =>
    (await failureOf(await gateway.fetch(`${JOBS}?${query}`))).message;
  expect(await saying('type=STT')).toBe(
    "type is 'STT': it must be one of LLM, IMAGE, VIDEO, MUSIC, TTS, EMBEDDING, RERANK.",
  );
  expect(await saying('model=')).toBe(
    "model has 0 characters: it must be a part of a model's id, from 1 to 256.",
  );
  expect((await gateway.fetch(`${JOBS}?model=${'x'.repeat(256)}`)).status).toBe(200);
});

describe('GET /jobs/{id}', () => {
  it('a completed LLM job has choices inside result', async () => {
    const { id } = await submitted(gateway);
    const job = await ended(gateway, id);
    expect(job).toMatchObject({
      id,
      status: 'PROCESSED',
      attempts: 1,
      error: null,
      assets: [],
      result: {
        object: 'chat.completion',
        model: 'tiny',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello from home.' } }],
        usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
      },
    });
    expect(job).not.toHaveProperty('position');
    expect(job).not.toHaveProperty('waiting_reason');
    expect(job).not.toHaveProperty('result_url');
    const times = [job.queued_at, job.started_at, job.finished_at].map((at) =>
      Date.parse(at ?? ''),
    );
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it('a completed image job has result_url, list and get, and its media assets', async () => {
    const { id } = await accepted<JobBody>(await draw(gateway, { async: true, n: 2 }));
    const job = await ended(gateway, id);
    expect(job.assets).toEqual(
      [0, 1].map(() => ({
        id: expect.stringMatching(/^\w{22}$/),
        url: expect.stringMatching(/\/api\/inference\/assets\/\w{22}\/$/),
        content_type: 'image/png',
        bytes: expect.any(Number),
      })),
    );
    expect(job.result_url).toBe(job.assets?.[0]?.url);
    expect(job).not.toHaveProperty('result');
    const [listed] = (await listJobs(gateway, '?limit=1')).data;
    expect(listed).toMatchObject({ id, result_url: job.result_url });
    expect(listed).not.toHaveProperty('assets');
    const file = await gateway.fetch(new URL(job.result_url ?? '').pathname);
    expect((await file.arrayBuffer()).byteLength).toBe(job.assets?.[0]?.bytes);
  });

  it.each([{ model: 'gpt-image-1' }, { response_format: 'b64_json' }])(
    'an image job has addresses and no base64, as the specification has it: %j',
    async (fields) => {
      const { id } = await accepted<JobBody>(await draw(gateway, { ...fields, async: true }));
      const job = await ended(gateway, id);
      expect(job).toMatchObject({ status: 'PROCESSED', result_url: job.assets?.[0]?.url });
      expect(JSON.stringify(job)).not.toContain('b64_json');
    },
  );

  it('an asset that was deleted is in it no more', async () => {
    const { id } = await accepted<JobBody>(await draw(gateway, { async: true }));
    const { assets = [] } = await ended(gateway, id);
    await gateway.fetch(new URL(assets[0]?.url ?? '').pathname, { method: 'DELETE' });
    const job = await getJob(gateway, id);
    expect(job).toMatchObject({ status: 'PROCESSED', assets: [] });
    expect(job).not.toHaveProperty('result_url');
  });

  it('the list has no result', async () => {
    await ended(gateway, (await submitted(gateway)).id);
    expect((await listJobs(gateway, '?limit=1')).data[0]).not.toHaveProperty('result');
  });

  it('a FAILED job carries the error that a synchronous caller would have been told', async () => {
    const job = await stage.failed();
    expect(job).toMatchObject({
      status: 'FAILED',
      error: { type: 'invalid_request_error', code: 'provider_rejected', param: null },
    });
    expect(job.error?.message).toContain('the prompt is not to my taste');
    expect(job).not.toHaveProperty('result');
  });

  it.each(['01ABC', 'unknown', 'a%20b', 'x'.repeat(300)])('%s is 404 job_not_found', async (id) => {
    const failure = await failureOf(await gateway.fetch(`${JOBS}/${id}`));
    expect(failure).toMatchObject({ status: 404, type: 'not_found', code: 'job_not_found' });
  });

  it('another member’s job looks the same as an unknown one', async () => {
    const { id } = await submitted(gateway);
    const headers = keyOf(gateway.ben);
    const foreign = await failureOf(await gateway.fetch(`${JOBS}/${id}`, { headers }));
    const unknown = await failureOf(await gateway.fetch(`${JOBS}/01ABC`, { headers }));
    expect({ ...foreign, message: foreign.message.replace(id, '01ABC') }).toEqual(unknown);
  });

  it('is answered to HEAD as well', async () => {
    const { id } = await submitted(gateway);
    expect((await gateway.fetch(`${JOBS}/${id}`, { method: 'HEAD' })).status).toBe(200);
  });
});

it('every answer of jobs carries the rate limit, and reading is not counted', async () => {
  const { id } = await submitted(gateway);
  const left = async (path: string) =>
    Number((await gateway.fetch(path)).headers.get('x-ratelimit-remaining'));
  const before = await left(JOBS);
  await left(`${JOBS}/${id}?wait=1`);
  expect(await left(JOBS)).toBe(before);
  const response = await submit(gateway);
  expect(Number(response.headers.get('x-ratelimit-remaining'))).toBe(before - 1);
  const { headers } = await act(gateway, `${JOBS}/${id}/cancel`);
  expect(Number(headers.get('x-ratelimit-remaining'))).toBe(before - 2);
});
