import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ended, getJob, submitted } from '../api/job-calls.js';
import { BlackHole } from '../support/black-hole.js';
import type { Way } from '../support/black-hole.js';
import { startHeldModel, startQuickModel } from '../support/held-model.js';
import type { HeldModel } from '../support/held-model.js';
import { expectIdle, expectSound, FULL, serviceOf, startStage } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import { until } from '../support/until.js';
import { usageRows } from '../support/usage-rows.js';

/** Of the true times. */
const SCALE = FULL ? 1 : 1 / 20;
const MINUTE_MS = 60_000 * SCALE;
const TIMES = {
  GATEWAY_PING_S: String(15 * SCALE),
  GATEWAY_DEAD_S: String(40 * SCALE),
  GATEWAY_JOB_LEASE_S: String(60 * SCALE),
  GATEWAY_RECONNECT_WAIT_S: '0',
};
const WAYS: readonly Way[] = ['to the coordinator', 'to the agent', 'both ways'];

/** One link that can go dark, and an agent behind it with its own model. */
interface Line {
  readonly way: Way;
  readonly name: string;
  readonly model: string;
  readonly hole: BlackHole;
  readonly held: HeldModel;
}

type Round = 'before it is given up' | 'after it is given up' | 'after another has done the job';

/** A job under way on a line, and how often its model was asked before. */
interface Running extends Line {
  readonly jobId: string;
  readonly askedBefore: number;
}

test(
  'a line that is dark in either way or both loses no job and doubles none, however long',
  {
    timeout: 600_000,
  },
  async () => {
    const { gateway } = await startStage(TIMES);
    const lines = await Promise.all(WAYS.map((way, i) => layLine(gateway, way, i)));
    await round(gateway, lines, 'before it is given up');
    await round(gateway, lines, 'after it is given up');
    await round(gateway, lines, 'after another has done the job');
    expectSound(gateway);
  },
);

async function layLine(gateway: Stage, way: Way, i: number): Promise<Line> {
  const [name, model] = [`pc-${i}`, `m-${i}`];
  const hole = await new BlackHole().listen(gateway.port);
  const held = await startHeldModel('From afar.');
  await gateway.joined(name, [serviceOf(held.server, [model])], hole.url);
  return { way, name, model, hole, held };
}

/** All lines go dark under a job each, and come back at that time. */
async function round(gateway: Stage, lines: readonly Line[], comesBack: Round): Promise<void> {
  const jobs = await Promise.all(lines.map((line) => begin(gateway, line)));
  for (const { hole, way } of lines) hole.goDark(way);
  if (comesBack === 'after another has done the job') await doneByAnother(gateway, jobs);
  for (const { held } of lines) held.release();
  if (comesBack === 'before it is given up') await pause(30_000 * SCALE);
  else await answersKept(gateway, lines);
  for (const { hole } of lines) hole.heal();
  for (const job of jobs) await expectDoneOnce(gateway, job, comesBack);
}

async function begin(gateway: Stage, line: Line): Promise<Running> {
  const { model, held } = line;
  const askedBefore = held.server.requests.length;
  held.hold();
  const { id: jobId } = await submitted(gateway, { model });
  await until(() => held.server.requests.length > askedBefore, { what: 'the model to be asked' });
  await until(async () => (await getJob(gateway, jobId)).status === 'PROCESSING');
  return { ...line, jobId, askedBefore };
}

/** The agents' links have ended at both ends, and their answers are on disk. */
async function answersKept(gateway: Stage, lines: readonly Line[]): Promise<void> {
  for (const { name } of lines) {
    await until(async () => !(await gateway.online()).includes(name), { timeoutMs: MINUTE_MS });
    await until(async () => (await gateway.spooled(name)).length === 1, { timeoutMs: MINUTE_MS });
  }
}

async function doneByAnother(gateway: Stage, jobs: readonly Running[]): Promise<void> {
  const near = await startQuickModel('From nearby.');
  const models = jobs.map(({ model }) => model);
  await gateway.joined('laptop', [serviceOf(near, models)]);
  const ids = jobs.map(({ jobId }) => jobId);
  const areDone = () => gateway.areDone(ids);
  await until(areDone, { timeoutMs: 3 * MINUTE_MS, what: 'the jobs to be done by another' });
}

/** Done and metered once; its agent holds nothing back, and works. */
async function expectDoneOnce(gateway: Stage, job: Running, comesBack: Round): Promise<void> {
  const { way, jobId, name, model, held, askedBefore } = job;
  const isElsewhere = comesBack === 'after another has done the job';
  const { status, attempts, result } = await ended(gateway, jobId);
  const text = JSON.stringify(result?.choices);
  const words = isElsewhere ? 'From nearby.' : 'From afar.';
  expect({ comesBack, way, status, attempts, text }).toMatchObject({
    status: 'PROCESSED',
    attempts: isElsewhere ? 2 : 1,
    text: expect.stringContaining(words) as string,
  });
  expect(held.server.requests).toHaveLength(askedBefore + 1);
  await until(async () => (await gateway.online()).includes(name), { timeoutMs: MINUTE_MS });
  await until(async () => (await gateway.spooled(name)).length === 0, { timeoutMs: MINUTE_MS });
  await expectIdle(gateway, model);
  const rows = usageRows(gateway).filter(({ requestId }) => requestId.startsWith(jobId));
  expect(rows).toMatchObject([{ requestId: `${jobId}.1`, outcome: 'ok' }]);
}
