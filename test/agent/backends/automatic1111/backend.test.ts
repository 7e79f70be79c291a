/** What Stable Diffusion's web UI needs beyond what every backend does. */
import { expect, test } from 'vitest';
import { TITLE, generation, startWebUi as start } from './web-ui.js';
import { drain, errorOf, upload } from '../../../support/local-call.js';
import type { CallOptions } from '../../../support/local-call.js';
import { picture, runFfmpeg } from '../../../support/pictures.js';
import { send } from '../../../support/recording-server.js';

const edit = (uploads: CallOptions['uploads'] = [], body: Record<string, unknown> = {}) =>
  generation({ prompt: 'a dog', ...body }, { endpoint: 'edits', uploads });

test('models have plain names, are asked for by their titles, and leak no path', async () => {
  const { backend } = await start();
  const { models, slots } = await backend.describe(AbortSignal.timeout(2_000));
  expect(slots).toBe(1);
  expect(models.map(({ id, served_name, loaded }) => [id, served_name, loaded])).toEqual([
    ['v1-5-pruned', 'v1-5-pruned.safetensors [6ce0161689]', true],
    ['dreamshaper_8', 'dreamshaper_8.safetensors [879db523c3]', false],
  ]);
  expect(models[0]).toMatchObject({ input_modalities: ['text'], output_modalities: ['image'] });
  expect(JSON.stringify(models)).not.toContain('somebody');
});

test('a configured model is found by either of its names', async () => {
  const facts = { contextLength: null, inputModalities: null, supportedFeatures: null };
  const models = [
    { id: 'mine', servedName: 'dreamshaper_8', ...facts },
    { id: 'other', servedName: TITLE, ...facts },
  ];
  const { backend } = await start({}, { models });
  const described = await backend.describe(AbortSignal.timeout(2_000));
  expect(described.models.map(({ id, served_name }) => [id, served_name])).toEqual([
    ['mine', 'dreamshaper_8.safetensors [879db523c3]'],
    ['other', TITLE],
  ]);
});

test('a web UI without its API says how to get it', async () => {
  const { fake, backend } = await start();
  fake.handle = (_request, response) => send(response, 404, { detail: 'Not Found' });
  await expect(backend.describe(AbortSignal.timeout(2_000))).rejects.toThrow(/--api/);
});

test('a request is translated, and leaves the owner’s settings as they were', async () => {
  const { fake, backend } = await start();
  const body = { size: '500x771', seed: 7, steps: 12, cfg_scale: 6.5, sampler_name: 'Euler a' };
  await drain(await backend.call(generation({ ...body, n: 2, negative_prompt: 'dogs' })));
  expect(fake.jobs[0]).toEqual({
    prompt: 'a cat',
    negative_prompt: 'dogs',
    width: 504,
    height: 768,
    seed: 7,
    steps: 12,
    cfg_scale: 6.5,
    sampler_name: 'Euler a',
    batch_size: 1,
    n_iter: 2,
    override_settings: { sd_model_checkpoint: TITLE },
    override_settings_restore_afterwards: true,
    send_images: true,
    save_images: false,
    force_task_id: expect.stringMatching(/^task\(gateway-/),
  });
});

test('what is not asked for is left to the server, but the seed is new each time', async () => {
  const { fake, backend } = await start();
  await drain(await backend.call(generation()));
  expect(Object.keys(fake.jobs[0] ?? {}).toSorted()).toEqual([
    'batch_size',
    'force_task_id',
    'n_iter',
    'negative_prompt',
    'override_settings',
    'override_settings_restore_afterwards',
    'prompt',
    'save_images',
    'seed',
    'send_images',
  ]);
  expect(fake.jobs[0]).toMatchObject({ seed: -1, n_iter: 1 });
});

test('nothing of a caller reaches scripts, extensions or settings', async () => {
  const { fake, backend } = await start();
  const hostile = {
    script_name: 'custom code',
    script_args: ['import os'],
    alwayson_scripts: { x: { args: [] } },
    override_settings: { outdir_samples: '/etc' },
    init_images: ['file:///etc/passwd'],
    save_images: true,
    infotext: 'Steps: 1',
    force_task_id: 'task(owner)',
    enable_hr: true,
  };
  await drain(await backend.call(generation({ ...hostile, steps: '; drop', cfg_scale: {} })));
  const sent = JSON.stringify(fake.jobs[0]);
  for (const word of ['custom', 'import', 'alwayson', '/etc', 'infotext', 'owner)', 'drop']) {
    expect(sent).not.toContain(word);
  }
  expect(fake.jobs[0]).not.toHaveProperty('enable_hr');
  expect(fake.jobs[0]).toMatchObject({ save_images: false });
});

test('a caller cannot hold the card for hours', async () => {
  const { fake, backend } = await start();
  await drain(await backend.call(generation({ steps: 1e6, n: 500, size: '99999x1' })));
  expect(fake.jobs[0]).toMatchObject({ steps: 150, n_iter: 16, width: 4_096, height: 64 });
});

test('what the owner drops does not pass', async () => {
  const { fake, backend } = await start({}, { dropFields: ['negative_prompt', 'steps'] });
  await drain(await backend.call(generation({ negative_prompt: 'x', steps: 5 })));
  expect(fake.jobs[0]).toMatchObject({ negative_prompt: '' });
  expect(fake.jobs[0]).not.toHaveProperty('steps');
});

test('images come clean: without the prompt and the owner’s paths', async () => {
  const { backend } = await start();
  const files = await drain(await backend.call(generation()));
  expect(files).toMatchObject([{ contentType: 'image/png' }]);
  expect(picture().includes('somebody')).toBe(true);
  expect(files[0]?.bytes.includes('somebody')).toBe(false);
});

test.each([
  ['a fork that puts a grid first', true],
  ['the original', false],
])('as many images come as were asked for: %s', async (_name, grid) => {
  const { backend } = await start({ grid });
  const files = await drain(await backend.call(generation({ n: 3 })));
  expect(files).toHaveLength(3);
  const first = await grey(files[0]?.bytes ?? Buffer.alloc(0));
  expect(first.equals(await grey(picture({ seed: grid ? 1 : 0 })))).toBe(true);
});

test('an edit brings its image, in its own size, without a mask', async () => {
  const { fake, backend } = await start();
  const image = await painted(96, 72, 'rgb24');
  await drain(await backend.call(edit([upload('image', 'image/png', image)])));
  expect(fake.server.to('/sdapi/v1/img2img')).toHaveLength(1);
  expect(fake.jobs[0]).toMatchObject({
    width: 96,
    height: 72,
    denoising_strength: 0.75,
    init_images: [image.toString('base64')],
  });
  expect(fake.jobs[0]).not.toHaveProperty('mask');
});

test('an edit’s mask is turned around: transparent becomes white', async () => {
  const { fake, backend } = await start();
  const mask = await painted(64, 64, 'rgba');
  const uploads = [
    upload('image', 'image/png', await painted(64, 64, 'rgb24')),
    upload('mask', 'image/png', mask),
  ];
  const body = { size: '128x128', denoising_strength: '0.5' };
  await drain(await backend.call(edit(uploads, body)));
  expect(fake.jobs[0]).toMatchObject({ width: 128, height: 128, denoising_strength: 0.5 });
  const sent = await grey(Buffer.from(String(fake.jobs[0]?.['mask']), 'base64'));
  const alpha = await runFfmpeg([...READ, '-vf', 'alphaextract', ...GREY], mask);
  expect(sent.equals(alpha.map((value) => 255 - value))).toBe(true);
});

test.each([
  ['two images', 'image', ['image', 'image']],
  ['no image', 'image', ['mask']],
  ['a mask without transparency', 'mask', ['image', 'mask']],
])('an edit with %s is refused, and nothing runs', async (_what, param, names) => {
  const { fake, backend } = await start();
  const image = await painted(16, 16, 'rgb24');
  const answer = await backend.call(edit(names.map((name) => upload(name, 'image/png', image))));
  expect(answer).toMatchObject({ kind: 'document', status: 400 });
  expect(errorOf(answer)).toMatchObject({ param, message: expect.stringContaining(param) });
  expect(fake.jobs).toEqual([]);
});

test.each([
  ['a known complaint', 400, { detail: 'Sampler not found' }, 'Sampler not found'],
  ['out of memory', 500, { detail: '', errors: 'CUDA out of memory.' }, 'CUDA out of memory.'],
  ['a class and nothing else', 500, { detail: '', errors: '' }, 'OutOfMemoryError'],
  [
    'a list of faults',
    422,
    { detail: [{ loc: ['body', 'steps'], msg: 'not valid' }] },
    'body.steps: not valid',
  ],
])('an error says what happened: %s', async (...[, status, told, message]) => {
  const { fake, backend } = await start();
  const error = status === 422 ? told : { error: 'OutOfMemoryError', body: '', ...told };
  fake.behaviour = (_request, response) => send(response, status, error);
  const answer = await backend.call(generation());
  expect(answer).toMatchObject({ status });
  expect(errorOf(answer)).toMatchObject({ message });
});

test.each([
  ['no images', { images: [] }],
  ['a page', '<html>'],
  ['images that are none', { images: [Buffer.from('hello there').toString('base64')] }],
])('a success with %s is a failure', async (_what, body) => {
  const { fake, backend } = await start();
  fake.behaviour = (_request, response) => send(response, 200, body);
  const failure = await backend
    .call(generation())
    .then(drain)
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'LOCAL_ERROR' });
});

const READ = ['-i', 'pipe:0'];
const GREY = ['-f', 'rawvideo', '-pix_fmt', 'gray'];
const grey = (image: Buffer) => runFfmpeg([...READ, ...GREY], image);

function painted(width: number, height: number, pixelFormat: string): Promise<Buffer> {
  const shades = `nullsrc=${width}x${height},format=rgba,geq=r=X:g=Y:b=0:a='mod(X*9+Y*5,256)'`;
  const source = ['-f', 'lavfi', '-i', shades, '-frames:v', '1', '-pix_fmt', pixelFormat];
  return runFfmpeg([...source, '-c:v', 'png', '-f', 'image2pipe']);
}
