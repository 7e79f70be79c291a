import { describe, expect, it } from 'vitest';
import {
  accepted,
  act,
  BATCHES,
  chatItem,
  ended,
  getJob,
  getJson,
  JOBS,
  submitBatch,
  submitted,
} from '../api/job-calls.js';
import type { BatchBody, JobBody } from '../api/job-calls.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import {
  claimOf,
  connectJobAgent,
  offerOf,
  onEachOpen,
  resetsOf,
  resumptionsOf,
  verdictOf,
  verdictsOf,
} from '../support/job-agent.js';
import type { Open } from '../support/job-agent.js';
import { DOCUMENT } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { query, usageRows } from '../support/usage-rows.js';

const ROUNDS = 4;
const ITEMS = 250;

const cancel = async (gateway: TestGateway, id: string): Promise<{ canceled: boolean }> =>
  (await (await act(gateway, `${JOBS}/${id}/cancel`)).json()) as { canceled: boolean };

const retry = (gateway: TestGateway, id: string) => act(gateway, `${JOBS}/${id}/retry`);

/** Hands in a batch of chats for the model `m`. */
async function handIn(gateway: TestGateway, count: number): Promise<BatchBody> {
  const items = Array.from({ length: count }, () => chatItem({ model: 'm' }));
  return accepted(await submitBatch(gateway, items));
}

describe('a cancel against a finish', () => {
  it('has one winner, 1,000 times, and everybody is told who', async () => {
    const gateway = await startGateway();
    const { agent } = await connectJobAgent(gateway, { slots: ITEMS + 1 });
    const answers = new Map<string, boolean>();
    const opens: Open[] = [];
    onEachOpen(agent, (open) => opens.push(open));
    for (let round = 1; round <= ROUNDS; round++) {
      await handIn(gateway, ITEMS);
      await until(() => opens.length === round * ITEMS, { what: 'every job to be opened' });
      const races = opens.slice(-ITEMS).map(async (open, i) => {
        const id = open.job_id ?? '';
        // From a cancel long before the finish to one long after it.
        if (i % 2 === 0) setTimeout(() => agent.answer(open.stream, DOCUMENT), (i * 7) % 40);
        else agent.answer(open.stream, DOCUMENT);
        answers.set(id, (await cancel(gateway, id)).canceled);
      });
      await Promise.all(races);
    }
    await expectOneWinnerEach(gateway, answers);
    await expectVerdicts(agent, opens, answers);
  });

  it('of a whole batch: its counts always add up to its total', async () => {
    const gateway = await startGateway();
    const { agent } = await connectJobAgent(gateway, { slots: 65 });
    const opens: Open[] = [];
    onEachOpen(agent, (open) => {
      opens.push(open);
      setTimeout(() => agent.answer(open.stream, DOCUMENT), opens.length % 30);
    });
    const { id } = await handIn(gateway, 256);
    const seen: BatchBody[] = [];
    const look = async (): Promise<BatchBody> => {
      const batch = await getJson<BatchBody>(gateway, `${BATCHES}/${id}`);
      seen.push(batch);
      return batch;
    };
    await until(async () => (await look()).processed >= 60);
    const canceling = act(gateway, `${BATCHES}/${id}/cancel`);
    await until(async () => (await look()).status === 'DONE');
    seen.push((await (await canceling).json()) as BatchBody);
    for (const { total, queued, processing, processed, failed, canceled } of seen) {
      expect(queued + processing + processed + failed + canceled).toBe(total);
    }
    const last = await look();
    expect(last).toMatchObject({ queued: 0, processing: 0, failed: 0 });
    expect(last.processed).toBeGreaterThanOrEqual(60);
    expect(last.canceled).toBeGreaterThan(0);
    await until(() => usageRows(gateway).length === 256, { what: 'a usage row for each' });
    const kept = usageRows(gateway).filter(({ outcome }) => outcome === 'ok');
    expect(kept).toHaveLength(last.processed);
  });
});

/** A cancel that says it won leaves no result, and one that says it lost leaves one. */
async function expectOneWinnerEach(
  gateway: TestGateway,
  answers: ReadonlyMap<string, boolean>,
): Promise<void> {
  expect(answers.size).toBe(ROUNDS * ITEMS);
  const rows = query<{ id: string; status: string; results: number }>(
    gateway,
    `select id, status, (select count(*) from job_results where job_id = id) as results from jobs`,
  );
  expect(rows).toHaveLength(ROUNDS * ITEMS);
  for (const { id, status, results } of rows) {
    const isCanceled = answers.get(id) === true;
    expect([status, results]).toEqual(isCanceled ? ['CANCELED', 0] : ['PROCESSED', 1]);
  }
  const canceled = [...answers.values()].filter(Boolean).length;
  expect(canceled).toBeGreaterThan(0);
  expect(canceled).toBeLessThan(ROUNDS * ITEMS);
  const usage = usageRows(gateway);
  expect(usage).toHaveLength(ROUNDS * ITEMS);
  expect(usage.filter(({ outcome }) => outcome === 'canceled')).toHaveLength(canceled);
  expect(usage.filter(({ outcome }) => outcome === 'ok')).toHaveLength(usage.length - canceled);
}

/** The agent of a canceled job is told to stop, or that its result came too late. */
async function expectVerdicts(
  agent: RawAgent,
  opens: readonly Open[],
  answers: ReadonlyMap<string, boolean>,
): Promise<void> {
  const isTold = (open: Open): boolean => {
    const verdict = verdictsOf(agent, claimOf(open))[0];
    if (answers.get(open.job_id ?? '') === false) return verdict === 'stored';
    return verdict === 'stale' || resetsOf(agent, open.stream).includes('CANCELED');
  };
  const untold = new Set(opens);
  await until(() => {
    for (const open of untold) if (isTold(open)) untold.delete(open);
    return untold.size === 0;
  });
  expect(agent.closeCode).toBeNull();
}

describe('a job that is canceled and retried', () => {
  it('takes no late result of its first run', async () => {
    const gateway = await startGateway();
    const { agent } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const first = await agent.nextOpen();
    expect(await cancel(gateway, id)).toMatchObject({ canceled: true });
    await until(() => resetsOf(agent, first.stream).includes('CANCELED'));
    await accepted<JobBody>(await retry(gateway, id));
    const second = await agent.nextOpen();
    agent.answer(first.stream, { ...DOCUMENT, id: 'late' });
    agent.answer(second.stream, { ...DOCUMENT, id: 'fresh' });
    expect(await verdictOf(agent, second)).toBe('stored');
    expect(await getJob(gateway, id)).toMatchObject({ result: { id: 'fresh' }, attempts: 1 });
    expect(verdictsOf(agent, claimOf(first))).toEqual([]);
    expect(usageRows(gateway).map(({ outcome }) => outcome)).toEqual(['canceled', 'ok']);
  });

  it('while its agent was away takes no result that it brings back', async () => {
    const gateway = await startGateway();
    const { agent, token } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const first = await agent.nextOpen();
    agent.socket.terminate();
    await until(async () => (await gateway.client.models.list()).data.length === 0);
    await cancel(gateway, id);
    await accepted<JobBody>(await retry(gateway, id));
    const resume = [offerOf(first)];
    const { agent: back } = await connectJobAgent(gateway, { token, resume });
    expect(await resumptionsOf(back)).toEqual([{ claim_id: claimOf(first), action: 'discard' }]);
    const second = await back.nextOpen();
    expect(claimOf(second)).not.toBe(claimOf(first));
    back.answer(second.stream, DOCUMENT);
    expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  });

  it('by 50 callers at once is retried once', async () => {
    const gateway = await startGateway();
    const { agent } = await connectJobAgent(gateway);
    const { id } = await submitted(gateway, { model: 'm' });
    const first = await agent.nextOpen();
    await cancel(gateway, id);
    agent.send({ t: 'RESET', stream: first.stream, code: 'CANCELED' });
    const responses = await Promise.all(Array.from({ length: 50 }, () => retry(gateway, id)));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(49);
    agent.answer((await agent.nextOpen()).stream, DOCUMENT);
    expect((await ended(gateway, id)).status).toBe('PROCESSED');
    expect(query(gateway, 'select generation from jobs')).toEqual([{ generation: 2 }]);
    expect(agent.messages.filter(({ t }) => t === 'OPEN')).toHaveLength(2);
  });
});
