/** Models that a provider stops serving for a while, as when a local server restarts. */
import { expect, it } from 'vitest';
import {
  accepted,
  BATCHES,
  chatItem,
  ended,
  getJob,
  getJson,
  submitBatch,
} from '../api/job-calls.js';
import type { BatchBody } from '../api/job-calls.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { answerJobs, connectJobAgent } from '../support/job-agent.js';
import type { JobAgent } from '../support/job-agent.js';
import { HELLO } from '../support/raw-agent.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/** Short, so that the queue is looked through every second. */
const SETTINGS = { jobLeaseMs: 2_000 };

/** Two jobs: one for a model that was there, and one for a model that never was. */
async function handIn(gateway: TestGateway): Promise<readonly string[]> {
  const items = [chatItem({ model: 'm' }), chatItem({ model: 'nobody-has-it' })];
  const { id } = await accepted<BatchBody>(await submitBatch(gateway, items));
  const { jobs = [] } = await getJson<BatchBody>(gateway, `${BATCHES}/${id}`);
  return jobs.map((job) => job.id);
}

/** The agent's list is empty now: its local server does not answer. */
async function loseModels(gateway: TestGateway, { agent }: JobAgent): Promise<void> {
  agent.send({ t: 'SERVICES', rev: 2, services: [] });
  await until(async () => (await gateway.client.models.list()).data.length === 0);
}

it('a job waits for a model whose local server restarts, and runs when it is back', async () => {
  const gateway = await startGateway(SETTINGS);
  const online = await connectJobAgent(gateway);
  await loseModels(gateway, online);
  const [waiting = '', lost = ''] = await handIn(gateway);
  expect((await ended(gateway, lost)).error).toMatchObject({ code: 'no_provider' });
  const job = await getJob(gateway, waiting);
  expect(job.status).toBe('QUEUED');
  expect(job.waiting_reason).toContain("No provider that serves the model 'm' as llm has been");
  answerJobs(online.agent);
  online.agent.send({ t: 'SERVICES', rev: 3, services: HELLO.services });
  expect((await ended(gateway, waiting)).status).toBe('PROCESSED');
});

it('a job of before a restart waits for agents whose list is empty at first', async () => {
  const settings = { ...SETTINGS, dataDir: await temporaryFolder() };
  const first = await startGateway(settings);
  const online = await connectJobAgent(first);
  await loseModels(first, online);
  const [waiting = '', never = ''] = await handIn(first);
  expect((await ended(first, never)).error).toMatchObject({ code: 'no_provider' });
  await first.stop();
  const gateway = await startGateway(settings);
  const [, lost = ''] = await handIn(gateway);
  expect((await ended(gateway, lost)).error).toMatchObject({ code: 'no_provider' });
  expect((await getJob(gateway, waiting)).status).toBe('QUEUED');
});
