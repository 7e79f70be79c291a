import { expect, it, onTestFinished } from 'vitest';
import { getJob, submitted } from '../api/job-calls.js';
import { startGateway } from '../support/gateway.js';
import { claimOf, connectJobAgent, verdictOf } from '../support/job-agent.js';
import type { Open } from '../support/job-agent.js';
import { FULL } from '../support/process-stage.js';
import { DOCUMENT } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { query } from '../support/usage-rows.js';

/** Of the whole process: coordinator and agent. It is longer than a lease. */
const BLOCKED_MS = FULL ? 20_000 : 3_500;
const LEASE_MS = FULL ? 8_000 : 2_000;

it('an event loop that stands still for longer than a lease costs no job', async () => {
  const gateway = await startGateway({ jobLeaseMs: LEASE_MS });
  const { agent } = await connectJobAgent(gateway);
  const { id } = await submitted(gateway, { model: 'm' });
  const open = await agent.nextOpen();
  keepAlive(agent, open);
  const leases = () => query<{ until: number }>(gateway, 'select lease_until as until from jobs');
  const [first] = leases();
  await until(() => (leases()[0]?.until ?? 0) > (first?.until ?? 0), { what: 'a renewal' });
  block(BLOCKED_MS);
  expect(leases()[0]?.until).toBeLessThan(Date.now());
  await until(() => (leases()[0]?.until ?? 0) > Date.now(), { what: 'leases that begin anew' });
  expect(await getJob(gateway, id)).toMatchObject({ status: 'PROCESSING', attempts: 1 });
  agent.answer(open.stream, DOCUMENT);
  expect(await verdictOf(agent, open)).toBe('stored');
  expect(await getJob(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  expect(agent.messages.filter(({ t }) => t === 'OPEN')).toHaveLength(1);
});

/** Tells of the claim as an agent does: four times in a lease. */
function keepAlive(agent: RawAgent, open: Open): void {
  const claims = [{ claim_id: claimOf(open), phase: 'running' as const }];
  const beat = setInterval(() => {
    agent.send({ t: 'HEARTBEAT', seq: 1, slots: [], claims, accepts: 'all' });
  }, LEASE_MS / 4);
  onTestFinished(() => clearInterval(beat));
}

/** No timer fires and nothing is read meanwhile; the database's thread continues. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
