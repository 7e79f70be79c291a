import type { Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { dataFolder } from './data-folder.js';
import { PROMPT, WHERE, claim, fail, fillWithJobs, finish, submitBatch } from './jobs-in-store.js';

/**
 * Anna's batch of four jobs: one processed, one failed, one running, one queued. Ben's batch has
 * one job.
 */
async function fill(store: Store) {
  const { anna, ben, provider } = await fillWithJobs(store);
  const annas = await submitBatch(store, anna, { label: 'evening', count: 4 });
  const bens = await submitBatch(store, ben, { label: null, count: 1 });
  const claims = [];
  for (const id of annas.jobs.slice(0, 3)) claims.push(await claim(store, { id }, provider));
  await finish(store, claims[0] ?? '');
  await fail(store, claims[1] ?? '', false);
  return { annas, bens };
}

const COUNTS = { total: 4, queued: 1, processing: 1, processed: 1, failed: 1, canceled: 0 };

describe.each(WHERE)('%s', (_, prepare) => {
  test('batches are listed newest first, of one member or of all', async () => {
    const folder = await dataFolder();
    const { annas, bens } = await prepare(folder, fill);
    const ids = async (command: string): Promise<string[]> =>
      ((await folder.json(command)) as { id: string }[]).map(({ id }) => id);
    expect(await ids('batch list')).toEqual([bens.id, annas.id]);
    expect(await ids('batch list --limit 1')).toEqual([bens.id]);
    expect(await folder.json('batch list --user anna')).toEqual([
      {
        id: annas.id,
        owner: 'anna',
        label: 'evening',
        status: 'PROCESSING',
        ...COUNTS,
        created_at: expect.any(Number),
        input_file_id: null,
      },
    ]);
    expect(await folder.output('batch list --user ben')).toMatch(
      new RegExp(`^${bens.id}\tPENDING\tben\t-\t1\t1\t0\t0\t0\t0\t\\d+ s$`),
    );
  });

  test('show has the counts and every job, in the order of the request', async () => {
    const folder = await dataFolder();
    const { annas } = await prepare(folder, fill);
    const statuses = ['PROCESSED', 'FAILED', 'PROCESSING', 'QUEUED'];
    expect(await folder.json(`batch show ${annas.id}`)).toMatchObject({
      id: annas.id,
      status: 'PROCESSING',
      ...COUNTS,
      jobs: annas.jobs.map((id, index) => ({
        index,
        id,
        status: statuses[index],
        inference_type: 'LLM',
      })),
    });
    const { stdout, stderr } = await folder.run(`batch show ${annas.id}`);
    expect(stdout).toBe(
      annas.jobs.map((id, index) => `${index}\t${id}\t${statuses[index]}\tLLM\n`).join(''),
    );
    expect(stderr).toBe(
      `Batch ${annas.id} is PROCESSING. Of 4 jobs: 1 queued, 1 processing, 1 processed, ` +
        '1 failed, 0 canceled.\n',
    );
    expect(stdout + stderr).not.toContain(PROMPT);
  });

  test('cancel ends what has not ended, and does so once', async () => {
    const folder = await dataFolder();
    const { annas } = await prepare(folder, fill);
    const run = await folder.alone(`batch cancel ${annas.id}`);
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toContain(`Batch ${annas.id} is DONE.`);
    const after = { ...COUNTS, queued: 0, processing: 0, canceled: 2, status: 'DONE' };
    expect(await folder.json(`batch show ${annas.id}`)).toMatchObject(after);
    expect(await folder.run(`batch cancel ${annas.id}`)).toMatchObject(run);
    expect(await folder.json(`batch show ${annas.id}`)).toMatchObject(after);
    const [last] = annas.jobs.slice(-1);
    expect(await folder.json(`job show ${last}`)).toMatchObject({
      status: 'CANCELED',
      batch_id: annas.id,
      batch_index: 3,
    });
  });

  test('what is no batch is neither shown nor canceled', async () => {
    const folder = await dataFolder();
    const { annas } = await prepare(folder, fill);
    // A job's id is not a batch's id.
    for (const verb of ['show', 'cancel']) {
      const run = await folder.alone(`batch ${verb} ${annas.jobs[0]}`);
      expect(run).toMatchObject({ code: 3, stdout: '' });
      expect(run.stderr).toContain(`there is no batch '${annas.jobs[0]}'`);
    }
  });
});

test('a list of no rows is a usage error', async () => {
  const { code, stdout, stderr } = await (await dataFolder()).run('batch list --limit 0');
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('--limit');
});
