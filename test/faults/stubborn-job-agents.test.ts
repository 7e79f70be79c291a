import { LINK } from '@inference-gateway/shared/protocol/version';
import { describe, expect, it } from 'vitest';
import { act, ended, getJob, JOBS, submitted } from '../api/job-calls.js';
import { administer } from '../api/requests.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import {
  answerJobs,
  claimOf,
  connectJobAgent,
  heartbeat,
  onEachOpen,
  resetsOf,
} from '../support/job-agent.js';
import { FULL } from '../support/process-stage.js';
import type { RawAgent } from '../support/raw-agent.js';
import { DOCUMENT } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { query, usageRows } from '../support/usage-rows.js';

/** Agents of one owner; more than it takes to be refused often in a short time. */
const CROWD = 6;

const opensOf = (agent: RawAgent) => agent.messages.filter(({ t }) => t === 'OPEN').length;

async function connectCrowd(gateway: TestGateway): Promise<RawAgent[]> {
  const names = Array.from({ length: CROWD }, (_, i) => `pc-${i}`);
  const crowd = await Promise.all(names.map((name) => connectJobAgent(gateway, { name })));
  return crowd.map(({ agent }) => agent);
}

/** Refuses all work; counts how often. */
function refuseAll(agents: readonly RawAgent[], refuse: (agent: RawAgent, stream: number) => void) {
  const refused = { times: 0 };
  for (const agent of agents) {
    onEachOpen(agent, ({ stream }) => {
      refused.times += 1;
      refuse(agent, stream);
    });
  }
  return refused;
}

/** Makes agents eligible again immediately, which a refusal would exclude for 30 s. */
async function forgiveUntil(gateway: TestGateway, isOver: () => Promise<boolean> | boolean) {
  await until(
    async () => {
      await administer(gateway, 'queue.requeue-stuck', {});
      return isOver();
    },
    { timeoutMs: 15_000, what: 'the refusals to have an effect' },
  );
}

describe('a job whose agent never accepts it', () => {
  it('is taken back after the time for it, and ends on another provider', async () => {
    const gateway = await startGateway({ acceptMs: 100 });
    const { agent: deaf } = await connectJobAgent(gateway, { name: 'deaf' });
    const { id } = await submitted(gateway, { model: 'm' });
    const { stream } = await deaf.nextOpen(false);
    const { agent: good } = await connectJobAgent(gateway, { name: 'good' });
    answerJobs(good);
    expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
    expect(resetsOf(deaf, stream)).toEqual(['DEADLINE']);
    expect(opensOf(deaf)).toBe(1);
  });

  it('has failed when that has happened more than ten times', async () => {
    const gateway = await startGateway({ acceptMs: 50, jobMaxAttempts: 1 });
    const crowd = await connectCrowd(gateway);
    const refused = refuseAll(crowd, () => {});
    for (const agent of crowd) confirmStops(agent);
    const { id } = await submitted(gateway, { model: 'm' });
    await forgiveUntil(gateway, async () => (await getJob(gateway, id)).status === 'FAILED');
    expect(refused.times).toBe(11);
    const job = await getJob(gateway, id);
    expect(job).toMatchObject({ attempts: 1, error: { code: 'max_retries_exhausted' } });
    expect(job.error?.message).toContain('did not take the work in time');
  });
});

describe('a job that every agent refuses', () => {
  it.each(['busy', 'no_model', 'type_mismatch', 'bad_request'] as const)(
    'as %s has failed after more than ten refusals',
    async (reason) => {
      const gateway = await startGateway({ jobMaxAttempts: 1 });
      const refused = refuseAll(await connectCrowd(gateway), (agent, stream) =>
        agent.send({ t: 'REJECT', stream, reason }),
      );
      const { id } = await submitted(gateway, { model: 'm' });
      await forgiveUntil(gateway, async () => (await getJob(gateway, id)).status === 'FAILED');
      expect(refused.times).toBe(11);
      const { error } = await getJob(gateway, id);
      expect(error).toMatchObject({ code: 'max_retries_exhausted', type: 'upstream_error' });
      expect(usageRows(gateway)).toMatchObject([{ outcome: 'failed', attempts: 1 }]);
    },
  );

  it.each(['paused', 'draining'] as const)(
    'as %s has not failed, however often: the owner has chosen it',
    async (reason) => {
      const gateway = await startGateway({ jobMaxAttempts: 1 });
      const crowd = await connectCrowd(gateway);
      const refused = refuseAll(crowd, (agent, stream) =>
        agent.send({ t: 'REJECT', stream, reason }),
      );
      const { id } = await submitted(gateway, { model: 'm' });
      await until(() => refused.times > 15);
      const job = await until(async () => {
        const seen = await getJob(gateway, id);
        return seen.status === 'QUEUED' ? seen : null;
      });
      expect(job).toMatchObject({ attempts: 0, error: null });
      const { agent: good } = await connectJobAgent(gateway, { name: 'good' });
      answerJobs(good);
      expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
    },
  );

  it('is not offered to the same agent again for 30 s, and is to another', async () => {
    const gateway = await startGateway();
    const { agent: grumpy } = await connectJobAgent(gateway, { name: 'grumpy' });
    refuseAll([grumpy], (agent, stream) => agent.send({ t: 'REJECT', stream, reason: 'busy' }));
    const { id } = await submitted(gateway, { model: 'm' });
    const excluded = 'select excluded_until - queued_at as ms from jobs where excluded_until > 0';
    const { ms } = await until(() => query<{ ms: number }>(gateway, excluded)[0]);
    expect(ms).toBeGreaterThanOrEqual(30_000);
    const { agent: good } = await connectJobAgent(gateway, { name: 'good' });
    answerJobs(good);
    expect((await ended(gateway, id)).status).toBe('PROCESSED');
    expect(opensOf(grumpy)).toBe(1);
  });
});

describe('a job that is canceled while its agent ignores that', () => {
  it('keeps its slot until the agent confirms, and not longer', async () => {
    const gateway = await startGateway();
    const { agent } = await connectJobAgent(gateway, { slots: 1 });
    const first = await submitted(gateway, { model: 'm' });
    const { stream } = await agent.nextOpen();
    await act(gateway, `${JOBS}/${first.id}/cancel`);
    await until(() => resetsOf(agent, stream).includes('CANCELED'));
    const second = await submitted(gateway, { model: 'm' });
    const { waiting_reason: reason } = await getJob(gateway, second.id);
    expect(reason).toContain('busy');
    await tickTwice(gateway);
    expect(opensOf(agent)).toBe(1);
    agent.send({ t: 'RESET', stream, code: 'CANCELED' });
    const open = await agent.nextOpen();
    agent.answer(open.stream, DOCUMENT);
    expect((await ended(gateway, second.id)).status).toBe('PROCESSED');
  });

  it.runIf(FULL)('loses its slot after 15 s at the latest', async () => {
    const gateway = await startGateway();
    const { agent } = await connectJobAgent(gateway, { slots: 1 });
    const first = await submitted(gateway, { model: 'm' });
    const late = await agent.nextOpen();
    await act(gateway, `${JOBS}/${first.id}/cancel`);
    const canceledAt = performance.now();
    const second = await submitted(gateway, { model: 'm' });
    await until(() => agent.hasOpen, { timeoutMs: LINK.stopConfirmMs + 3_000 });
    expect(performance.now() - canceledAt).toBeGreaterThan(LINK.stopConfirmMs - 500);
    agent.answer((await agent.nextOpen()).stream, DOCUMENT);
    expect((await ended(gateway, second.id)).status).toBe('PROCESSED');
    // Its word comes late, and is no violation.
    agent.answer(late.stream, DOCUMENT);
    const third = await submitted(gateway, { model: 'm' });
    agent.answer((await agent.nextOpen()).stream, DOCUMENT);
    expect((await ended(gateway, third.id)).status).toBe('PROCESSED');
  });
});

it('a job whose agent only says that it lives ends with its deadline', async () => {
  const gateway = await startGateway({ jobMaxAttempts: 1, jobDeadlineMs: 400 });
  const { agent } = await connectJobAgent(gateway);
  const { id } = await submitted(gateway, { model: 'm' });
  const open = await agent.nextOpen();
  await until(async () => {
    await heartbeat(agent, [claimOf(open)]);
    agent.send({ t: 'PROGRESS', stream: open.stream, phase: 'loading' });
    return (await getJob(gateway, id)).finished_at !== null;
  });
  const { status, error } = await getJob(gateway, id);
  expect([status, error?.code]).toEqual(['FAILED', 'max_retries_exhausted']);
  expect(error?.message).toContain('within 0.4 s');
  expect(resetsOf(agent, open.stream)).toEqual(['DEADLINE']);
});

/** As an agent does that has heard the RESET, and only did not take the work. */
function confirmStops(agent: RawAgent): void {
  agent.socket.on('message', (data: Buffer, isBinary: boolean) => {
    const message = isBinary
      ? null
      : (JSON.parse(data.toString()) as { t: string; stream: number });
    if (message?.t === 'RESET') {
      agent.send({ t: 'RESET', stream: message.stream, code: 'CANCELED' });
    }
  });
}

/** The dispatcher has looked twice since. */
async function tickTwice(gateway: TestGateway): Promise<void> {
  const lastTick = async () => {
    const response = await gateway.fetch('/api/inference/queue/summary');
    return ((await response.json()) as { last_tick_at: number | string }).last_tick_at;
  };
  for (let ticks = 0; ticks < 2; ticks++) {
    const before = await lastTick();
    await until(async () => (await lastTick()) !== before, { what: 'a tick' });
  }
}
