import { Budget } from '@inference-gateway/coordinator/core/usage/budget';
import { ApiError } from '@inference-gateway/shared/errors';
import { expect, it } from 'vitest';
import { getJob, pauseQueue, resumeQueue, submitted } from '../../../api/job-calls.js';
import { RawCaller } from '../../../api/raw-caller.js';
import { chat, failureOf, post } from '../../../api/requests.js';
import { startGateway } from '../../../support/gateway.js';
import { connectJobAgent } from '../../../support/job-agent.js';
import { connectRawAgent, HELLO } from '../../../support/raw-agent.js';
import { until } from '../../../support/until.js';

const MIB = 1024 * 1024;
const limits = { totalBytes: 100, memberBytes: 60 };

it('a member takes up as much as theirs, and no byte more', () => {
  const budget = new Budget(limits);
  const first = budget.open('anna');
  expect(first.tryAdd(59)).toBeNull();
  expect(budget.open('anna').tryAdd(1)).toBeNull();
  const spent = budget.open('anna').tryAdd(1);
  expect(spent).toMatchObject({ code: 'capacity_exhausted', retryAfterS: 5 });
  expect(spent?.message).toContain('Your requests');
});

it('what one member holds leaves the rest to the others, until all is taken', () => {
  const budget = new Budget(limits);
  budget.open('anna').add(60);
  const bens = budget.open('ben');
  expect(bens.tryAdd(40)).toBeNull();
  expect(bens.tryAdd(1)?.message).toContain('The gateway holds');
});

it('what is given back is free again, once, however often it is given back', () => {
  const budget = new Budget(limits);
  const share = budget.open('anna');
  const stays = budget.open('ben');
  stays.add(1);
  share.add(50);
  share.release();
  share.release();
  const other = budget.open('anna');
  other.add(60);
  const refused = budget.open('anna');
  expect(refused.tryAdd(1)).not.toBeNull();
  refused.release();
  other.release();
  expect(budget.open('ben').tryAdd(59)).toBeNull();
  expect(budget.open('carl').tryAdd(40)).toBeNull();
});

it('what was refused counts until its request gives it back', () => {
  const budget = new Budget(limits);
  const share = budget.open('anna');
  expect(() => share.add(61)).toThrow(ApiError);
  const late = budget.open('anna');
  expect(late.tryAdd(1)).not.toBeNull();
  share.release();
  late.release();
  expect(budget.open('anna').tryAdd(60)).toBeNull();
});

it('one member’s slow calls hold half of the memory, and leave the other half', async () => {
  const gateway = await startGateway({ maxJsonBytes: MIB, maxBodyMemoryBytes: 70 * MIB });
  const services = HELLO.services.map((service) => ({ ...service, slots: 64 }));
  const agent = await connectRawAgent(gateway.address, await gateway.anna.enroll('pc'), {
    services,
  });
  const body = chat({ model: 'm', padding: 'x'.repeat(0.98 * MIB) });
  for (let i = 0; i < 35; i++) {
    post(gateway, body).catch(() => {});
    await agent.nextOpen();
  }
  expect((await post(gateway, body)).status).toBe(503);
  const authorization = `Bearer ${gateway.ben.key}`;
  expect((await post(gateway, body, { headers: { authorization } })).status).toBe(404);
});

it('the answers of jobs and the bodies of calls take up the same memory', async () => {
  const gateway = await startGateway({ maxJsonBytes: MIB, maxBodyMemoryBytes: 1.5 * MIB });
  const { agent } = await connectJobAgent(gateway);
  await submitted(gateway, { model: 'm' });
  const { stream } = await agent.nextOpen();
  agent.send({ t: 'HEAD', stream, status: 200, content_type: 'application/json' });
  const body = chat({ model: 'unknown', padding: 'x'.repeat(0.9 * MIB) });
  expect((await post(gateway, body)).status).toBe(404);
  const half = Buffer.alloc(64 * 1024, ' ');
  for (let i = 1; i <= 12; i++) agent.data(stream, half);
  const isRefused = async (): Promise<boolean> => (await post(gateway, body)).status === 503;
  await until(isRefused, { what: 'the whole answer is held' });
  expect(await failureOf(await post(gateway, body))).toMatchObject({ code: 'capacity_exhausted' });
});

it('the requests of jobs that no agent has accepted take up the same memory', async () => {
  const gateway = await startGateway({ maxJsonBytes: MIB, maxBodyMemoryBytes: 1.5 * MIB });
  const { agent } = await connectJobAgent(gateway);
  const padding = 'x'.repeat(0.9 * MIB);
  await submitted(gateway, { model: 'm', padding });
  const { stream } = await agent.nextOpen(false);
  const body = chat({ model: 'unknown', padding });
  expect(await failureOf(await post(gateway, body))).toMatchObject({ code: 'capacity_exhausted' });
  agent.send({ t: 'ACCEPT', stream });
  await until(async () => (await post(gateway, body)).status === 404, { what: 'room for a call' });
});

it('no job is claimed for whose request calls have left no memory', async () => {
  const gateway = await startGateway({ maxJsonBytes: MIB, maxBodyMemoryBytes: 1.9 * MIB });
  const { agent } = await connectJobAgent(gateway);
  await pauseQueue(gateway);
  const first = await submitted(gateway, { model: 'm', padding: 'x'.repeat(0.4 * MIB) });
  const second = await submitted(gateway, { model: 'm', padding: 'x'.repeat(0.9 * MIB) });
  const sendSlowly = (): RawCaller => {
    const caller = new RawCaller(gateway).post(gateway.anna.key, { 'content-length': MIB });
    caller.socket.write(' '.repeat(MIB - 1));
    return caller;
  };
  let slow = sendSlowly();
  let refusedInARow = 0;
  const isFull = async (): Promise<boolean> => {
    const padding = 'x'.repeat(0.99 * MIB);
    const { status } = await post(gateway, chat({ model: 'unknown', padding }));
    refusedInARow = status === 503 ? refusedInARow + 1 : 0;
    if (slow.received === '') return refusedInARow === 2;
    // The slow body arrived second, and was refused because of this one.
    slow = sendSlowly();
    refusedInARow = 0;
    return false;
  };
  await until(isFull, { what: 'memory that is taken' });
  await resumeQueue(gateway);
  const { stream } = await agent.nextOpen(false);
  expect((await getJob(gateway, first.id)).status).toBe('PROCESSING');
  expect((await getJob(gateway, second.id)).status).toBe('QUEUED');
  slow.socket.destroy();
  agent.send({ t: 'ACCEPT', stream });
  await agent.nextOpen();
  expect((await getJob(gateway, second.id)).status).toBe('PROCESSING');
});
