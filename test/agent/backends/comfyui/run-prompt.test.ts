/** What becomes of a job whose caller leaves, or that ends without a result. */
import { describe, expect, test } from 'vitest';
import { drain } from '../../../support/local-call.js';
import { until } from '../../../support/until.js';
import { generation, startComfyUi } from './studio.js';

const LONG_MS = 60_000;
const identity = (error: unknown): unknown => error;

describe.each([
  ['a new ComfyUI', false],
  ['an old one, which names jobs itself', true],
])('a caller of %s who leaves', (_name, isOld) => {
  test('stops the job that runs, and it is over when the call ends', async () => {
    const { backend, fake } = await startComfyUi({}, { isOld, jobMs: LONG_MS });
    const leaving = new AbortController();
    const outcome = backend.call(generation({}, { signal: leaving.signal })).catch(identity);
    await until(() => fake.running !== null);
    const { id } = fake.running ?? {};
    leaving.abort(new Error('the caller left'));
    expect(await outcome).toEqual(new Error('the caller left'));
    expect(fake.interrupted).toEqual([id]);
    expect(fake.running).toBeNull();
    expect(fake.history.size).toBe(0);
  });

  test('takes a waiting job out of the queue and leaves the owner’s alone', async () => {
    const { backend, fake } = await startComfyUi({}, { isOld, jobMs: LONG_MS });
    const owners = fake.startOwnersJob();
    const leaving = new AbortController();
    const outcome = backend.call(generation({}, { signal: leaving.signal })).catch(identity);
    await until(() => fake.pending.length === 1);
    const [{ id } = { id: '' }] = fake.pending;
    leaving.abort(new Error('the caller left'));
    expect(await outcome).toEqual(new Error('the caller left'));
    expect(fake.deleted).toEqual([id]);
    expect(fake.interrupted).toEqual([]);
    expect(fake.running?.id).toBe(owners);
  });
});

test('a job that was queued without an answer is taken back', async () => {
  const { backend, fake } = await startComfyUi({}, { jobMs: LONG_MS });
  fake.losesAnswers = true;
  await expect(backend.call(generation())).rejects.toMatchObject({ code: 'LOCAL_ERROR' });
  expect(fake.interrupted).toHaveLength(1);
  expect(fake.running).toBeNull();
});

test('a job that is given up for its missing answers is taken back', async () => {
  const { backend, fake } = await startComfyUi({}, { jobMs: LONG_MS });
  fake.brokenLooks = 6;
  await expect(backend.call(generation())).rejects.toMatchObject({ code: 'LOCAL_ERROR' });
  expect(fake.interrupted).toHaveLength(1);
  expect(fake.running).toBeNull();
});

test('the next job of a call whose caller has left is not begun', async () => {
  const { backend, fake } = await startComfyUi();
  const leaving = new AbortController();
  const answer = await backend.call(generation({ n: 2 }, { signal: leaving.signal }));
  leaving.abort(new Error('the caller left'));
  await expect(drain(answer)).rejects.toThrow('the caller left');
  expect(fake.jobs).toHaveLength(1);
});

test('a caller who has left already costs nothing', async () => {
  const { backend, fake } = await startComfyUi();
  const signal = AbortSignal.abort(new Error('the caller left'));
  await expect(backend.call(generation({}, { signal }))).rejects.toThrow('the caller left');
  expect(fake.server.requests).toEqual([]);
});

test('a job that its owner interrupts is a failure of this provider', async () => {
  const { backend, fake } = await startComfyUi({}, { jobMs: LONG_MS });
  const outcome = backend.call(generation()).catch(identity);
  await until(() => fake.running !== null);
  fake.interruptFromPage();
  expect(await outcome).toMatchObject({
    code: 'LOCAL_ERROR',
    message: 'the job was interrupted on its own machine.',
  });
});

test('a job that its owner removes from the queue is missed', async () => {
  const { backend, fake } = await startComfyUi({}, { jobMs: LONG_MS });
  fake.startOwnersJob();
  const outcome = backend.call(generation()).catch(identity);
  await until(() => fake.pending.length === 1);
  fake.pending.length = 0;
  expect(await outcome).toMatchObject({
    code: 'LOCAL_ERROR',
    message: 'ComfyUI no longer knows the job: it was restarted, or its owner removed it.',
  });
});

test('a server that goes away meanwhile is missed at once', async () => {
  const { backend, fake } = await startComfyUi({}, { jobMs: LONG_MS });
  const outcome = backend.call(generation()).catch(identity);
  await until(() => fake.running !== null);
  await fake.server.close();
  expect(await outcome).toMatchObject({ code: 'LOCAL_UNREACHABLE' });
  fake.interruptFromPage();
});

test('a few answers that do not come are borne', async () => {
  const { backend, fake } = await startComfyUi({}, { jobMs: LONG_MS });
  const outcome = backend.call(generation()).then(drain);
  await until(() => fake.running !== null);
  fake.brokenLooks = 3;
  await until(() => fake.brokenLooks === 0);
  fake.endNow();
  expect(await outcome).toHaveLength(1);
});

test('no request names an origin, and jobs name their client', async () => {
  const { backend, fake } = await startComfyUi();
  await drain(await backend.call(generation()));
  expect(fake.server.requests.filter(({ headers }) => headers.origin !== undefined)).toEqual([]);
  expect(fake.jobs[0]?.clientId).toMatch(/^gateway-/);
});
