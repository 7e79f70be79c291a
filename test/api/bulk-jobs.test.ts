/** Many of a member's own jobs at a time, as the dashboard cancels, retries and groups them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MyArgs } from '@inference-gateway/coordinator/operations/my/commands';
import { answer, hangBeforeHeaders } from '../support/fake-behaviours.js';
import type { TestGateway } from '../support/gateway.js';
import { my, readMy, refusal } from './console-calls.js';
import { openJobStage } from './job-stage.js';
import type { JobStage } from './job-stage.js';
import {
  accepted,
  chatItem,
  getJob,
  listJobs,
  pauseQueue,
  resumeQueue,
  submitBatch,
  submitted,
} from './job-calls.js';
import type { BatchBody, JobBody } from './job-calls.js';
import { until } from '../support/until.js';
import { chat, failureOf, post } from './requests.js';
import { visit } from './visitor.js';
import type { Visitor } from './visitor.js';

let stage: JobStage;
let gateway: TestGateway;
let anna: Visitor;
let ben: Visitor;

beforeAll(async () => {
  stage = await openJobStage();
  ({ gateway } = stage);
  [anna, ben] = [await visit(gateway, gateway.anna.email), await visit(gateway, gateway.ben.email)];
});

afterAll(() => stage.stop());

const EVERY = { status: null, type: null, model: null, model_id: null, search: null, batch: null };

function where(change: Partial<MyArgs<'jobs.count'>['where']> = {}) {
  return { jobs: null, where: { ...EVERY, ...change }, after: null };
}

function ids(...jobs: readonly JobBody[]) {
  return { jobs: jobs.map(({ id }) => id), where: null, after: null };
}

const DONE = { unchanged: 0, next: null, stopped: null };

describe('many jobs', () => {
  it('are canceled and retried by a filter, a batch, or their ids', async () => {
    await stage.holdQueue();
    const [one, two] = [await submitted(gateway), await submitted(gateway)];
    const batch = await accepted<BatchBody>(await submitBatch(gateway, [chatItem(), chatItem()]));
    const count = await readMy(anna, 'jobs.count', { where: EVERY });
    expect(count).toEqual({ cancelable: 4, retryable: 0, is_capped: false });

    const ofBatch = where({ batch: batch.id });
    expect(await my(anna, 'jobs.cancel', ofBatch)).toEqual({ ...DONE, changed: 2 });
    expect(await my(anna, 'jobs.cancel', ofBatch)).toEqual({ ...DONE, changed: 0 });
    expect(await my(anna, 'jobs.cancel', ids(one, two))).toEqual({ ...DONE, changed: 2 });
    // A page that is a moment old names jobs that have ended.
    const late = await my(anna, 'jobs.cancel', ids(one));
    expect(late).toEqual({ ...DONE, changed: 0, unchanged: 1 });
    expect((await getJob(gateway, one.id)).status).toBe('CANCELED');

    const canceled = where({ status: 'CANCELED', type: 'LLM', model_id: 'tiny', batch: 'none' });
    expect(await my(anna, 'jobs.retry', canceled)).toEqual({ ...DONE, changed: 2 });
    expect(await my(anna, 'jobs.retry', where({ status: 'FAILED' }))).toMatchObject({ changed: 0 });
    expect(await my(anna, 'jobs.retry', where())).toEqual({ ...DONE, changed: 2 });
    const { data } = await listJobs(gateway, `?status=QUEUED&batch_id=${batch.id}`);
    expect(data).toHaveLength(2);
    expect(await my(anna, 'jobs.cancel', where())).toEqual({ ...DONE, changed: 4 });
  });

  it('are changed a thousand a command, and the next command goes on', async () => {
    await stage.holdQueue();
    const items = Array.from({ length: 251 }, () => chatItem());
    for (let i = 0; i < 4; i++) await accepted(await submitBatch(gateway, items));
    const first = await my(anna, 'jobs.cancel', where());
    expect(first).toMatchObject({ changed: 1_000, next: expect.any(String), stopped: null });
    const rest = await my(anna, 'jobs.cancel', { ...where(), after: first.next });
    expect(rest).toEqual({ ...DONE, changed: 4 });
    const more = { ...ids(), jobs: Array.from({ length: 1_001 }, () => 'x') };
    expect(await refusal(anna, 'jobs.cancel', more)).toMatchObject({ status: 400, param: 'jobs' });
  });

  it('of others stay as they are, and look like jobs that do not exist', async () => {
    await stage.holdQueue();
    const mine = await submitted(gateway);
    const outcomes = [];
    for (const verb of ['jobs.cancel', 'jobs.retry'] as const) {
      outcomes.push(await my(ben, verb, ids(mine)), await my(ben, verb, where()));
      outcomes.push(await my(ben, verb, { ...ids(mine), jobs: ['Z'.repeat(26)] }));
    }
    expect(outcomes.map(({ changed, unchanged }) => [changed, unchanged])).toEqual([
      [0, 1],
      [0, 0],
      [0, 1],
      [0, 1],
      [0, 0],
      [0, 1],
    ]);
    const count = await readMy(ben, 'jobs.count', { where: EVERY });
    expect(count).toMatchObject({ cancelable: 0, retryable: 0 });
    expect(await readMy(ben, 'queue.groups', {})).toEqual({ total: 0, groups: [] });
    expect((await getJob(gateway, mine.id)).status).toBe('QUEUED');
    await my(anna, 'jobs.cancel', ids(mine));
  });

  it('are chosen in one way, with filters that exist', async () => {
    const both = { ...where(), jobs: ['x'] };
    const neither = { ...where(), where: null };
    for (const args of [both, neither, { ...ids(), jobs: [] }, where({ type: 'X' as 'LLM' })]) {
      expect(await refusal(anna, 'jobs.retry', args)).toMatchObject({
        status: 400,
        code: 'invalid_value',
      });
    }
    for (const query of ['batch_id=x', 'model_id=']) {
      const failure = await failureOf(await gateway.fetch(`/v1/jobs?${query}`));
      expect([failure.status, failure.param]).toEqual([400, query.replace(/=.*/, '')]);
    }
  });
});

describe('the groups of the queue', () => {
  it('have counts, a reason, and an end as soon as the model was measured', async () => {
    stage.fake.behave(hangBeforeHeaders());
    const jobs = [];
    for (let i = 0; i < 5; i++) jobs.push(await submitted(gateway));
    const groups = async () => (await readMy(anna, 'queue.groups', {})).groups;
    await until(async () => (await groups())[0]?.running === 3);
    const label = { label: 'evening' };
    const batch = await accepted<BatchBody>(await submitBatch(gateway, [chatItem()], label));
    const tiny = { model: 'tiny', service_type: 'llm', ends_in_s: null };
    expect(await readMy(anna, 'queue.groups', {})).toMatchObject({
      total: 2,
      groups: [
        { ...tiny, batch: null, label: null, queued: 2, running: 3 },
        { ...tiny, batch: batch.id, label: 'evening', queued: 1, running: 0 },
      ],
    });
    const { waiting_reason: reason } = await getJob(gateway, jobs[3]?.id ?? '');
    expect((await groups())[0]?.waiting_reason).toBe(reason);

    // One call measures the model.
    stage.fake.once(answer());
    expect((await post(gateway, chat())).status).toBe(200);
    expect(await groups()).toMatchObject([{ ends_in_s: 1 }, { ends_in_s: 1 }]);
    await pauseQueue(gateway);
    expect(await groups()).toMatchObject([{ ends_in_s: null }, { ends_in_s: null }]);
    await resumeQueue(gateway);
    await my(anna, 'jobs.cancel', where());
    stage.fake.behave(answer());
  });
});
