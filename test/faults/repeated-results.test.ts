import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { accepted, chatItem, ended, getJob, submitBatch, submitted } from '../api/job-calls.js';
import type { BatchBody } from '../api/job-calls.js';
import { newFinish, runningJob } from '../store/dispatch-rows.js';
import { createMember, NOW } from '../store/store-rows.js';
import { startGateway } from '../support/gateway.js';
import {
  claimOf,
  connectJobAgent,
  offerOf,
  onEachOpen,
  resumptionsOf,
  verdictsOf,
} from '../support/job-agent.js';
import type { Open } from '../support/job-agent.js';
import { DOCUMENT } from '../support/raw-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { query, usageRows } from '../support/usage-rows.js';

const TIMES = 100;

it('a result that is finished 100 times at once is stored once', async () => {
  const store = await openStore(await temporaryFolder(), { inThread: true });
  onTestFinished(() => store.close());
  const anna = await createMember(store, 'anna');
  const { claimId } = await runningJob(store, anna.id);
  const outcomes = await Promise.all(
    Array.from({ length: TIMES }, () => store.finishJob(newFinish(claimId), NOW + 2)),
  );
  const kinds = outcomes.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'stored')).toHaveLength(1);
  expect(kinds.filter((kind) => kind === 'duplicate')).toHaveLength(TIMES - 1);
});

it('a result that is brought on 100 streams of a new link is metered once', async () => {
  const gateway = await startGateway();
  const { agent: first, token } = await connectJobAgent(gateway);
  const { id } = await submitted(gateway, { model: 'm' });
  const open = await first.nextOpen();
  first.socket.terminate();
  const resume = Array.from({ length: TIMES }, () => offerOf(open));
  const { agent } = await connectJobAgent(gateway, { token, resume });
  const offered = await resumptionsOf(agent);
  expect(offered.filter(({ action }) => action === 'upload')).toHaveLength(TIMES);
  for (const { stream } of offered) agent.answer(stream ?? 0, DOCUMENT);
  const verdicts = () => verdictsOf(agent, claimOf(open));
  await until(() => verdicts().length === TIMES);
  expect(verdicts().toSorted()).toEqual([...Array(TIMES - 1).fill('duplicate'), 'stored']);
  expect(await getJob(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  expect(usageRows(gateway)).toMatchObject([{ outcome: 'ok', attempts: 1 }]);
});

it('100 results that come while their link is replaced, and again, are stored once', async () => {
  const gateway = await startGateway();
  const { agent: first, token } = await connectJobAgent(gateway, { slots: TIMES + 1 });
  const opens: Open[] = [];
  onEachOpen(first, (open) => opens.push(open));
  const items = itemsOf(TIMES);
  await accepted<BatchBody>(await submitBatch(gateway, items));
  await until(() => opens.length === TIMES);
  for (const { stream } of opens.slice(TIMES / 4)) first.answer(stream, DOCUMENT);
  const resume = opens.map((open) => offerOf(open));
  const slots = TIMES + 1;
  const { agent } = await connectJobAgent(gateway, { token, slots, resume });
  const uploads = (await resumptionsOf(agent)).filter(({ action }) => action === 'upload');
  expect(uploads.length).toBeGreaterThanOrEqual(TIMES / 4);
  for (const { stream } of uploads) agent.answer(stream ?? 0, DOCUMENT);
  for (const { claim_id: claimId } of uploads) {
    const verdict = await until(() => verdictsOf(agent, claimId)[0], { what: 'a verdict' });
    expect(['stored', 'duplicate']).toContain(verdict);
  }
  const unfinished = `select id from jobs where status <> 'PROCESSED' or attempt <> 1`;
  await until(() => query(gateway, unfinished).length === 0, { what: 'every job to end' });
  expect(usageRows(gateway)).toHaveLength(TIMES);
  expect(usageRows(gateway).every(({ outcome }) => outcome === 'ok')).toBe(true);
  const rows = query<{ n: number }>(gateway, 'select count(*) as n from job_results');
  expect(rows).toEqual([{ n: TIMES }]);
});

it('1,020 results that an agent brings back at once are stored, once each', async () => {
  const gateway = await startGateway();
  const slots = 1_024;
  const { agent: first, token } = await connectJobAgent(gateway, { slots });
  const opens: Open[] = [];
  onEachOpen(first, (open) => opens.push(open));
  const items = itemsOf(255);
  for (let batch = 0; batch < 4; batch++) {
    await accepted<BatchBody>(await submitBatch(gateway, items));
  }
  await until(() => opens.length === 1_020);
  first.socket.terminate();
  const resume = opens.map((open) => offerOf(open));
  const { agent } = await connectJobAgent(gateway, { token, slots, resume });
  const told = await resumptionsOf(agent);
  expect(told.map(({ action }) => action)).toEqual(opens.map(() => 'upload'));
  for (const { stream } of told) agent.answer(stream ?? 0, DOCUMENT);
  await until(() => agent.messages.filter(({ t }) => t === 'RESULT_ACK').length === 1_020);
  const acks = agent.messages.filter((one) => one.t === 'RESULT_ACK');
  expect(acks.every(({ verdict }) => verdict === 'stored')).toBe(true);
  const statuses = 'select status, count(*) as n from jobs group by status';
  expect(query(gateway, statuses)).toEqual([{ status: 'PROCESSED', n: 1_020 }]);
  expect(usageRows(gateway)).toHaveLength(1_020);
});

it('another result for a claim that has one changes nothing', async () => {
  const gateway = await startGateway();
  const { agent, token } = await connectJobAgent(gateway);
  const { id } = await submitted(gateway, { model: 'm' });
  const open = await agent.nextOpen();
  agent.socket.terminate();
  const resume = [offerOf(open), offerOf(open)];
  const { agent: back } = await connectJobAgent(gateway, { token, resume });
  const [first, second] = (await resumptionsOf(back)).map(({ stream }) => stream ?? 0);
  back.answer(first ?? 0, DOCUMENT);
  expect((await ended(gateway, id)).status).toBe('PROCESSED');
  back.answer(second ?? 0, { ...DOCUMENT, id: 'another' });
  await until(() => verdictsOf(back, claimOf(open)).length === 2);
  expect(verdictsOf(back, claimOf(open))).toEqual(['stored', 'duplicate']);
  expect((await getJob(gateway, id)).result).toMatchObject({ id: DOCUMENT.id });
});

const itemsOf = (count: number) => Array.from({ length: count }, () => chatItem({ model: 'm' }));
