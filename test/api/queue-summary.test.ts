import { describe, expect, it, onTestFinished } from 'vitest';
import { hangBeforeHeaders } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { accepted, chatItem, getJson, keyOf, pauseQueue, resumeQueue } from './job-calls.js';
import { submitBatch, submitted } from './job-calls.js';
import { administer, failureOf } from './requests.js';

const SUMMARY = '/api/inference/queue/summary';
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

interface Summary {
  readonly async_enabled: boolean;
  readonly worker_stalled: boolean;
  readonly paused: boolean;
  readonly queued: number;
  readonly processing: number;
  readonly oldest_queued_seconds: number | null;
  readonly last_tick_at: string | null;
  readonly capacity: object;
  readonly by_model: readonly object[];
}

const summaryOf = (gateway: TestGateway) => getJson<Summary>(gateway, SUMMARY);

/** A gateway whose only model is `tiny`, with two slots; its calls are never answered. */
async function startBusy(): Promise<TestGateway> {
  const gateway = await startGateway();
  const fake = await startFakeOpenAi({ behaviour: hangBeforeHeaders() });
  onTestFinished(() => fake.close());
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl, slots: 2 }] });
  return gateway;
}

const IDLE = {
  model: 'tiny',
  service_type: 'llm',
  queued: 0,
  running: 0,
  slots: 2,
  free_slots: 2,
  oldest_queued_seconds: null,
  providers_online: 1,
};

describe('GET /api/inference/queue/summary', () => {
  it('of an idle gateway is all zeros, with the models that are online', async () => {
    const gateway = await startBusy();
    const summary = await until(async () => {
      const seen = await summaryOf(gateway);
      return seen.last_tick_at === null ? null : seen;
    });
    expect(summary).toEqual({
      async_enabled: true,
      worker_stalled: false,
      paused: false,
      queued: 0,
      processing: 0,
      oldest_queued_seconds: null,
      last_tick_at: expect.stringMatching(ISO),
      capacity: { slots: 2, free_slots: 2, providers_online: 1 },
      by_model: [IDLE],
    });
  });

  it('shows the live queue state, by model', async () => {
    const gateway = await startBusy();
    await submitted(gateway);
    await until(async () => (await summaryOf(gateway)).processing === 1);
    await submitted(gateway);
    await accepted(await submitBatch(gateway, [chatItem()]));
    const waits = { queued: 2, running: 1, oldest_queued_seconds: expect.any(Number) };
    expect(await summaryOf(gateway)).toMatchObject({
      worker_stalled: false,
      queued: 2,
      processing: 1,
      oldest_queued_seconds: expect.toSatisfy((age) => Number.isInteger(age) && age < 60),
      by_model: [{ ...IDLE, ...waits, free_slots: 1 }],
    });
  });

  it('counts the caller’s own jobs, and the providers that they can see', async () => {
    const gateway = await startBusy();
    await pauseQueue(gateway);
    await submitted(gateway);
    const response = await gateway.fetch(SUMMARY, { headers: keyOf(gateway.ben) });
    expect(await response.json()).toMatchObject({
      queued: 0,
      processing: 0,
      oldest_queued_seconds: null,
      paused: true,
      by_model: [],
    });
  });

  it('names a model with jobs and without a provider', async () => {
    const gateway = await startGateway();
    await pauseQueue(gateway);
    await accepted(await submitBatch(gateway, [chatItem({ model: 'away' })]));
    const { by_model: models } = await summaryOf(gateway);
    const waiting = { queued: 1, slots: 0, providers_online: 0 };
    expect(models).toMatchObject([{ model: 'away', service_type: 'llm', ...waiting }]);
  });

  it('counts no provider that takes no work now', async () => {
    const gateway = await startBusy();
    expect((await summaryOf(gateway)).by_model).toEqual([IDLE]);
    await administer(gateway, 'provider.drain', { provider: 'den-pc' });
    expect((await summaryOf(gateway)).by_model).toEqual([]);
    await administer(gateway, 'provider.resume', { provider: 'den-pc' });
    expect((await summaryOf(gateway)).by_model).toEqual([IDLE]);
  });

  it('counts a model of two services once a provider, and their slots together', async () => {
    const gateway = await startGateway();
    const fake = await startFakeOpenAi();
    const services = [
      { baseUrl: fake.baseUrl, slots: 2 },
      { baseUrl: fake.baseUrl, slots: 3 },
    ];
    await gateway.startAgent({ services });
    await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl, slots: 1 }], name: 'attic' });
    const { by_model: models } = await summaryOf(gateway);
    expect(models).toEqual([{ ...IDLE, slots: 6, free_slots: 6, providers_online: 2 }]);
    await fake.close();
  });

  it('says that an administrator has paused the queue', async () => {
    const gateway = await startGateway();
    await pauseQueue(gateway);
    expect((await summaryOf(gateway)).paused).toBe(true);
    await resumeQueue(gateway);
    expect((await summaryOf(gateway)).paused).toBe(false);
  });

  it('counts a slot once, however many models and services share it', async () => {
    const gateway = await startGateway();
    const fake = await startFakeOpenAi({ models: ['one', 'two', 'three'] });
    onTestFinished(() => fake.close());
    const group = { baseUrl: fake.baseUrl, slotGroup: 'card' };
    const services = [
      { ...group, id: 'llm-0', slots: 2 },
      { ...group, id: 'llm-1', slots: 3 },
      { id: 'llm-2', baseUrl: fake.baseUrl, slots: 4 },
    ];
    await gateway.startAgent({ services });
    const { capacity } = await summaryOf(gateway);
    expect(capacity).toEqual({ slots: 7, free_slots: 7, providers_online: 1 });
  });

  it('works while async processing is not enabled', async () => {
    const gateway = await startGateway({ asyncEnabled: false });
    expect(await summaryOf(gateway)).toEqual({
      async_enabled: false,
      worker_stalled: false,
      paused: false,
      queued: 0,
      processing: 0,
      oldest_queued_seconds: null,
      last_tick_at: null,
      capacity: { slots: 0, free_slots: 0, providers_online: 0 },
      by_model: [],
    });
  });

  it('needs a key, and is not counted against the rate limit', async () => {
    const gateway = await startGateway();
    const response = await fetch(gateway.address + SUMMARY);
    expect(await failureOf(response)).toMatchObject({ status: 401, type: 'not_authenticated' });
    const left = async () => (await gateway.fetch(SUMMARY)).headers.get('x-ratelimit-remaining');
    expect(await left()).toBe(await left());
  });
});
