import type { Candidate } from '@inference-gateway/coordinator/core/routing/match';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { SERVICE } from '../../store/store-rows.js';
import { makeCandidate } from '../../support/candidate.js';
import { dataFolder } from './data-folder.js';
import { WHERE, claim, fail, fillWithJobs, prepareStopped } from './jobs-in-store.js';
import { startCoordinatorProcess } from './run-coordinator.js';
import { serveAdminOn } from './running-admin.js';

/** One job of Anna's waits for its retry, and one runs. */
async function fillWithStuck(store: Store) {
  const jobs = await fillWithJobs(store);
  await fail(store, await claim(store, jobs.queued, jobs.provider), true);
  return jobs;
}

describe.each(WHERE)('%s', (_, prepare) => {
  test('the summary counts what waits and runs, in all and by model', async () => {
    const folder = await dataFolder();
    const { queued } = await prepare(folder, fillWithJobs);
    expect(await folder.json('queue summary')).toEqual({
      async_enabled: true,
      paused: false,
      queued: 1,
      processing: 1,
      oldest_queued_at: queued.queuedAt,
      last_tick_at: null,
      // A job waits, and no dispatcher has ever ticked on this folder.
      worker_stalled: true,
      by_model: [
        {
          model: 'llama-3.1-8b',
          service_type: 'llm',
          queued: 1,
          running: 1,
          oldest_queued_at: queued.queuedAt,
          slots: 0,
          providers_online: 0,
        },
      ],
    });
    const { stdout, stderr } = await folder.run('queue summary');
    expect(stdout).toMatch(/^llama-3\.1-8b\tllm\t1\t1\t0\t0\t\d+ s\n$/);
    expect(stderr).toBe('Jobs in all: 1 queued, 1 running. No dispatcher is at work here.\n');
  });

  test('a pause holds until resume, and can be said twice', async () => {
    const folder = await dataFolder();
    await prepare(folder, fillWithJobs);
    for (const command of ['queue pause', 'queue pause']) {
      expect(await folder.run(command)).toMatchObject({ code: 0, stdout: '' });
    }
    expect(await folder.json('queue summary')).toMatchObject({ paused: true, queued: 1 });
    const { stderr } = await folder.run('queue summary');
    expect(stderr).toContain('The queue is paused: "queue resume" opens it.');
    expect(await folder.alone('queue resume')).toMatchObject({ code: 0, stdout: '' });
    expect(await folder.json('queue summary')).toMatchObject({ paused: false, queued: 1 });
  });

  test('requeue-stuck lets jobs run that wait out a back-off, and prints how many', async () => {
    const folder = await dataFolder();
    const { queued } = await prepare(folder, fillWithStuck);
    const shown = await folder.json(`job show ${queued.id}`);
    expect(shown).toMatchObject({ status: 'QUEUED', attempts: 1 });
    expect(shown).not.toMatchObject({ not_before: null });
    expect(await folder.output('queue requeue-stuck')).toBe('1');
    expect(await folder.json(`job show ${queued.id}`)).toMatchObject({
      status: 'QUEUED',
      not_before: null,
    });
    expect(await folder.output('queue requeue-stuck')).toBe('0');
  });
});

test('a paused queue is why a job waits, also where no coordinator runs', async () => {
  const folder = await dataFolder();
  const { queued } = await prepareStopped(folder, fillWithJobs);
  await folder.output('queue pause');
  expect(await folder.json(`job show ${queued.id}`)).toMatchObject({
    position: 1,
    waiting_reason: 'No coordinator is running, and the queue is paused by an administrator.',
  });
});

test('beside a running one, the summary knows of the dispatcher and of who is online', async () => {
  const folder = await dataFolder();
  const { store, jobActions, links } = await serveAdminOn(folder.path);
  await fillWithJobs(store);
  links.served = [
    candidate('a', { slots: 2 }),
    candidate('b', { slots: 3 }),
    candidate('c', { online: false, slots: 4 }),
  ];
  jobActions.lastTickAt = Date.now();
  expect(await folder.json('queue summary')).toMatchObject({
    last_tick_at: jobActions.lastTickAt,
    worker_stalled: false,
    by_model: [{ slots: 5, providers_online: 2 }],
  });
  expect((await folder.run('queue summary')).stderr).toMatch(/The dispatcher ticked \d+ s ago\.\n/);
  jobActions.lastTickAt = Date.now() - 61_000;
  expect(await folder.json('queue summary')).toMatchObject({ worker_stalled: true });
  expect((await folder.run('queue summary')).stderr).toMatch(/1 min ago: it is stalled\./);
});

test('a pause outlives the coordinator, and the summary says where jobs are off', async () => {
  const folder = await dataFolder();
  const { queued } = await prepareStopped(folder, fillWithJobs);
  const started = await startCoordinatorProcess(['--data', folder.path]);
  await folder.output('queue pause');
  const shown = await folder.json(`job show ${queued.id}`);
  expect(shown).toMatchObject({ waiting_reason: 'The queue is paused by an administrator.' });
  started.process.kill('SIGKILL');
  await started.ended();
  expect(await folder.json('queue summary')).toMatchObject({ paused: true, last_tick_at: null });
  await startCoordinatorProcess(['--data', folder.path], { GATEWAY_ASYNC_ENABLED: 'false' });
  const summary = {
    async_enabled: false,
    paused: true,
    worker_stalled: true,
    last_tick_at: expect.any(Number),
  };
  expect(await folder.json('queue summary')).toMatchObject(summary);
});

test('nothing in the queue is an empty list, and nothing stalls', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  expect(await folder.json('queue summary')).toEqual({
    async_enabled: true,
    paused: false,
    queued: 0,
    processing: 0,
    oldest_queued_at: null,
    last_tick_at: null,
    worker_stalled: false,
    by_model: [],
  });
  const off = await folder.run('queue summary', { env: { GATEWAY_ASYNC_ENABLED: 'false' } });
  expect(off).toMatchObject({ code: 0, stdout: '' });
  expect(off.stderr).toMatch(/ Jobs are not taken: GATEWAY_ASYNC_ENABLED is off\.\n$/);
  expect(await folder.alone('queue stop')).toMatchObject({ code: 2, stdout: '' });
});

function candidate(providerId: string, trait: Partial<Candidate>): Candidate {
  const [model] = SERVICE.models;
  if (model === undefined) throw new Error('the service has no model');
  return makeCandidate({ providerId, model, freeSlots: 0, slots: 1, ...trait });
}
