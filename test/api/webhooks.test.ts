/**
 * Webhooks: the gateway reports the end of a job to its submitter, in a message that only the
 * gateway can sign.
 */
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, reply } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectSchema } from '../support/openapi.js';
import { startRecordingServer } from '../support/recording-server.js';
import type { RecordedRequest, RecordingServer } from '../support/recording-server.js';
import { until } from '../support/until.js';
import * as jobs from './job-calls.js';
import type { BatchBody, JobBody } from './job-calls.js';
import { chat, post } from './requests.js';

const { accepted, act, BATCHES, chatItem, getJson, JOBS, submitBatch, submitted } = jobs;

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

interface Told<Data> {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Data;
}

/** Only its owner is told of it. */
interface Named {
  readonly excerpt?: string;
}

let gateway: TestGateway;
let fake: FakeModelServer;
let receiver: RecordingServer;

beforeAll(async () => {
  receiver = await startRecordingServer((_, response) => void response.writeHead(204).end());
  gateway = await openGateway({ webhookPrivate: true });
  fake = await startFakeOpenAi({ behaviour: answer({ text: 'Hello from home.' }) });
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
});

afterAll(async () => {
  await gateway.stop();
  await fake.close();
  await receiver.close();
});

const webhookTo = (path: string) => ({ url: `${receiver.origin}${path}`, secret: SECRET });

/** The messages to this path, once there are `count`; checks the signature of each. */
async function messages<Data>(path: string, count = 1): Promise<Told<Data>[]> {
  await until(() => receiver.to(path).length >= count);
  return receiver.to(path).map((request) => verified<Data>(request));
}

function verified<Data>({ body, headers }: RecordedRequest): Told<Data> {
  const signed = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
      name,
      String(headers[name]),
    ]),
  );
  return new Webhook(SECRET).verify(body.toString(), signed) as Told<Data>;
}

describe('a job with a webhook', () => {
  it('is told of when it is PROCESSED, as GET /jobs/{id} shows it', async () => {
    const { id } = await submitted(gateway, { webhook: webhookTo('/done') });
    const [told] = await messages<JobBody>('/done');
    expectSchema('JobFinished', told);
    expect(told).toMatchObject({ type: 'job.finished', data: { id, status: 'PROCESSED' } });
    const { excerpt, ...shown } = await getJson<JobBody & Named>(gateway, `${JOBS}/${id}`);
    expect(told?.data).toEqual(shown);
    expect(excerpt).toBe('hello');
    expect(fake.requests.at(-1)?.body).not.toHaveProperty('webhook');
  });

  it('is told of when it has FAILED, and again when a retry of it has ended', async () => {
    fake.once(reply(400, { error: { message: 'not to my taste' } }));
    const { id } = await submitted(gateway, { webhook: webhookTo('/again') });
    const [failed] = await messages<JobBody>('/again');
    expect(failed?.data).toMatchObject({ id, status: 'FAILED' });
    await act(gateway, `${JOBS}/${id}/retry`);
    const [, processed] = await messages<JobBody>('/again', 2);
    expect(processed?.data).toMatchObject({ id, status: 'PROCESSED' });
    const ids = receiver.to('/again').map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(2);
  });

  it('is told of when it is canceled', async () => {
    await jobs.pauseQueue(gateway);
    const { id } = await submitted(gateway, { webhook: webhookTo('/canceled') });
    await act(gateway, `${JOBS}/${id}/cancel`);
    await jobs.resumeQueue(gateway);
    const [told] = await messages<JobBody>('/canceled');
    expect(told?.data).toMatchObject({ id, status: 'CANCELED' });
  });

  it('never shows the secret again', async () => {
    const { id } = await submitted(gateway, { webhook: webhookTo('/secret') });
    await messages('/secret');
    for (const path of [`${JOBS}/${id}`, JOBS]) {
      expect(JSON.stringify(await getJson(gateway, path))).not.toContain('whsec_');
    }
    expect(receiver.to('/secret')[0]?.body.toString()).not.toContain('whsec_');
  });
});

describe('a batch with a webhook', () => {
  it('is told of once, when the last of its jobs has ended', async () => {
    const response = await submitBatch(gateway, [chatItem(), chatItem(), chatItem()], {
      webhook: webhookTo('/batch'),
    });
    const { id } = await accepted<BatchBody>(response);
    const [told] = await messages<BatchBody>('/batch');
    expectSchema('BatchFinished', told);
    expect(told?.type).toBe('batch.finished');
    const { jobs: own = [], ...batch } = await getJson<BatchBody>(gateway, `${BATCHES}/${id}`);
    const unnamed = own.map(({ id: jobId, status, inference_type, index }) => {
      return { id: jobId, status, inference_type, index };
    });
    expect(told?.data).toEqual({ ...batch, jobs: unnamed });
    expect(told?.data).toMatchObject({ id, status: 'DONE', total: 3, processed: 3 });
    expect(receiver.to('/batch')).toHaveLength(1);
  });
});

it('a synchronous call takes the webhook out of the body, and tells nobody', async () => {
  const response = await post(gateway, chat({ webhook: webhookTo('/sync') }));
  expect(response.status).toBe(200);
  expect(fake.requests.at(-1)?.body).not.toHaveProperty('webhook');
  await submitted(gateway, { webhook: webhookTo('/after-sync') });
  await messages('/after-sync');
  expect(receiver.to('/sync')).toEqual([]);
});

it('an address that is not public is refused, unless the operator allows it', async () => {
  const strict = await openGateway();
  try {
    await strict.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
    const response = await post(strict, chat({ async: true, webhook: webhookTo('/private') }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'invalid_value', param: 'webhook.url' },
    });
  } finally {
    await strict.stop();
  }
});
