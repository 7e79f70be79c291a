import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import type { LocalCall, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { expect, onTestFinished, test } from 'vitest';
import { configuredServer } from '../../../../support/configured-server.js';
import { drain, errorOf, localCall, upload } from '../../../../support/local-call.js';
import { SD_MODEL, startFakeSdServer } from '../../../../support/local-servers/sd-server.js';
import { picture } from '../../../../support/pictures.js';

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
