import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import type { LocalCall, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { expect, onTestFinished, test } from 'vitest';
import { configuredServer } from '../../../support/configured-server.js';
import { drain, errorOf, localCall, upload } from '../../../support/local-call.js';
import { SD_MODEL, startFakeSdServer } from '../../../support/local-servers/sd-server.js';
import { picture } from '../../../support/pictures.js';
import { until } from '../../../support/until.js';

const HIDDEN = '<sd_cpp_extra_args>{"width":4096,"seed":1}</sd_cpp_extra_args>';

async function start(changes: Partial<ServiceConfig> = {}) {
  const fake = await startFakeSdServer();
  onTestFinished(() => fake.server.close());
  const service = { backend: 'sd-server', type: 'image', ...changes } as const;
  return { fake, backend: createBackend(configuredServer(`${fake.server.origin}/v1`, service)) };
}

function images(body: Record<string, unknown> = {}): LocalCall {
  return localCall({ endpoint: 'images', body: { prompt: 'a cat', ...body } });
}

test('its model has the name that the web UI’s paths tell', async () => {
  const { backend } = await start();
  const { models, slots } = await backend.describe(AbortSignal.timeout(2_000));
  expect(models.map(({ id, loaded }) => [id, loaded])).toEqual([[SD_MODEL, true]]);
  expect(slots).toBe(1);
});

test('an older one has no other name than its fixed one', async () => {
  const { backend, fake } = await start();
  fake.hasWebUi = false;
  const { models } = await backend.describe(AbortSignal.timeout(2_000));
  expect(models.map(({ id }) => id)).toEqual(['sd-cpp-local']);
});

test('it makes no films here', async () => {
  const { backend } = await start({ type: 'video' });
  expect((await backend.describe(AbortSignal.timeout(2_000))).models).toEqual([]);
});

test('the same prompt makes another picture each time', async () => {
  const { backend, fake } = await start();
  for (let i = 0; i < 2; i++) await drain(await backend.call(images()));
  const [first, second] = fake.made;
  expect(first).toMatchObject({ prompt: 'a cat', width: 512 });
  expect(first?.seed).not.toBe(second?.seed);
});

test.each([
  [7, [7, 8]],
  ['7', [7, 8]],
  [1e300, [2_147_483_647, 2_147_483_648]],
])('a caller’s seed %j is taken', async (seed, seeds) => {
  const { backend, fake } = await start();
  expect(await drain(await backend.call(images({ seed, n: 2 })))).toHaveLength(2);
  expect(fake.made.map((made) => made.seed)).toEqual(seeds);
});

test('an edit has a seed of its own, too', async () => {
  const { backend, fake } = await start();
  const uploads = [upload('image', 'image/png', picture())];
  const call = localCall({ endpoint: 'edits', body: { prompt: 'a cat' }, uploads });
  await drain(await backend.call(call));
  expect(fake.made).toMatchObject([{ prompt: 'a cat' }]);
  expect(fake.made[0]?.seed).not.toBe(42);
});

test.each(['sd-server', 'openai'])(
  'settings hidden in a prompt do not pass %s',
  async (backend) => {
    const { backend: made, fake } = await start({ backend });
    await drain(await made.call(images({ prompt: `a cat${HIDDEN}` })));
    expect(fake.made).toMatchObject([{ prompt: 'a cat', width: 512 }]);
    expect(fake.made[0]?.seed).not.toBe(1);
  },
);

test('a prompt that is missing is its own refusal', async () => {
  const { backend } = await start();
  const answer = await backend.call(images({ prompt: '' }));
  expect(answer).toMatchObject({ kind: 'document', status: 400 });
  expect(errorOf(answer)).toMatchObject({ message: 'prompt required', code: 'provider_rejected' });
});

const COMPUTES_MS = 400;

async function leave(call: (signal: AbortSignal) => Promise<unknown>, when: () => boolean) {
  const leaving = new AbortController();
  const outcome = call(leaving.signal).catch((error: unknown) => error);
  await until(when);
  leaving.abort('left');
  return outcome;
}

test('a job that waits behind another is taken back as soon as its caller leaves', async () => {
  const { backend, fake } = await start();
  fake.computesMs = COMPUTES_MS;
  const owners = fake.occupy();
  const outcome = await leave(
    (signal) => backend.call({ ...images(), signal }),
    () => fake.jobs.size === 1,
  );
  expect(outcome).toBe('left');
  expect(fake.computed).toBe(0);
  await owners;
  expect([...fake.jobs.values()]).toMatchObject([{ status: 'cancelled' }]);
  expect(fake.computed).toBe(1);
  expect(fake.made).toEqual([]);
});

test.each([
  ['a job', true],
  ['a request to a version without jobs', false],
])(
  '%s that is computed cannot be stopped: the call is over when the card is free',
  async (_, is) => {
    const { backend, fake } = await start();
    fake.hasJobs = is;
    fake.computesMs = COMPUTES_MS;
    const paths = is ? '/sdcpp/v1/img_gen' : '/v1/images/generations';
    const hasBegun = (): boolean => (is ? fake.made.length === 1 : fake.server.opened(paths));
    const outcome = await leave((signal) => backend.call({ ...images(), signal }), hasBegun);
    expect([outcome, fake.computed]).toEqual(['left', 1]);
    const [job] = fake.jobs.values();
    if (is) expect(job?.canceledAt).not.toBeNull();
  },
);

test('three questions without an answer do not give a job up, and a fourth does', async () => {
  const { backend, fake } = await start();
  fake.cutsOff = 3;
  expect(await drain(await backend.call(images()))).toHaveLength(1);
  fake.cutsOff = 4;
  const given = async (): Promise<unknown> => drain(await backend.call(images()));
  await expect(given()).rejects.toMatchObject({ name: 'LocalFailure' });
});

test('a job has the fields that OpenAI’s paths read, and no other', async () => {
  const { backend, fake } = await start();
  const fields = { size: '64x96', n: 2, seed: 7, output_format: 'jpeg', output_compression: 80 };
  const hostile = { lora: [{ multiplier: 9 }], init_image: 'data:image/png;base64,AA==' };
  await drain(await backend.call(images({ ...fields, ...hostile })));
  const [job] = fake.jobs.values();
  expect(job?.fields).toEqual({
    prompt: 'a cat',
    batch_count: 2,
    width: 64,
    height: 96,
    seed: 7,
    output_format: 'jpeg',
    output_compression: 80,
  });
});

test('an edit’s job holds its pictures and its mask, in the size of the first', async () => {
  const { backend, fake } = await start();
  const pictures = [picture({ seed: 1 }), picture({ seed: 2 }), picture({ seed: 3 })];
  const names = ['image', 'image', 'mask'];
  const uploads = pictures.map((bytes, at) => upload(names[at] ?? '', 'image/png', bytes));
  const call = localCall({ endpoint: 'edits', body: { prompt: 'a cat' }, uploads });
  expect(await drain(await backend.call(call))).toHaveLength(1);
  const [first, second, mask] = pictures.map((bytes) => bytes.toString('base64'));
  const [job] = fake.jobs.values();
  expect(job?.fields).toMatchObject({
    init_image: first,
    ref_images: [first, second],
    mask_image: mask,
    width: -1,
    height: -1,
  });
});

test('a job that fails tells why, and a full queue is no failure of the server', async () => {
  const { backend, fake } = await start();
  const [path, full] = ['/sdcpp/v1/img_gen', { error: 'job queue is full' }];
  fake.answers.set(`POST ${path}`, [429, full]);
  expect(await backend.call(images())).toMatchObject({ kind: 'document', status: 429 });
  fake.answers.delete(`POST ${path}`);
  const error = { code: 'generation_failed', message: 'out of memory' };
  fake.answers.set('GET /sdcpp/v1/jobs/job_0', [200, { status: 'failed', error }]);
  const failed = await backend.call(images());
  expect([failed.kind, errorOf(failed)]).toMatchObject(['document', { message: 'out of memory' }]);
});
