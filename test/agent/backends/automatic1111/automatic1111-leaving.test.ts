/** A job of the web UI whose caller leaves: the card must be free before the run is over. */
import { expect, test } from 'vitest';
import { generation, startWebUi as start } from './web-ui.js';
import { until } from '../../../support/until.js';

const identity = (error: unknown): unknown => error;

test('a caller who leaves ends the job, and the card is free when the call is over', async () => {
  const { fake, backend } = await start({ jobMs: 60_000 });
  const leaving = new AbortController();
  const call = backend.call(generation({}, { signal: leaving.signal })).catch(identity);
  await until(() => fake.jobs.length === 1);
  const reason = new Error('the caller left');
  const at = performance.now();
  leaving.abort(reason);
  expect(await call).toBe(reason);
  expect(performance.now() - at).toBeLessThan(1_000);
  expect(fake.running).toBeNull();
  expect(fake.interrupted).toEqual([fake.jobs[0]?.['force_task_id']]);
});

test('the owner’s own picture is never interrupted, while ours waits behind it', async () => {
  const { fake, backend } = await start({ jobMs: 60_000 });
  const owners = fake.startOwnersJob(600);
  const leaving = new AbortController();
  const call = backend.call(generation({}, { signal: leaving.signal })).catch(identity);
  await until(() => fake.server.to('/sdapi/v1/txt2img').length === 1);
  leaving.abort('canceled');
  await until(() => fake.server.to('/internal/progress').length > 1);
  expect(fake.interrupted).toEqual([]);
  await owners;
  expect(await call).toBe('canceled');
  expect(fake.ended[0]).toBe('task(owner)');
  expect(fake.interrupted).toEqual([fake.jobs[0]?.['force_task_id']]);
});

test('a job that is nearly over is waited for instead', async () => {
  const { fake, backend } = await start({ jobMs: 800 });
  const leaving = new AbortController();
  const call = backend.call(generation({}, { signal: leaving.signal })).catch(identity);
  await until(() => fake.jobs.length === 1);
  leaving.abort('canceled');
  expect(await call).toBe('canceled');
  expect(fake.ended).toHaveLength(1);
  expect(fake.server.to('/internal/progress').length).toBeGreaterThan(0);
  expect(fake.interrupted).toEqual([]);
});

test('where jobs have no names, nothing is interrupted and the job is waited for', async () => {
  const { fake, backend } = await start({ jobMs: 1_500, namesJobs: false });
  const leaving = new AbortController();
  const call = backend.call(generation({}, { signal: leaving.signal })).catch(identity);
  await until(() => fake.jobs.length === 1);
  leaving.abort('canceled');
  await until(() => fake.server.to('/sdapi/v1/progress').length > 0);
  expect(fake.running).not.toBeNull();
  expect(await call).toBe('canceled');
  expect(fake.ended).toEqual(['unnamed']);
  expect(fake.interrupted).toEqual([]);
});

test('a server that dies while a job winds down ends the wait', async () => {
  const { fake, backend } = await start({ jobMs: 1_000, namesJobs: false });
  const leaving = new AbortController();
  const call = backend.call(generation({}, { signal: leaving.signal })).catch(identity);
  await until(() => fake.jobs.length === 1);
  leaving.abort('canceled');
  await fake.server.close();
  expect(await call).toBe('canceled');
});

test('nothing is asked of it but models, options, progress, jobs and their end', async () => {
  const { fake, backend } = await start({ jobMs: 60_000 });
  await backend.describe(AbortSignal.timeout(2_000));
  const leaving = new AbortController();
  const call = backend.call(generation({}, { signal: leaving.signal })).catch(identity);
  await until(() => fake.jobs.length === 1);
  leaving.abort('canceled');
  await call;
  expect(new Set(fake.server.requests.map(({ method, path }) => `${method} ${path}`))).toEqual(
    new Set([
      'GET /sdapi/v1/sd-models',
      'GET /sdapi/v1/options',
      'POST /sdapi/v1/txt2img',
      'POST /internal/progress',
      'POST /sdapi/v1/interrupt',
    ]),
  );
});

test('its password goes along with everything', async () => {
  const auth = 'owner:pass:word';
  const { fake, backend } = await start({ auth, jobMs: 60_000 }, { apiKey: auth });
  await backend.describe(AbortSignal.timeout(2_000));
  const leaving = new AbortController();
  const call = backend.call(generation({}, { signal: leaving.signal })).catch(identity);
  await until(() => fake.jobs.length === 1);
  leaving.abort('canceled');
  await call;
  expect(fake.interrupted).toHaveLength(1);
});
