import { describe, expect, it } from 'vitest';
import { ended, getJob, JOBS, submitted } from '../api/job-calls.js';
import { administer, chat, failureOf, post } from '../api/requests.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import {
  claimOf,
  connectJobAgent,
  heartbeat,
  offerOf,
  resumedStream,
  resumptionsOf,
  verdictOf,
  verdictsOf,
} from '../support/job-agent.js';
import { DOCUMENT } from '../support/raw-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { query, usageRows } from '../support/usage-rows.js';

const PROVIDER = { provider: 'pc' };

/** From the file: its caller may have no key any more. */
function statusOf(gateway: TestGateway, id: string): string | undefined {
  const rows = query<{ id: string; status: string }>(gateway, 'select id, status from jobs');
  return rows.find((row) => row.id === id)?.status;
}

describe('a job that runs goes on', () => {
  it('when its agent’s link is kicked: the agent brings it back', async () => {
    const gateway = await startGateway();
    const { agent, token } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const open = await agent.nextOpen();
    await administer(gateway, 'provider.kick', PROVIDER);
    expect(await agent.closed()).toBe(1012);
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
    const resume = [offerOf(open, 'running')];
    const { agent: back } = await connectJobAgent(gateway, { token, resume });
    expect(await resumptionsOf(back)).toMatchObject([{ action: 'continue' }]);
    back.answer(await resumedStream(back), DOCUMENT);
    expect(await verdictOf(back, open)).toBe('stored');
    expect(await getJob(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  });

  it('when its agent’s link is kicked, from the beginning where the agent lost it', async () => {
    const gateway = await startGateway();
    const { agent, token } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    await agent.nextOpen();
    await until(() => query(gateway, 'select id from jobs where accepted_at > 0').length === 1);
    await administer(gateway, 'provider.kick', PROVIDER);
    await agent.closed();
    const { agent: back } = await connectJobAgent(gateway, { token, instance: 'restarted' });
    await until(async () => (await getJob(gateway, id)).status === 'QUEUED');
    expect((await getJob(gateway, id)).waiting_reason).toContain('again');
    await administer(gateway, 'queue.requeue-stuck', {});
    back.answer((await back.nextOpen()).stream, DOCUMENT);
    expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 2 });
  });

  it('when its provider is drained, and the next one waits', async () => {
    const gateway = await startGateway();
    const { agent } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const open = await agent.nextOpen();
    await administer(gateway, 'provider.drain', PROVIDER);
    const next = await submitted(gateway, { model: 'm' });
    agent.answer(open.stream, DOCUMENT);
    expect((await ended(gateway, id)).status).toBe('PROCESSED');
    expect((await getJob(gateway, next.id)).status).toBe('QUEUED');
    expect(agent.hasOpen).toBe(false);
    await administer(gateway, 'provider.resume', PROVIDER);
    agent.answer((await agent.nextOpen()).stream, DOCUMENT);
    expect((await ended(gateway, next.id)).status).toBe('PROCESSED');
  });

  it('when its caller’s key is revoked, who then cannot read it', async () => {
    const gateway = await startGateway();
    const { agent } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const open = await agent.nextOpen();
    await administer(gateway, 'key.revoke', { key: gateway.anna.keyId });
    const refused = await failureOf(await gateway.fetch(`${JOBS}/${id}`));
    expect(refused).toMatchObject({ status: 401, type: 'not_authenticated' });
    agent.answer(open.stream, DOCUMENT);
    expect(await verdictOf(agent, open)).toBe('stored');
    expect(statusOf(gateway, id)).toBe('PROCESSED');
    expect(usageRows(gateway)).toMatchObject([{ outcome: 'ok', keyId: gateway.anna.keyId }]);
  });
});

/** The job of an agent that has gone, in the queue again. */
async function lostJob(gateway: TestGateway) {
  const { agent, token } = await connectJobAgent(gateway);
  const { id } = await submitted(gateway, { model: 'm' });
  const open = await agent.nextOpen();
  agent.socket.terminate();
  await until(async () => (await getJob(gateway, id)).status === 'QUEUED');
  return { id, token, open };
}

describe('a link that is lost for longer than a lease', () => {
  it('costs no result that nobody else has begun to make', async () => {
    const gateway = await startGateway({ jobLeaseMs: 300 });
    const { id, token, open } = await lostJob(gateway);
    const resume = [offerOf(open)];
    const { agent } = await connectJobAgent(gateway, { token, resume });
    agent.answer(await resumedStream(agent), DOCUMENT);
    expect(await verdictOf(agent, open)).toBe('stored');
    expect(await getJob(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
    expect(usageRows(gateway)).toHaveLength(1);
  });

  it('leaves the job to the provider that has it now', async () => {
    const gateway = await startGateway({ jobLeaseMs: 300 });
    const { id, token, open } = await lostJob(gateway);
    const { agent: other } = await connectJobAgent(gateway, { name: 'other' });
    await administer(gateway, 'queue.requeue-stuck', {});
    const second = await other.nextOpen();
    const { agent: back } = await connectJobAgent(gateway, { token, resume: [offerOf(open)] });
    expect(await resumptionsOf(back)).toMatchObject([{ action: 'discard' }]);
    other.answer(second.stream, { ...DOCUMENT, id: 'of the other' });
    expect(await ended(gateway, id)).toMatchObject({ attempts: 2, result: { id: 'of the other' } });
  });
});

it('a result that is whole is taken after its run’s deadline, too', async () => {
  const gateway = await startGateway({ jobDeadlineMs: 300 });
  const { agent, token } = await connectJobAgent(gateway);
  const { id } = await submitted(gateway, { model: 'm' });
  const open = await agent.nextOpen();
  const deadline = `select run_deadline as at from jobs where run_deadline > 0`;
  const { at } = await until(() => query<{ at: number }>(gateway, deadline)[0]);
  agent.socket.terminate();
  await until(() => Date.now() > at);
  const resume = [offerOf(open)];
  const { agent: back } = await connectJobAgent(gateway, { token, resume });
  const stream = await resumedStream(back);
  await heartbeat(back, [claimOf(open)], 'spooled');
  back.answer(stream, DOCUMENT);
  expect(await verdictOf(back, open)).toBe('stored');
  expect(await getJob(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
});

describe('a coordinator that is stopped and started again', () => {
  it('takes the answer of a job that ran on meanwhile, once', async () => {
    const dataDir = await temporaryFolder();
    const first = await startGateway({ dataDir });
    const { agent, token } = await connectJobAgent(first);
    const { id } = await submitted(first, { model: 'm' });
    const open = await agent.nextOpen();
    await first.stop();
    expect(await agent.closed()).toBe(1012);
    const second = await startGateway({ dataDir });
    expect((await getJob(second, id)).status).toBe('PROCESSING');
    const resume = [offerOf(open)];
    const { agent: back } = await connectJobAgent(second, { token, resume });
    back.answer(await resumedStream(back), DOCUMENT);
    expect(await verdictOf(back, open)).toBe('stored');
    expect(await getJob(second, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
    expect(usageRows(second)).toHaveLength(1);
    const { agent: again } = await connectJobAgent(second, { token, resume });
    expect(await resumptionsOf(again)).toMatchObject([{ action: 'discard' }]);
  });

  it('sweeps no lease that has ended meanwhile: nobody could renew it', async () => {
    const dataDir = await temporaryFolder();
    const first = await startGateway({ dataDir, jobLeaseMs: 1_000 });
    const { agent, token } = await connectJobAgent(first);
    const { id } = await submitted(first, { model: 'm' });
    const open = await agent.nextOpen();
    await first.stop();
    const lease = () => query<{ at: number }>(first, 'select lease_until as at from jobs')[0]?.at;
    await until(() => (lease() ?? 0) < Date.now(), { what: 'the lease to end' });
    const second = await startGateway({ dataDir, jobLeaseMs: 1_000 });
    await until(() => (lease() ?? 0) > Date.now() + 25_000, { what: 'a new lease, and 30 s' });
    expect(await getJob(second, id)).toMatchObject({ status: 'PROCESSING', attempts: 1 });
    const resume = [offerOf(open, 'running')];
    const { agent: back } = await connectJobAgent(second, { token, resume });
    back.answer(await resumedStream(back), DOCUMENT);
    expect(await ended(second, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  });

  it('lets a call end, gives out no more jobs, and runs the queue afterwards', async () => {
    const dataDir = await temporaryFolder();
    const first = await startGateway({ dataDir, drainMs: 5_000 });
    const { agent, token } = await connectJobAgent(first, { slots: 2 });
    const running = await submitted(first, { model: 'm' });
    const open = await agent.nextOpen();
    const waiting = await submitted(first, { model: 'm' });
    const call = post(first, chat({ model: 'm' }));
    const sync = await agent.nextOpen();
    expect(sync.kind).toBe('sync');
    const stopping = first.stop();
    agent.answer(open.stream, DOCUMENT);
    expect(await verdictOf(agent, open)).toBe('stored');
    agent.answer(sync.stream, DOCUMENT);
    expect((await call).status).toBe(200);
    await stopping;
    expect(agent.hasOpen).toBe(false);
    const second = await startGateway({ dataDir });
    expect((await getJob(second, running.id)).status).toBe('PROCESSED');
    expect((await getJob(second, waiting.id)).status).toBe('QUEUED');
    const { agent: back } = await connectJobAgent(second, { token });
    back.answer((await back.nextOpen()).stream, DOCUMENT);
    expect(await ended(second, waiting.id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  });

  it('while an answer is on its way takes it from its first byte again', async () => {
    const dataDir = await temporaryFolder();
    const first = await startGateway({ dataDir });
    const { agent, token } = await connectJobAgent(first);
    const { id } = await submitted(first, { model: 'm' });
    const open = await agent.nextOpen();
    agent.send({ t: 'HEAD', stream: open.stream, status: 200, content_type: 'application/json' });
    agent.data(open.stream, '{"id":"half');
    await first.stop();
    const second = await startGateway({ dataDir });
    const resume = [offerOf(open, 'running')];
    const { agent: back } = await connectJobAgent(second, { token, resume });
    back.answer(await resumedStream(back), DOCUMENT);
    expect((await ended(second, id)).result).toMatchObject({ id: DOCUMENT.id });
    await until(() => verdictsOf(back, claimOf(open))[0] === 'stored');
  });
});
