/** A job that finds a free slot is claimed in the commit that creates it. */
import type { Config } from '@inference-gateway/coordinator/config/config';
import { expect, test } from 'vitest';
import { startGateway } from '../../support/gateway.js';
import type { TestGateway } from '../../support/gateway.js';
import { connectJobAgent } from '../../support/job-agent.js';
import { DOCUMENT } from '../../support/raw-agent.js';
import type { RawAgent } from '../../support/raw-agent.js';
import { until } from '../../support/until.js';

interface Stage {
  readonly gateway: TestGateway;
  readonly agent: RawAgent;
}

/** A gateway with one agent that has this many slots. */
async function stage(slots: number, settings: Partial<Config> = {}): Promise<Stage> {
  const gateway = await startGateway(settings);
  const { agent } = await connectJobAgent(gateway, { slots });
  await until(async () => (await summary(gateway)).last_tick_at !== null);
  return { gateway, agent };
}

async function summary(gateway: TestGateway): Promise<{ last_tick_at: string | null }> {
  const response = await gateway.fetch('/api/inference/queue/summary');
  return (await response.json()) as { last_tick_at: string | null };
}

interface Submitted {
  readonly id: string;
  readonly status: string;
  readonly position?: number | null;
  readonly waiting_reason?: string;
}

async function submit(
  { gateway }: Stage,
  headers: Record<string, string> = {},
): Promise<Submitted> {
  const body = { model: 'm', async: true, messages: [{ role: 'user', content: 'hi' }] };
  const response = await gateway.fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Submitted;
}

test('its caller is told that it is queued, and its provider has it at once', async () => {
  const on = await stage(1);
  const { id, ...told } = await submit(on);
  const reason = 'It is about to start.';
  expect(told).toMatchObject({ status: 'QUEUED', position: 1, waiting_reason: reason });
  const open = await on.agent.nextOpen();
  expect(open.job_id).toBe(id);
  on.agent.answer(open.stream, DOCUMENT);
  expect(await on.agent.first('RESULT_ACK')).toMatchObject({ verdict: 'stored' });
});

test('many at once take the slots there are, and each runs once', async () => {
  const on = await stage(3);
  const jobs = await Promise.all(Array.from({ length: 20 }, () => submit(on)));
  const opened: string[] = [];
  while (opened.length < jobs.length) {
    const open = await on.agent.nextOpen();
    // Two of three slots, because one is kept for synchronous calls.
    expect(on.agent.messages.filter(({ t }) => t === 'OPEN').length - opened.length).toBeLessThan(
      3,
    );
    opened.push(open.job_id ?? '');
    on.agent.answer(open.stream, DOCUMENT);
  }
  expect(opened.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
});

test('a submission that creates no job leaves the slot to the next', async () => {
  const on = await stage(1, { maxQueuedJobs: 1 });
  const key = { 'Idempotency-Key': 'once' };
  const first = await submit(on, key);
  const open = await on.agent.nextOpen();
  on.agent.answer(open.stream, DOCUMENT);
  await until(() => on.agent.messages.some(({ t }) => t === 'RESULT_ACK'));
  expect((await submit(on, key)).id).toBe(first.id);
  const second = await submit(on);
  const next = await on.agent.nextOpen();
  expect(next.job_id).toBe(second.id);
  on.agent.answer(next.stream, DOCUMENT);
});

test('a job that waits longer is not overtaken by one that is new', async () => {
  const on = await stage(1);
  const running = await submit(on);
  const open = await on.agent.nextOpen();
  expect(open.job_id).toBe(running.id);
  const waiting = await submit(on);
  on.agent.answer(open.stream, DOCUMENT);
  const late = await submit(on);
  const order: (string | undefined)[] = [];
  for (const _ of [1, 2]) {
    const next = await on.agent.nextOpen();
    order.push(next.job_id);
    on.agent.answer(next.stream, DOCUMENT);
  }
  expect(order).toEqual([waiting.id, late.id]);
});
