import { describe, expect, test } from 'vitest';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import { expectFailures } from './expect-failures.js';
import { ANSWER, PROMPT, WHERE, fillWithJobs, prepareStopped, submit } from './jobs-in-store.js';
import { serveAdminOn } from './running-admin.js';

type Listed = Record<string, unknown> & { readonly id: string };

async function idsOf(folder: DataFolder, command: string): Promise<string[]> {
  return ((await folder.json(command)) as Listed[]).map(({ id }) => id);
}

describe.each(WHERE)('%s', (where, prepare) => {
  test('jobs are listed newest first, and a list can be narrowed', async () => {
    const folder = await dataFolder();
    const jobs = await prepare(folder, fillWithJobs);
    const { processed, failed, canceled, running, queued } = jobs;
    const ids = [queued, running, canceled, failed, processed].map(({ id }) => id);
    expect(await idsOf(folder, 'job list')).toEqual(ids);
    expect(await idsOf(folder, 'job list --limit 2')).toEqual(ids.slice(0, 2));
    expect(await idsOf(folder, 'job list --user ben')).toEqual([canceled.id]);
    expect(await idsOf(folder, 'job list --status FAILED')).toEqual([failed.id]);
    expect(await idsOf(folder, 'job list --active')).toEqual([queued.id, running.id]);
    expect(await idsOf(folder, 'job list --active --user ben')).toEqual([]);
  });

  test('a row says whose it is, who has it, and why it waits or has failed', async () => {
    const folder = await dataFolder();
    const { queued, running, failed, provider } = await prepare(folder, fillWithJobs);
    const [waiting] = (await folder.json('job list --status QUEUED')) as Listed[];
    const isIdle = where === 'without a coordinator';
    expect(waiting).toEqual({
      id: queued.id,
      status: 'QUEUED',
      inference_type: 'LLM',
      model: 'llama-3.1-8b',
      served_model: null,
      attempts: 0,
      max_attempts: 3,
      position: isIdle ? 1 : 3,
      waiting_reason: isIdle ? 'No coordinator is running.' : 'All 2 slots are busy.',
      error: null,
      batch_id: null,
      created_at: queued.createdAt,
      queued_at: queued.queuedAt,
      started_at: null,
      finished_at: null,
      provider_id: null,
      owner: 'anna',
      provider: null,
    });
    const [run] = (await folder.json('job list --status PROCESSING')) as Listed[];
    expect(run).toMatchObject({ id: running.id, provider: 'ben/den-pc', waiting_reason: null });
    const [lost] = (await folder.json('job list --status FAILED')) as Listed[];
    expect(lost).toMatchObject({
      id: failed.id,
      provider_id: provider.id,
      error: { code: 'provider_error', type: 'upstream_error' },
    });
    expect((await folder.output('job list --status FAILED')).split('\t')).toEqual([
      failed.id,
      'FAILED',
      'anna',
      'LLM',
      'llama-3.1-8b',
      expect.stringMatching(/^\d+ s$/),
      '1/3',
      'ben/den-pc',
      'provider_error',
    ]);
  });

  test('show tells all of one job, its files included', async () => {
    const folder = await dataFolder();
    const { processed, asset, queued, failed } = await prepare(folder, fillWithJobs);
    expect(await folder.json(`job show ${processed.id}`)).toMatchObject({
      id: processed.id,
      status: 'PROCESSED',
      inference_type: 'TTS',
      endpoint: 'speech',
      scope: 'any',
      generation: 1,
      key_id: 'key-1',
      request_id: 'req_1',
      batch_id: null,
      batch_index: null,
      position: null,
      waiting_reason: null,
      provider: 'ben/den-pc',
      assets: [{ id: asset.id, content_type: 'audio/wav', bytes: 1_000 }],
    });
    const readable = await folder.output(`job show ${queued.id}`);
    expect(readable).toMatch(/^status +QUEUED$/m);
    expect(readable).toMatch(/^created_at +\d{4}-\d\d-\d\dT/m);
    expect(readable).toMatch(/^waiting_reason +\w+/m);
    expect(await folder.output(`job show ${failed.id}`)).toMatch(/^error +provider_error: The /m);
  });

  test('cancel ends a job, and one that had ended before exits 7', async () => {
    const folder = await dataFolder();
    const { queued, running, processed } = await prepare(folder, fillWithJobs);
    expect(await folder.alone(`job cancel ${queued.id}`)).toEqual({
      code: 0,
      stdout: '',
      stderr: `Job ${queued.id} is canceled.\n`,
    });
    const stopped = await folder.run(`job cancel ${running.id}`);
    expect(stopped.stderr).toBe(`Job ${running.id} is canceled; ben/den-pc stops it.\n`);
    expect(await folder.json(`job show ${running.id}`)).toMatchObject({ status: 'CANCELED' });
    for (const [{ id }, status] of [
      [queued, 'CANCELED'],
      [processed, 'PROCESSED'],
    ] as const) {
      const late = await folder.run(`job cancel ${id}`);
      expect(late).toMatchObject({ code: 7, stdout: '' });
      expect(late.stderr).toContain(`job ${id} had ended before: it is ${status}`);
    }
  });

  test('retry queues what has failed or was canceled, and exits 7 for the rest', async () => {
    const folder = await dataFolder();
    const { failed, canceled, running, processed, queued } = await prepare(folder, fillWithJobs);
    for (const { id } of [failed, canceled]) {
      expect(await folder.run(`job retry ${id}`)).toMatchObject({ code: 0, stdout: '' });
      expect(await folder.json(`job show ${id}`)).toMatchObject({
        status: 'QUEUED',
        attempts: 0,
        generation: 2,
        error: null,
        waiting_reason: expect.any(String),
      });
    }
    for (const { id } of [running, processed, queued]) {
      const refused = await folder.run(`job retry ${id}`);
      expect(refused).toMatchObject({ code: 7, stdout: '' });
      expect(refused.stderr).toContain('only FAILED and CANCELED jobs can be retried');
    }
  });

  test('what was asked and what was answered is never printed', async () => {
    const folder = await dataFolder();
    const { processed, queued, failed } = await prepare(folder, fillWithJobs);
    const shows = [processed, queued, failed].map(({ id }) => `job show ${id}`);
    for (const command of ['job list', 'job list --json', ...shows, `${shows[0]} --json`]) {
      const printed = await folder.output(command);
      expect(printed).toContain(processed.id.slice(0, 6));
      expect(printed).not.toContain(PROMPT);
      expect(printed).not.toContain(ANSWER);
    }
  });
});

test('a retry needs room in the queue of the job’s owner', async () => {
  const folder = await dataFolder();
  const { failed } = await prepareStopped(folder, fillWithJobs);
  const full = { env: { GATEWAY_MAX_QUEUED: '1' } };
  const refused = await folder.run(`job retry ${failed.id}`, full);
  expect(refused).toMatchObject({ code: 7, stdout: '' });
  expect(refused.stderr).toContain('raise GATEWAY_MAX_QUEUED.');
  expect(await folder.json(`job show ${failed.id}`)).toMatchObject({ status: 'FAILED' });
});

test('an administrator acts in nobody’s name, and through the running jobActions', async () => {
  const folder = await dataFolder();
  const { store, jobActions } = await serveAdminOn(folder.path);
  const { queued, failed } = await fillWithJobs(store);
  await folder.output(`job cancel ${queued.id}`);
  await folder.output(`job retry ${failed.id}`);
  expect(jobActions.askedFor).toEqual([null, null]);
});

test('a job whose owner queues many stands where the queue has it', async () => {
  const folder = await dataFolder();
  const { last, queued } = await prepareStopped(folder, async (store) => {
    const jobs = await fillWithJobs(store);
    return { ...jobs, last: await submit(store, jobs.anna) };
  });
  const rows = (await folder.json('job list --status QUEUED')) as Listed[];
  expect(rows.map(({ id, position }) => [id, position])).toEqual([
    [last.id, 2],
    [queued.id, 1],
  ]);
});

test('what can be no limit or state is a usage error', async () => {
  await expectFailures(await dataFolder(), [
    ['job list --limit 0', 2, '--limit'],
    ['job list --status queued', 2, '--status'],
  ]);
});
