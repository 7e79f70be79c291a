import { describe, expect, it } from 'vitest';
import { connectRawAgent, HELLO, RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { startHeldModel } from '../support/held-model.js';
import { ended, getJob, submit, submitted } from './job-calls.js';
import { chat, failureOf, post } from './requests.js';
import { modelsOf, openCircle, openClub } from './sharing-stage.js';
import type { Friend } from './sharing-stage.js';

async function statusOf(friend: Friend, headers: Record<string, string> = {}): Promise<number> {
  return (await post(friend, chat(), { headers })).status;
}

describe('a share with one member', () => {
  it('is theirs alone, whatever network the others are in', async () => {
    const circle = await openCircle();
    await circle.home(circle.anna);
    const cleo = await circle.newcomer('Cleo');
    await circle.found(circle.ben, cleo);
    await circle.share({ user: 'Cleo' });
    expect(await modelsOf(cleo)).toEqual(['tiny']);
    expect(await statusOf(cleo)).toBe(200);
    expect(await modelsOf(circle.ben)).toEqual([]);
    expect(await statusOf(circle.ben)).toBe(404);
  });

  it('stays where the member leaves a network with which the same is shared', async () => {
    const { circle } = await openClub();
    await circle.share({ user: 'Ben' });
    await circle.remove(circle.ben);
    expect(await statusOf(circle.ben)).toBe(200);
  });

  it('gives nothing to a member whom the owner blocks', async () => {
    const { circle } = await openClub();
    await circle.share({ user: 'Ben' });
    await circle.gateway.admin('provider.block', { owner: 'Anna', member: 'Ben' });
    expect(await modelsOf(circle.ben)).toEqual([]);
    expect(await statusOf(circle.ben)).toBe(404);
  });

  it('does not bind the member: what is theirs stays private', async () => {
    const { circle } = await openClub();
    await circle.home(circle.ben, { name: 'bens-pc', models: ['bens'] });
    expect(await modelsOf(circle.anna)).toEqual(['tiny']);
    expect(await modelsOf(circle.ben)).toEqual(['bens', 'tiny']);
  });
});

describe('a member who is disabled', () => {
  it('is refused with 401 disabled_api_key everywhere, and is let in again', async () => {
    const { circle, den } = await openClub();
    await circle.gateway.admin('user.disable', { member: 'Ben' });
    const calls = ['/v1/models', '/v1/jobs', '/v1/batches', '/api/inference/queue/summary'];
    const asked = calls.map((path) => circle.ben.fetch(path));
    for (const call of [...asked, post(circle.ben, chat()), submit(circle.ben)]) {
      const refusal = await failureOf(await call);
      const expected = { status: 401, type: 'not_authenticated', code: 'disabled_api_key' };
      expect(refusal).toMatchObject(expected);
    }
    expect(den.fake.requests).toEqual([]);
    await circle.gateway.admin('user.enable', { member: 'Ben' });
    expect(await modelsOf(circle.ben)).toEqual(['tiny']);
    expect(await statusOf(circle.ben)).toBe(200);
  });

  it('loses the jobs that are queued, and none that runs', async () => {
    const held = await startHeldModel();
    const { circle } = await openClub({ services: [{ baseUrl: held.server.baseUrl, slots: 1 }] });
    const { id: running } = await submitted(circle.ben);
    await until(() => held.server.inFlight === 1);
    const { id: queued } = await submitted(circle.ben);
    await circle.gateway.admin('user.disable', { member: 'Ben' });
    const stateOf = async (job: string) => (await circle.gateway.admin('job.show', { job })).status;
    await until(async () => (await stateOf(queued)) === 'FAILED', { timeoutMs: 2_000 });
    expect(await stateOf(running)).toBe('PROCESSING');
    held.release();
    await until(async () => (await stateOf(running)) === 'PROCESSED');
    await circle.gateway.admin('user.enable', { member: 'Ben' });
    expect(await getJob(circle.ben, queued)).toMatchObject({ error: { type: 'no_provider' } });
  });

  it('is served by nobody: their agent’s link ends with 4009 and is refused with 403', async () => {
    const circle = await openCircle();
    const token = await circle.anna.enroll('den-pc');
    const agent = await connectRawAgent(circle.gateway.address, token);
    await circle.found(circle.ben);
    await circle.share();
    expect(await modelsOf(circle.ben)).toEqual(['m']);
    const { links_closed: closed } = await circle.gateway.admin('user.disable', { member: 'Anna' });
    expect(closed).toBe(1);
    expect(await modelsOf(circle.ben)).toEqual([]);
    expect(await agent.closed()).toBe(4009);
    expect(await refusalOf(circle.gateway.address, token)).toBe(403);
    await circle.gateway.admin('user.enable', { member: 'Anna' });
    expect(await modelsOf(circle.ben)).toEqual([]);
    await connectRawAgent(circle.gateway.address, token, HELLO);
    expect(await modelsOf(circle.ben)).toEqual(['m']);
  });
});

/** The HTTP status of a refused link. */
async function refusalOf(address: string, token: string): Promise<number | undefined> {
  const { socket } = new RawAgent(address, token);
  return new Promise((done) => {
    socket.on('unexpected-response', (_request, { statusCode }) => done(statusCode));
  });
}

describe('a provider that nobody has approved', () => {
  it('serves nobody, its owner neither, until an administrator approves it', async () => {
    const circle = await openCircle({ providerApproval: true });
    const { fake } = await circle.home(circle.anna);
    await circle.found(circle.ben);
    await circle.share();
    for (const friend of [circle.anna, circle.ben]) {
      expect(await modelsOf(friend)).toEqual([]);
      expect(await statusOf(friend)).toBe(404);
      expect((await submit(friend)).status).toBe(404);
    }
    expect(fake.requests).toEqual([]);
    await circle.gateway.admin('provider.approve', { provider: 'den-pc' });
    for (const friend of [circle.anna, circle.ben]) {
      expect(await modelsOf(friend)).toEqual(['tiny']);
      expect(await statusOf(friend)).toBe(200);
    }
  });
});

describe('x-provider-scope: own, and keys whose scope is own', () => {
  it('never leave the caller’s machines', async () => {
    const { circle, den } = await openClub();
    const { key } = await circle.keyOf('Ben', 'own');
    const scoped = [
      { 'x-provider-scope': 'own' },
      { authorization: `Bearer ${key}` },
      { authorization: `Bearer ${key}`, 'x-provider-scope': 'any' },
    ];
    for (const headers of scoped) {
      expect(await statusOf(circle.ben, headers)).toBe(404);
      expect((await submit(circle.ben, {}, { headers })).status).toBe(404);
      const list = await circle.ben.fetch('/v1/models', { headers });
      expect(await list.json()).toEqual({ object: 'list', data: [] });
    }
    expect(den.fake.requests).toEqual([]);
  });

  it('wait for the caller’s own machine though a shared one is free', async () => {
    const held = await startHeldModel();
    const { circle, den } = await openClub();
    const slow = { baseUrl: held.server.baseUrl, slots: 1 };
    await circle.home(circle.ben, { name: 'bens-pc', services: [slow] });
    const busy = post(circle.ben, chat());
    await until(() => held.server.inFlight === 1);
    const headers = { 'x-provider-scope': 'own' };
    const job = await submitted(circle.ben, {}, { headers });
    expect(job).toMatchObject({ status: 'QUEUED' });
    expect(job.waiting_reason).toMatch(/^The only slot for 'tiny' is busy/);
    const free = await submitted(circle.ben);
    expect(await ended(circle.ben, free.id)).toMatchObject({ status: 'PROCESSED' });
    expect(den.fake.requests).toHaveLength(1);
    held.release();
    expect((await busy).status).toBe(200);
    expect(await ended(circle.ben, job.id)).toMatchObject({ status: 'PROCESSED' });
    expect(den.fake.requests).toHaveLength(1);
  });
});
