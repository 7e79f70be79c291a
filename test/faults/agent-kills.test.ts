import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ended, getJob, submitted } from '../api/job-calls.js';
import { BlackHole } from '../support/black-hole.js';
import { startHeldModel, startQuickModel } from '../support/held-model.js';
import { expectIdle, expectSound, FULL, serviceOf, startStage } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import { until } from '../support/until.js';
import { usageRows } from '../support/usage-rows.js';

/** Of the true times, the defaults: a link is dead after 40 s, a lease over after 60 s. */
const SCALE = FULL ? 1 : 1 / 20;
const MINUTE_MS = 60_000 * SCALE;
const TIMES = {
  GATEWAY_PING_S: String(15 * SCALE),
  GATEWAY_DEAD_S: String(40 * SCALE),
  GATEWAY_JOB_LEASE_S: String(60 * SCALE),
};
const WHOLE = { timeout: 400_000 };

async function expectOnce(gateway: Stage, id: string, attempts: number): Promise<void> {
  expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts });
  const rows = usageRows(gateway).filter(({ requestId }) => requestId.startsWith(id));
  expect(rows).toMatchObject([{ requestId: `${id}.1`, outcome: 'ok', attempts }]);
  await until(async () => (await gateway.spooled('pc')).length === 0, { timeoutMs: MINUTE_MS });
  await expectIdle(gateway, 'm');
  expectSound(gateway);
}

/** A job that `pc` runs, whose model answers when the test says so. */
async function jobUnderWay(env: Readonly<Record<string, string>>) {
  const { gateway } = await startStage(env);
  const held = await startHeldModel('From the first.');
  const agent = await gateway.joined('pc', [serviceOf(held.server, ['m'])]);
  const { id } = await submitted(gateway, { model: 'm' });
  await until(() => held.server.requests.length === 1);
  return { gateway, held, agent, id };
}

describe('an agent that is stopped in the middle of a job', () => {
  test('for less than its lease ends the job at its first attempt', WHOLE, async () => {
    const { gateway, held, agent, id } = await jobUnderWay(TIMES);
    agent.child.kill('SIGSTOP');
    held.release();
    await pause(30_000 * SCALE);
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
    agent.child.kill('SIGCONT');
    await expectOnce(gateway, id, 1);
    expect(held.server.requests).toHaveLength(2);
  });

  test('for longer finds that another has done it, and works on', WHOLE, async () => {
    const { gateway, held, agent, id } = await jobUnderWay(TIMES);
    agent.child.kill('SIGSTOP');
    const other = await startQuickModel('From the second.');
    await gateway.joined('laptop', [serviceOf(other, ['m'])]);
    const twoMinutes = pause(FULL ? 120_000 : 0);
    await until(() => gateway.areDone([id]), { timeoutMs: 3 * MINUTE_MS });
    await twoMinutes;
    held.release();
    agent.child.kill('SIGCONT');
    await until(async () => (await gateway.online()).includes('pc'), { timeoutMs: MINUTE_MS });
    await expectOnce(gateway, id, 2);
    expect(JSON.stringify(await getJob(gateway, id))).toContain('From the second.');
  });
});

describe('an agent that is killed', () => {
  test('in the middle of a job has it tried again when it is back, not later', async () => {
    const { gateway, held, agent, id } = await jobUnderWay({});
    await until(async () => (await getJob(gateway, id)).status === 'PROCESSING');
    agent.child.kill('SIGKILL');
    await agent.finished;
    await until(() => held.server.aborts.length === 1);
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
    held.release();
    const startedAt = performance.now();
    await gateway.startAgent('pc').online;
    await until(async () => (await getJob(gateway, id)).status !== 'PROCESSING');
    await gateway.requeue();
    await expectOnce(gateway, id, 2);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  test('with a whole answer that nobody could take brings it when it is back', async () => {
    const { gateway } = await startStage();
    const hole = await new BlackHole().listen(gateway.port);
    const held = await startHeldModel();
    const agent = await gateway.joined('pc', [serviceOf(held.server, ['m'])], hole.url);
    const { id } = await submitted(gateway, { model: 'm' });
    await until(() => held.server.requests.length === 1);
    await until(async () => (await getJob(gateway, id)).status === 'PROCESSING');
    hole.goDark('both ways');
    held.release();
    await until(async () => (await gateway.spooled('pc')).length === 1);
    agent.child.kill('SIGKILL');
    await agent.finished;
    expect((await getJob(gateway, id)).status).toBe('PROCESSING');
    hole.cut();
    hole.heal();
    await gateway.startAgent('pc').online;
    await expectOnce(gateway, id, 1);
    expect(held.server.requests).toHaveLength(2);
  });
});
