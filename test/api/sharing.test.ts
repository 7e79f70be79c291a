import { describe, expect, it } from 'vitest';
import { startHeldModel } from '../support/held-model.js';
import { connectRawAgent, DOCUMENT, HELLO } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import {
  accepted,
  BATCHES,
  chatItem,
  ended,
  getJob,
  getJson,
  JOBS,
  submit,
  submitBatch,
  submitted,
} from './job-calls.js';
import type { BatchBody } from './job-calls.js';
import { chat, failureOf, post } from './requests.js';
import { CLUB, modelsOf, openCircle, openClub } from './sharing-stage.js';
import type { Circle, Friend } from './sharing-stage.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

/** The reason on a queued job that no provider may run any more. */
const NO_MORE = 'No provider that you may use serves';

async function statusOf(friend: Friend): Promise<number> {
  return (await post(friend, chat())).status;
}

/**
 * The errors for a member who asks for `tiny`: as a call, as a job and as a look-up of the model.
 */
async function refusalsOf(friend: Friend) {
  const calls = [post(friend, chat()), submit(friend), friend.fetch('/v1/models/tiny')];
  return Promise.all(calls.map(async (call) => failureOf(await call)));
}

describe('private by default', () => {
  it('what a member serves is nobody else’s: no model, and a 404 that names nothing', async () => {
    const circle = await openCircle();
    const { fake } = await circle.home(circle.anna, { models: ['tiny', 'tinier'] });
    await circle.found(circle.ben);
    expect(await modelsOf(circle.anna)).toEqual(['tinier', 'tiny']);
    expect(await modelsOf(circle.ben)).toEqual([]);
    for (const refusal of await refusalsOf(circle.ben)) {
      expect(refusal).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
      expect(refusal.message).not.toMatch(/tinier|den-pc|Anna/);
    }
    expect(fake.requests).toEqual([]);
  });
});

describe('a member who is added to a network', () => {
  it('sees at once what is shared with it; owned_by is the owner’s public name', async () => {
    const circle = await openCircle();
    await circle.home(circle.anna);
    await circle.found();
    await circle.share();
    expect(await modelsOf(circle.ben)).toEqual([]);
    await circle.add(circle.ben);
    expect(await modelsOf(circle.ben)).toEqual(['tiny']);
    const model = (await (await circle.ben.fetch('/v1/models/tiny')).json()) as object;
    expect(model).toMatchObject({ id: 'tiny', owned_by: 'Anna', service_type: 'llm' });
  });

  it('sees at once what is shared with it after that', async () => {
    const circle = await openCircle();
    await circle.home(circle.anna);
    await circle.found(circle.ben);
    expect(await statusOf(circle.ben)).toBe(404);
    await circle.share();
    expect(await statusOf(circle.ben)).toBe(200);
  });

  it.each(STOCK_CLIENTS)('calls it with $version, streamed and not', async ({ Sdk }) => {
    const { circle } = await openClub();
    const client = connect(Sdk, circle.gateway, { apiKey: circle.ben.key });
    const asked = client.chat.completions.create(chat());
    const { data, response } = await asked.withResponse();
    expect(data.choices[0]?.message.content).toBe('Hello from den-pc.');
    expect(response.headers.get('x-provider')).toBe('den-pc');
    let text = '';
    for await (const chunk of await client.chat.completions.create(chat({ stream: true }))) {
      text += chunk.choices[0]?.delta.content ?? '';
    }
    expect(text).toBe('Hello from den-pc.');
  });

  it('runs jobs on it, and their results are the member’s own', async () => {
    const { circle, den } = await openClub();
    const { id } = await submitted(circle.ben);
    expect(await ended(circle.ben, id)).toMatchObject({ status: 'PROCESSED' });
    expect(den.fake.requests).toHaveLength(1);
    expect((await circle.anna.fetch(`${JOBS}/${id}`)).status).toBe(404);
  });

  it('is somebody else to the owner’s agent, known by their public name alone', async () => {
    const circle = await openCircle();
    const { address } = circle.gateway;
    const agent = await connectRawAgent(address, await circle.anna.enroll('den-pc'), HELLO);
    await circle.found(circle.ben);
    await circle.share();
    for (const caller of [circle.ben, circle.anna]) {
      const call = post(caller, chat({ model: 'm' }));
      const open = await agent.nextOpen();
      expect(open.caller).toEqual({ name: caller.name, own: caller === circle.anna });
      agent.answer(open.stream, DOCUMENT);
      expect((await call).status).toBe(200);
    }
  });
});

/** Each of these ends Ben's use of Anna's provider; `undo` restores it if possible. */
const ENDINGS: Readonly<
  Record<
    string,
    { end: (circle: Circle) => Promise<unknown>; undo?: (circle: Circle) => Promise<unknown> }
  >
> = {
  'the member is removed from the network': {
    end: (circle) => circle.remove(circle.ben),
    undo: (circle) => circle.add(circle.ben),
  },
  'the provider is unshared': {
    end: (circle) => circle.unshare(),
    undo: (circle) => circle.share(),
  },
  'the owner blocks the member': {
    end: ({ gateway }) => gateway.admin('provider.block', { owner: 'Anna', member: 'Ben' }),
    undo: ({ gateway }) => gateway.admin('provider.unblock', { owner: 'Anna', member: 'Ben' }),
  },
  'the network is deleted': {
    end: ({ gateway }) => gateway.admin('network.delete', { network: CLUB }),
  },
  'the provider is removed': {
    end: ({ gateway }) => gateway.admin('provider.remove', { provider: 'den-pc' }),
  },
  'its owner is disabled': {
    end: ({ gateway }) => gateway.admin('user.disable', { member: 'Anna' }),
  },
};

describe.each(Object.entries(ENDINGS))('once %s', (_, { end, undo }) => {
  it('the very next call is 404, and the models are gone from every list', async () => {
    const { circle, den } = await openClub();
    expect(await statusOf(circle.ben)).toBe(200);
    await end(circle);
    for (const { status, type } of await refusalsOf(circle.ben)) {
      expect([status, type]).toEqual([404, 'no_provider']);
    }
    expect(await modelsOf(circle.ben)).toEqual([]);
    expect(den.fake.requests).toHaveLength(1);
    if (undo === undefined) return;
    await undo(circle);
    expect(await statusOf(circle.ben)).toBe(200);
  });

  it('queued jobs and batch items fail no_provider within 2 s, with the reason', async () => {
    const { circle, den } = await openClub();
    await circle.gateway.admin('queue.pause', {});
    const { id } = await submitted(circle.ben);
    const items = await submitBatch(circle.ben, [chatItem(), chatItem()]);
    const batch = await accepted<BatchBody>(items);
    await end(circle);
    const told = performance.now();
    const job = await ended(circle.ben, id);
    expect(performance.now() - told).toBeLessThan(2_000);
    expect(job).toMatchObject({ status: 'FAILED', error: { type: 'no_provider' } });
    expect(job.error?.message).toContain(NO_MORE);
    expect(job.error?.message).not.toMatch(/den-pc|Anna/);
    const path = `${BATCHES}/${batch.id}`;
    await until(async () => (await getJson<BatchBody>(circle.ben, path)).failed === 2);
    expect(den.fake.requests).toEqual([]);
  });
});

describe('while a member’s work is under way', () => {
  it('removal lets it end well; what waits for its slot is refused at once', async () => {
    const held = await startHeldModel();
    const { circle } = await openClub({ services: [{ baseUrl: held.server.baseUrl, slots: 3 }] });
    const call = post(circle.ben, chat());
    const stream = post(circle.ben, chat({ stream: true }));
    await until(() => held.server.inFlight === 2);
    const running = await submitted(circle.ben);
    await until(() => held.server.inFlight === 3);
    const waiting = post(circle.ben, chat());
    const queued = await submitted(circle.ben);
    await circle.remove(circle.ben);
    expect(await failureOf(await waiting)).toMatchObject({ status: 404, type: 'no_provider' });
    expect(await ended(circle.ben, queued.id)).toMatchObject({ status: 'FAILED' });
    expect(await getJob(circle.ben, running.id)).toMatchObject({ status: 'PROCESSING' });
    held.release();
    expect((await call).status).toBe(200);
    expect(await (await stream).text()).toContain('[DONE]');
    expect(await ended(circle.ben, running.id)).toMatchObject({ status: 'PROCESSED' });
    expect(held.server.requests).toHaveLength(3);
  });

  it('a retry of a job that failed for it fails again, until it is shared again', async () => {
    // With shorter leases the coordinator checks queued jobs more often.
    const { circle } = await openClub({}, { jobLeaseMs: 3_000 });
    await circle.gateway.admin('queue.pause', {});
    const { id } = await submitted(circle.ben);
    await circle.unshare();
    await ended(circle.ben, id);
    await circle.gateway.admin('queue.resume', {});
    const retry = () => circle.ben.fetch(`${JOBS}/${id}/retry`, { method: 'POST' });
    expect((await retry()).status).toBe(202);
    expect(await ended(circle.ben, id)).toMatchObject({ status: 'FAILED' });
    await circle.share();
    expect((await retry()).status).toBe(202);
    expect(await ended(circle.ben, id)).toMatchObject({ status: 'PROCESSED' });
  });
});
