import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { getJson, BATCHES, getJob } from '../api/job-calls.js';
import type { BatchBody } from '../api/job-calls.js';
import { chat, post } from '../api/requests.js';
import { reply } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { answerAny, startQuickModel } from '../support/held-model.js';
import { expectIdle, expectSound, FULL, serviceOf, startStage } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import type { RunningProgram } from '../support/program.js';
import { until } from '../support/until.js';
import { query } from '../support/usage-rows.js';
import { MixedLoad, random } from './mixed-load.js';

const KILLS = FULL ? 100 : 4;
const MOST_REQUESTS_BETWEEN = 40;
const LONGEST_ANSWER_MS = 800;
/** One in so many requests is one that the model refuses. */
const REFUSED_ONE_IN = 10;
const AGENTS = ['pc', 'laptop'];
/** Of each agent. */
const SLOTS = 4;
const ENDED_WITHIN_MS = 90_000;
const ENDED = ['PROCESSED', 'FAILED', 'CANCELED'];
/** Kills of its agent are no fault of a job. */
const SETTINGS = { GATEWAY_JOB_LEASE_S: '2', GATEWAY_JOB_MAX_ATTEMPTS: '20' };

test(
  `${KILLS} kills at random under mixed load lose no job and do none twice`,
  async () => {
    const server = await slowModel();
    const { gateway, coordinator } = await startStage(SETTINGS);
    const services = [
      serviceOf(server, ['m'], { slots: SLOTS }),
      serviceOf(server, ['sd'], { type: 'image' }),
    ];
    const programs: Victim[] = [{ program: coordinator, start: () => gateway.startCoordinator() }];
    for (const name of AGENTS) {
      const program = await gateway.joined(name, services);
      programs.push({ program, start: () => startAgain(gateway, name) });
    }
    const load = new MixedLoad(gateway);
    for (let i = 0; i < KILLS; i++) {
      const enough = load.answered + 1 + random(MOST_REQUESTS_BETWEEN);
      await until(() => load.answered >= enough, { timeoutMs: 60_000, what: 'answers' });
      await kill(programs);
    }
    await load.stop();
    await everyJobEnds(gateway);
    const jobs = query<JobRow>(gateway, JOB_ROWS);
    expect(jobs.filter(({ status }) => !ENDED.includes(status))).toEqual([]);
    expect(jobs.filter(({ status }) => status === 'PROCESSED')).not.toEqual([]);
    // Else the moments were all harmless ones, and nothing has been shown.
    if (FULL) expect(jobs.filter(({ attempt }) => attempt > 1)).not.toEqual([]);
    expect(jobs).toHaveLength(load.jobs.size + load.batchItems);
    for (const id of load.jobs) expect(ENDED).toContain((await getJob(gateway, id)).status);
    for (const id of load.batches) await expectWhole(gateway, id);
    expectMetered(gateway, jobs);
    server.behave(answerAny('Done.'));
    await expectIdle(gateway, 'm');
    await expectAllSlots(gateway, server);
    expectSound(gateway);
    expect((await gateway.admin('asset', 'verify')).code).toBe(0);
    for (const name of AGENTS) {
      await until(async () => (await gateway.spooled(name)).length === 0);
    }
  },
  FULL ? 1_800_000 : 120_000,
);

interface Victim {
  program: RunningProgram;
  readonly start: () => Promise<RunningProgram>;
}

/** It may be killed again before it is online. */
async function startAgain(gateway: Stage, name: string): Promise<RunningProgram> {
  const agent = gateway.startAgent(name);
  agent.online.catch(() => undefined);
  return agent;
}

/** The coordinator as often as an agent, and both together as often as either alone. */
async function kill([coordinator, ...agents]: readonly Victim[]): Promise<void> {
  const agent = agents[random(agents.length)];
  const victims = [[coordinator], [agent], [coordinator, agent]][random(3)] ?? [];
  await Promise.all(
    victims.map(async (victim) => {
      victim?.program.child.kill('SIGKILL');
      await victim?.program.finished;
    }),
  );
  for (const victim of victims) {
    if (victim !== undefined) victim.program = await victim.start();
  }
}

const REFUSAL = reply(400, { error: { message: 'Not this one.' } });

async function slowModel(): Promise<FakeModelServer> {
  const server = await startQuickModel();
  server.behave(async (request, response) => {
    await pause(random(LONGEST_ANSWER_MS));
    const isRefused = random(REFUSED_ONE_IN) === 0;
    await (isRefused ? REFUSAL : answerAny('Done.'))(request, response);
  });
  return server;
}

async function everyJobEnds(gateway: Stage): Promise<void> {
  const open = `select status from jobs where status in ('QUEUED', 'PROCESSING')`;
  const haveEnded = async (): Promise<boolean> => {
    const left = query<{ status: string }>(gateway, open);
    if (left.length > 0 && left.every(({ status }) => status === 'QUEUED')) await gateway.requeue();
    return left.length === 0;
  };
  await until(haveEnded, { timeoutMs: ENDED_WITHIN_MS, what: 'all jobs to end' });
}

/** No kill has lost a slot: concurrent synchronous calls use them all. */
async function expectAllSlots(gateway: Stage, server: FakeModelServer): Promise<void> {
  const most = AGENTS.length * SLOTS;
  let wereAllTaken = false;
  server.behave(async (request, response) => {
    await until(() => (wereAllTaken ||= server.inFlight === most));
    await answerAny('All at once.')(request, response);
  });
  const calls = Array.from({ length: most }, () => post(gateway, chat({ model: 'm' })));
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
}

async function expectWhole(gateway: Stage, id: string): Promise<void> {
  const batch = await getJson<BatchBody>(gateway, `${BATCHES}/${id}`);
  const { total, processed, failed, canceled, jobs = [] } = batch;
  expect(batch).toMatchObject({ status: 'DONE', queued: 0, processing: 0 });
  expect(processed + failed + canceled).toBe(total);
  expect(jobs).toHaveLength(total);
}

interface JobRow {
  readonly id: string;
  readonly status: string;
  readonly generation: number;
  readonly attempt: number;
  readonly tokens: number | null;
  readonly images: number;
}

const JOB_ROWS = `select id, status, generation, attempt,
    (select json_extract(result, '$.usage.prompt_tokens') +
      json_extract(result, '$.usage.completion_tokens')
      from job_results where job_id = id) as tokens,
    (select count(*) from job_assets where job_id = id) as images
  from jobs`;

interface Metered {
  readonly requestId: string;
  readonly outcome: string;
  readonly tokens: number;
  readonly images: number;
}

const METERED = `select request_id as requestId, outcome, images,
    prompt_tokens + completion_tokens as tokens
  from usage where request_id not glob 'req_*'`;

const OUTCOMES: Readonly<Record<string, string>> = {
  PROCESSED: 'ok',
  FAILED: 'failed',
  CANCELED: 'canceled',
};

/** One row a generation, and the last one is what the job's result says. */
function expectMetered(gateway: Stage, jobs: readonly JobRow[]): void {
  const rows = query<Metered>(gateway, METERED);
  const byRequest = new Map(rows.map((row) => [row.requestId, row]));
  expect(rows).toHaveLength(jobs.reduce((sum, { generation }) => sum + generation, 0));
  for (const { id, status, generation, tokens, images } of jobs) {
    const outcomes = Array.from(
      { length: generation },
      (_, i) => byRequest.get(`${id}.${i + 1}`)?.outcome,
    );
    // What was done is not tried again.
    expect(outcomes.slice(0, -1)).not.toContain('ok');
    expect(outcomes).not.toContain(undefined);
    expect(outcomes.at(-1)).toBe(OUTCOMES[status]);
    const last = byRequest.get(`${id}.${generation}`);
    expect(last).toMatchObject({ tokens: tokens ?? 0, images });
  }
}
