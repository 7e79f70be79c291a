import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { accepted, act, BATCHES, chatItem, ended, getJson, JOBS, keyOf } from './job-calls.js';
import { listJobs, pauseQueue, submit, submitBatch } from './job-calls.js';
import type { BatchBody, JobBody } from './job-calls.js';
import { openJobStage } from './job-stage.js';
import type { JobStage } from './job-stage.js';
import { chat, failureOf, post } from './requests.js';

let stage: JobStage;
let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  stage = await openJobStage();
  ({ gateway, fake } = stage);
  return stage.stop;
});

let keys = 0;

const ELSEWHERE = 'http://192.0.2.1/cat.png';

function imageAt(url: string) {
  return [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
}

/** Headers with an idempotency key that no other test has used. */
function fresh(): { 'Idempotency-Key': string } {
  keys += 1;
  return { 'Idempotency-Key': `key ${keys}` };
}

const isReplay = ({ headers }: Response) => headers.get('Idempotency-Replayed');

describe('a second submission with the same key', () => {
  it('returns the existing job and creates no new one', async () => {
    await stage.holdQueue();
    const headers = fresh();
    const first = await submit(gateway, {}, { headers });
    const second = await submit(gateway, {}, { headers });
    expect([first.status, second.status]).toEqual([202, 202]);
    expect([isReplay(first), isReplay(second)]).toEqual([null, 'true']);
    const job = await accepted<JobBody>(first);
    expect(await accepted<JobBody>(second)).toEqual(job);
    const { data } = await listJobs(gateway, '?status=QUEUED');
    expect(data.map(({ id }) => id)).toEqual([job.id]);
    await act(gateway, `${JOBS}/${job.id}/cancel`);
  });

  it('is answered with the envelope as it is now', async () => {
    const headers = fresh();
    const { id } = await accepted<JobBody>(await submit(gateway, {}, { headers }));
    await ended(gateway, id);
    const replayed = await submit(gateway, {}, { headers });
    expect(replayed.status).toBe(202);
    expect(await replayed.json()).toMatchObject({ id, status: 'PROCESSED', attempts: 1 });
  });

  it('is a replay whatever its body says, and after a retry as well', async () => {
    const headers = fresh();
    fake.once((_request, response) => void response.writeHead(400).end('{}'));
    const { id } = await accepted<JobBody>(await submit(gateway, {}, { headers }));
    expect((await ended(gateway, id)).status).toBe('FAILED');
    await act(gateway, `${JOBS}/${id}/retry`);
    const replayed = await submit(gateway, { top_k: 1 }, { headers });
    expect(isReplay(replayed)).toBe('true');
    expect(await accepted<JobBody>(replayed)).toMatchObject({ id });
  });

  it.each<[string, unknown]>([
    ['lacks its messages', { model: 'tiny', async: true }],
    ['has fields of a wrong type', chat({ async: true, max_tokens: 'many', temperature: 9 })],
    ['names a webhook that is none', chat({ async: true, webhook: 'x' })],
    [
      'names a medium that a server would fetch',
      chat({ async: true, messages: imageAt(ELSEWHERE) }),
    ],
    ['is not JSON', '{"model": "tiny", '],
    ['is empty', ''],
  ])('is a replay where its body %s', async (_, body) => {
    const headers = fresh();
    const { id } = await accepted<JobBody>(await submit(gateway, {}, { headers }));
    const replayed = await post(gateway, body, { headers });
    expect([replayed.status, isReplay(replayed)]).toEqual([202, 'true']);
    expect(await replayed.json()).toMatchObject({ id });
  });

  it.each([
    ['lacks its messages', { model: 'tiny', async: true }, 'missing_required_parameter'],
    ['is not JSON', '{"model": "tiny", ', 'invalid_json'],
  ])('a key that is not known saves no body that %s', async (_, body, code) => {
    expect(await failureOf(await post(gateway, body, { headers: fresh() }))).toMatchObject({
      status: 400,
      code,
    });
  });

  it('sent 50 times at once is one job', async () => {
    const headers = fresh();
    const before = (await listJobs(gateway, '?limit=500')).data.length;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => submit(gateway, {}, { headers })),
    );
    const jobs = await Promise.all(answers.map((response) => accepted<JobBody>(response)));
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(1);
    expect(answers.filter((response) => isReplay(response) === null)).toHaveLength(1);
    expect((await listJobs(gateway, '?limit=500')).data).toHaveLength(before + 1);
  });

  it('is a replay where nobody has the model any more', async () => {
    const headers = fresh();
    const { id } = await accepted<JobBody>(await submit(gateway, {}, { headers }));
    await ended(gateway, id);
    const replayed = await submit(gateway, { model: 'gone' }, { headers });
    expect([replayed.status, isReplay(replayed)]).toEqual([202, 'true']);
    expect(await replayed.json()).toMatchObject({ id, status: 'PROCESSED' });
  });

  it('is a replay where the queue is full by now', async () => {
    const small = await startGateway({ maxQueuedJobs: 1 });
    await small.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
    await pauseQueue(small);
    const headers = fresh();
    const first = await accepted<JobBody>(await submit(small, {}, { headers }));
    expect((await submit(small)).status).toBe(429);
    expect(await accepted<JobBody>(await submit(small, {}, { headers }))).toEqual(first);
  });

  it('is sent by a stock client in its own header', async () => {
    const headers = fresh();
    const create = () => gateway.client.chat.completions.create(chat({ async: true }), { headers });
    expect((await create()).id).toBe((await create()).id);
  });
});

describe('the key', () => {
  it('is a caller’s own', async () => {
    const headers = fresh();
    await accepted(await submit(gateway, {}, { headers }));
    const bens = await submitBatch(gateway, [chatItem()], {
      headers: { ...headers, ...keyOf(gateway.ben) },
    });
    expect(bens.status).toBe(202);
    expect(isReplay(bens)).toBeNull();
  });

  it('works on batches, apart from jobs', async () => {
    const headers = fresh();
    await submit(gateway, {}, { headers });
    const first = await submitBatch(gateway, [chatItem(), chatItem()], { headers });
    expect(isReplay(first)).toBeNull();
    const { id } = await accepted<BatchBody>(first);
    const second = await submitBatch(gateway, [chatItem()], { headers });
    expect(isReplay(second)).toBe('true');
    expect(await accepted<BatchBody>(second)).toMatchObject({ id, total: 2 });
    const { data } = await getJson<{ data: BatchBody[] }>(gateway, BATCHES);
    expect(data.filter((batch) => batch.id === id)).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['malformed items', { requests: [{ endpoint: '/v1/nowhere' }] }],
    ['no items', { requests: [] }],
    ['nothing that is JSON', '{'],
  ])('of a batch is looked up before a body with %s is judged', async (_, body) => {
    const headers = fresh();
    const { id } = await accepted<BatchBody>(await submitBatch(gateway, [chatItem()], { headers }));
    const replayed = await post(gateway, body, { path: BATCHES, headers });
    expect([replayed.status, isReplay(replayed)]).toEqual([202, 'true']);
    expect(await replayed.json()).toMatchObject({ id, total: 1 });
    expect((await post(gateway, body, { path: BATCHES, headers: fresh() })).status).toBe(400);
  });

  it.each(['x', 'x'.repeat(255), 'a b~!"', '7b1c2f4e-1d8b-4c43-9a53-0a6f6e3f0a11'])(
    'may be %j',
    async (key) => {
      const response = await submit(gateway, {}, { headers: { 'Idempotency-Key': key } });
      expect(response.status).toBe(202);
    },
  );

  it.each(['', 'x'.repeat(256), 'ü', 'tab\tin it'])('may not be %j: 400', async (key) => {
    const response = await submit(gateway, {}, { headers: { 'Idempotency-Key': key } });
    expect(await failureOf(response)).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'Idempotency-Key',
    });
  });

  it('says nothing on a synchronous call', async () => {
    const headers = fresh();
    const first = await post(gateway, chat(), { headers });
    const second = await post(gateway, chat(), { headers });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(isReplay(second)).toBeNull();
  });
});

it('web pages may read Idempotency-Replayed', async () => {
  const { headers } = await gateway.fetch('/v1/jobs');
  expect(headers.get('Access-Control-Expose-Headers')).toContain('idempotency-replayed');
});
