import { openStore } from '@inference-gateway/coordinator/store/open';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { newSecret } from '@inference-gateway/shared/ids';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { accepted, BATCHES, chatItem, getJson, submitBatch } from '../api/job-calls.js';
import type { BatchBody } from '../api/job-calls.js';
import { HealthWatch } from '../support/health-watch.js';
import { answerJobs } from '../support/job-agent.js';
import { MIB, rssOf } from '../support/memory.js';
import { expectIdle, expectSound, FULL, newStage } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import { HELLO, RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';

const AGENTS = FULL ? 2_000 : 100;
const ROUNDS = 3;
const JOBS = 100;
/** The agents and the callers share one process, which also has 2,000 sockets to serve. */
const LONGEST_SILENCE_MS = FULL ? 5_000 : 2_000;
/** Beyond what the first round left: what the heap keeps in reserve. */
const MOST_GROWTH = 96 * MIB;

test(
  `${AGENTS} agents that drop at once all come back, and the coordinator answers all the while`,
  async () => {
    const gateway = await newStage({ GATEWAY_JOB_LEASE_S: '60' });
    const tokens = await enrollMany(gateway);
    const { child } = await gateway.startCoordinator();
    let agents = await connectAll(gateway, tokens);
    const watch = new HealthWatch(gateway);
    let first = 0;
    for (let round = 0; round < ROUNDS; round++) {
      for (const { socket } of agents) socket.terminate();
      await until(async () => (await gateway.online()).length === 0, { timeoutMs: 60_000 });
      const items = Array.from({ length: JOBS }, () => chatItem({ model: 'm' }));
      const { id } = await accepted<BatchBody>(await submitBatch(gateway, items));
      agents = await connectAll(gateway, tokens);
      expect(await gateway.online()).toHaveLength(AGENTS);
      const batch = () => getJson<BatchBody>(gateway, `${BATCHES}/${id}`);
      await until(async () => (await batch()).status === 'DONE', { timeoutMs: 60_000 });
      expect(await batch()).toMatchObject({ processed: JOBS });
      if (round === 0) first = await rssOf(child.pid);
    }
    const { longestMs, ownMs } = await watch.stop();
    // It may be late to ask, and late to hear.
    expect(longestMs).toBeLessThan(LONGEST_SILENCE_MS + 2 * ownMs);
    const most = first + MOST_GROWTH;
    await until(async () => (await rssOf(child.pid)) < most, {
      what: `less than ${most} bytes`,
    });
    await expectIdle(gateway, 'm');
    expectSound(gateway);
  },
  FULL ? 600_000 : 60_000,
);

/** Providers as if each had been enrolled; the coordinator does not run yet. */
async function enrollMany({ dataDir }: Stage): Promise<readonly string[]> {
  const store = await openStore(dataDir);
  const [owner] = await store.listMembers();
  const now = Date.now();
  const tokens = await Promise.all(
    Array.from({ length: AGENTS }, async (_, i) => {
      const [join, token] = [newSecret('gwj'), newSecret('gwa')];
      const row = { ownerId: owner?.id ?? '', name: null, replaces: null, hash: hashSecret(join) };
      await store.createJoinToken({ ...row, expiresAt: now + 3_600_000 }, now);
      const hashes = { joinTokenHash: hashSecret(join), tokenHash: hashSecret(token) };
      const { kind } = await store.enroll({ ...hashes, name: `pc-${i}`, approved: true }, now);
      if (kind !== 'created') throw new Error(kind);
      return token;
    }),
  );
  await store.close();
  return tokens;
}

/** All at the same moment: real ones spread over half a minute. */
function connectAll(gateway: Stage, tokens: readonly string[]): Promise<RawAgent[]> {
  return Promise.all(tokens.map((token, i) => connect(gateway, token, `pc-${i}`)));
}

/** Events in place of polling: this process has thousands of them. */
async function connect(gateway: Stage, token: string, instance: string): Promise<RawAgent> {
  const agent = new RawAgent(gateway.url, token);
  await once(agent.socket, 'open');
  agent.send({ ...HELLO, instance_id: instance });
  await once(agent.socket, 'message');
  expect(agent.messages[0]?.t).toBe('WELCOME');
  answerJobs(agent);
  return agent;
}
