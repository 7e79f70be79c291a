import { describe, expect, test } from 'vitest';
import { ended, getJob, submitted } from '../api/job-calls.js';
import { chat, post } from '../api/requests.js';
import { startHeldModel, startQuickModel } from '../support/held-model.js';
import type { HeldModel } from '../support/held-model.js';
import { expectIdle, expectSound, FULL, serviceOf, startStage } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import type { RunningProgram } from '../support/program.js';
import { until } from '../support/until.js';

/** It lets work finish for 2 s, the program itself for 30. */
const BRIEF = { file: new URL('brief-agent.js', import.meta.url), args: ['2000'] };

interface UnderWay {
  readonly gateway: Stage;
  readonly coordinator: RunningProgram;
  readonly agent: RunningProgram;
  /** Serves `m`: a synchronous call, whose answer this is, and a job. */
  readonly short: HeldModel;
  readonly call: Promise<Response>;
  readonly shortJob: string;
  /** Serves `film`: a job. */
  readonly long: HeldModel;
  readonly longJob: string;
}

/** An agent that does all of this concurrently. */
async function underWay(): Promise<UnderWay> {
  const { gateway, coordinator } = await startStage();
  const [short, long] = [await startHeldModel(), await startHeldModel('From the first.')];
  await gateway.enroll('pc', [serviceOf(short.server, ['m']), serviceOf(long.server, ['film'])]);
  const agent = gateway.startAgent('pc', FULL ? undefined : BRIEF);
  await agent.online;
  const call = post(gateway, chat({ model: 'm' }));
  const shortJob = (await submitted(gateway, { model: 'm' })).id;
  const longJob = (await submitted(gateway, { model: 'film' })).id;
  await until(() => short.server.requests.length === 2 && long.server.requests.length === 1);
  return { gateway, coordinator, agent, short, call, shortJob, long, longJob };
}

async function terminate(program: RunningProgram): Promise<void> {
  program.child.kill('SIGTERM');
  await until(() => program.output.stderr.includes('Draining'));
}

describe('SIGTERM with synchronous and asynchronous work under way', () => {
  test('at the agent lets short work end, and hands a long job to another', async () => {
    const { gateway, agent, short, call, shortJob, long, longJob } = await underWay();
    const other = await startQuickModel('From the second.');
    await gateway.joined('laptop', [serviceOf(other, ['m', 'film'])]);
    await terminate(agent);
    // What comes now goes elsewhere.
    expect((await post(gateway, chat({ model: 'm' }))).status).toBe(200);
    expect(short.server.requests).toHaveLength(2);
    short.release();
    expect((await call).status).toBe(200);
    expect(await ended(gateway, shortJob)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
    expect((await getJob(gateway, longJob)).status).toBe('PROCESSING');
    expect((await agent.finished).code).toBe(0);
    await until(() => long.server.aborts.length === 1);
    const job = await ended(gateway, longJob);
    expect(job).toMatchObject({ status: 'PROCESSED', attempts: 1 });
    expect(JSON.stringify(job.result)).toContain('From the second.');
    await expectIdle(gateway, 'film');
    expectSound(gateway);
  });

  test('at the coordinator lets the call end; after its restart it takes the jobs', async () => {
    const { gateway, coordinator, short, call, shortJob, long, longJob } = await underWay();
    await terminate(coordinator);
    short.release();
    expect((await call).status).toBe(200);
    expect((await coordinator.finished).code).toBe(0);
    expect(long.server.aborts).toEqual([]);
    long.release();
    await until(async () => (await gateway.spooled('pc')).length >= 1);
    await gateway.startCoordinator();
    for (const id of [shortJob, longJob]) {
      expect(await ended(gateway, id)).toMatchObject({ status: 'PROCESSED', attempts: 1 });
    }
    expect(short.server.requests).toHaveLength(2);
    expect(long.server.requests).toHaveLength(1);
    await until(async () => (await gateway.spooled('pc')).length === 0);
    await expectIdle(gateway, 'm');
    expectSound(gateway);
  });
});
