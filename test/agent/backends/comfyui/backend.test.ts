import { describe, expect, test } from 'vitest';
import { documentOf, drain, errorOf } from '../../../support/local-call.js';
import { FILM_GRAPH, PICTURE_GRAPH } from '../../../support/local-servers/comfyui-graphs.js';
import { COMFY_CHECKPOINTS } from '../../../support/local-servers/comfyui.js';
import { send } from '../../../support/recording-server.js';
import { filling, generation, inputsOf, serving, startComfyUi } from './studio.js';

const soon = () => AbortSignal.timeout(2_000);
const NO_FACTS = { contextLength: null, inputModalities: null, supportedFeatures: null };

describe('what it serves', () => {
  test('each checkpoint, by its name without the ending', async () => {
    const { backend, fake } = await startComfyUi();
    const { models, slots } = await backend.describe(soon());
    expect(models.map(({ id, served_name: name }) => [id, name])).toEqual([
      ['v1-5-pruned', 'v1-5-pruned.safetensors'],
      ['xl/juggernaut', 'xl/juggernaut.safetensors'],
    ]);
    expect(slots).toBe(1);
    expect(fake.server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /system_stats',
      'GET /models/checkpoints',
    ]);
  });

  test.each(['v1-5-pruned', 'v1-5-pruned.safetensors'])(
    'a checkpoint that its owner calls %s',
    async (servedName) => {
      const { backend } = await startComfyUi({ models: [{ id: 'sd', servedName, ...NO_FACTS }] });
      const { models } = await backend.describe(soon());
      expect(models).toMatchObject([{ id: 'sd', served_name: 'v1-5-pruned.safetensors' }]);
    },
  );

  test('each workflow and no checkpoint where there are workflows', async () => {
    const edited = {
      ...PICTURE_GRAPH,
      '2': { class_type: 'LoadImage', inputs: { image: '{{image}}' } },
    };
    const workflows = [
      { id: 'flux', graph: PICTURE_GRAPH },
      { id: 'kontext', graph: edited },
    ];
    const { backend, fake } = await startComfyUi({ workflows });
    const { models } = await backend.describe(soon());
    expect(models.map(({ id, input_modalities: inputs }) => [id, inputs])).toEqual([
      ['flux', ['text']],
      ['kontext', ['text', 'image']],
    ]);
    expect(fake.server.requests.map(({ path }) => path)).toEqual(['/system_stats']);
  });

  test('no other server that has its paths', async () => {
    const { backend, fake } = await startComfyUi();
    fake.override = (_request, response) => send(response, 200, { system: {} });
    await expect(backend.describe(soon())).rejects.toThrow('is not ComfyUI. Check the base URL.');
  });

  test('a model that is no workflow is not served', async () => {
    const { backend, fake } = await startComfyUi(serving(PICTURE_GRAPH));
    const answer = await backend.call(filling({}, { servedName: '../other' }));
    expect(errorOf(answer)).toMatchObject({ code: 'model_not_found' });
    expect(fake.server.requests).toEqual([]);
  });
});

describe('a checkpoint', () => {
  test('makes a picture of its usual size, and nothing stays with its owner', async () => {
    const { backend, fake } = await startComfyUi();
    const [file] = await drain(await backend.call(generation()));
    expect(file?.contentType).toBe('image/png');
    expect(file?.bytes.toString('latin1')).not.toContain('secret-model');
    expect(inputsOf(fake, 'CheckpointLoaderSimple')).toEqual({ ckpt_name: COMFY_CHECKPOINTS[0] });
    expect(inputsOf(fake, 'EmptyLatentImage')).toEqual({ width: 512, height: 512, batch_size: 1 });
    expect(inputsOf(fake, 'CLIPTextEncode')).toMatchObject({ text: 'a cat' });
    expect(inputsOf(fake, 'KSampler')).toMatchObject({ steps: 20, cfg: 7, denoise: 1 });
    expect(inputsOf(fake, 'SaveImage')).toBeUndefined();
    expect(fake.history.size).toBe(0);
  });

  test('of Stable Diffusion XL makes larger ones', async () => {
    const { backend, fake } = await startComfyUi();
    await drain(await backend.call(generation({}, { servedName: 'xl/juggernaut.safetensors' })));
    expect(inputsOf(fake, 'EmptyLatentImage')).toMatchObject({ width: 1_024, height: 1_024 });
  });

  test('takes what a caller may say, within limits', async () => {
    const { backend, fake } = await startComfyUi();
    const said = { size: '701x333', steps: 9_999, cfg_scale: '3.5', seed: 7, negative_prompt: 'x' };
    await drain(await backend.call(generation({ ...said, ckpt_name: 'other', workflow: {} })));
    expect(inputsOf(fake, 'EmptyLatentImage')).toMatchObject({ width: 704, height: 336 });
    expect(inputsOf(fake, 'KSampler')).toMatchObject({ steps: 150, cfg: 3.5, seed: 7 });
    expect(JSON.stringify(fake.jobs[0]?.graph)).not.toContain('other');
  });

  test('takes nothing that its owner drops', async () => {
    const { backend, fake } = await startComfyUi({ dropFields: ['steps'] });
    await drain(await backend.call(generation({ steps: 100 })));
    expect(inputsOf(fake, 'KSampler')).toMatchObject({ steps: 20 });
  });

  test('makes several one after the other, each with another seed', async () => {
    const { backend, fake } = await startComfyUi();
    const files = await drain(await backend.call(generation({ n: 3, seed: 7 })));
    expect(new Set(files.map(({ bytes }) => bytes.toString('hex'))).size).toBe(3);
    const seeds = [0, 1, 2].map((index) => inputsOf(fake, 'KSampler', index)?.['seed']);
    expect(seeds).toEqual([7, 8, 9]);
  });

  test.each([undefined, null, -1, '', 'x', true, [5]])(
    'a seed of %j is a new one each time',
    async (seed) => {
      const { backend, fake } = await startComfyUi();
      for (let i = 0; i < 2; i++) await drain(await backend.call(generation({ seed })));
      const [first, second] = [0, 1].map((index) => inputsOf(fake, 'KSampler', index)?.['seed']);
      expect(first).toEqual(expect.any(Number));
      expect(first).not.toBe(second);
    },
  );
});

describe('a workflow', () => {
  test('gets its places filled, its own defaults where the caller is silent', async () => {
    const { backend, fake } = await startComfyUi(serving(PICTURE_GRAPH));
    await drain(await backend.call(filling({ num_inference_steps: 12 })));
    expect(inputsOf(fake, 'EmptyLatentImage')).toMatchObject({ width: 768, height: 1_024 });
    expect(inputsOf(fake, 'KSampler')).toMatchObject({ steps: 12, cfg: 1.5 });
    const { '7': negative, '6': positive } = fake.jobs[0]?.graph ?? {};
    expect(negative?.inputs).toMatchObject({ text: 'blurry, ugly' });
    expect(positive).toMatchObject({ _meta: { title: 'not {{read}}' } });
  });

  test('a caller’s text is a text, whatever it looks like', async () => {
    const { backend, fake } = await startComfyUi(serving(PICTURE_GRAPH));
    const prompt = '"], "class_type": "LoadImage", {{seed}} ${x} $& {{image:/etc/passwd}}';
    await drain(await backend.call(filling({ prompt, negative_prompt: '$& {{prompt}}' })));
    expect(fake.jobs[0]?.graph['6']?.inputs).toEqual({ text: prompt, clip: ['4', 1] });
    expect(fake.jobs[0]?.graph['7']?.inputs).toMatchObject({ text: 'blurry, $& {{prompt}}' });
  });

  test('with a place for n makes all of them at once', async () => {
    const latent = {
      class_type: 'EmptyLatentImage',
      inputs: { width: 64, height: 64, batch_size: '{{n}}' },
    };
    const { backend, fake } = await startComfyUi(serving({ ...PICTURE_GRAPH, '5': latent }));
    expect(await drain(await backend.call(filling({ n: 3 })))).toHaveLength(3);
    expect(fake.jobs).toHaveLength(1);
  });

  test.each([
    [{ duration: 2, fps: 10 }, { length: 21 }, 'f10'],
    [{ duration: 2 }, { length: 33 }, 'f16'],
    [{ width: 640, height: 360 }, { length: 81, width: 640, height: 360 }, 'f16'],
  ])('a film of %j', async (body, latent, prefix) => {
    const { backend, fake } = await startComfyUi({ type: 'video', ...serving(FILM_GRAPH) });
    const files = await drain(await backend.call(filling(body, { endpoint: 'videos' })));
    expect(files.map(({ contentType }) => contentType)).toEqual(['video/mp4']);
    expect(files[0]?.bytes.toString('latin1')).toMatch(/^[^]{4}ftyp(?![^]*secret)[^]*mdatfilm$/);
    expect(inputsOf(fake, 'WanImageToVideo')).toMatchObject(latent);
    expect(inputsOf(fake, 'SaveVideo')).toMatchObject({ filename_prefix: prefix });
  });

  test('a film is found where a node of an extension shows it', async () => {
    const save = {
      class_type: 'VHS_VideoCombine',
      inputs: { images: ['3', 0], frame_rate: '{{fps}}' },
    };
    const preview = { class_type: 'PreviewImage', inputs: { images: ['3', 0] } };
    const graph = { ...FILM_GRAPH, '4': save, '0': preview };
    const { backend } = await startComfyUi({ type: 'video', ...serving(graph) });
    const files = await drain(await backend.call(filling({}, { endpoint: 'videos' })));
    expect(files.map(({ contentType }) => contentType)).toEqual(['video/mp4']);
  });

  test('what is saved goes before what is only previewed', async () => {
    const preview = { class_type: 'PreviewImage', inputs: { images: ['8', 0] } };
    const { backend, fake } = await startComfyUi(serving({ ...PICTURE_GRAPH, '0': preview }));
    await drain(await backend.call(filling()));
    const [view] = fake.server.to('/view');
    expect(view?.query.get('type')).toBe('output');
  });

  test('that ends without a picture is a failure', async () => {
    const { backend } = await startComfyUi(serving(FILM_GRAPH));
    const message = 'the workflow ended without a file of image.';
    await expect(backend.call(filling())).rejects.toThrow(message);
  });
});

describe('what goes wrong', () => {
  test('a missing file is told by its node alone, and is no fault of the caller', async () => {
    const { backend } = await startComfyUi();
    const answer = await backend.call(generation({}, { servedName: 'gone.safetensors' }));
    expect(answer).toMatchObject({ kind: 'document', status: 500 });
    const message =
      'node checkpoint (CheckpointLoaderSimple) of the workflow: Value not in list (ckpt_name).';
    expect(errorOf(answer)).toMatchObject({ message });
    expect(JSON.stringify(documentOf(answer))).not.toContain('juggernaut');
  });

  test('a node that is not installed is told', async () => {
    const odd = { class_type: 'FancyNode', inputs: {} };
    const { backend } = await startComfyUi(serving({ ...PICTURE_GRAPH, '5': odd }));
    const answer = await backend.call(filling());
    expect(answer).toMatchObject({ kind: 'document', status: 500 });
    const message = 'Cannot execute because node FancyNode does not exist.';
    expect(errorOf(answer)).toMatchObject({ message });
  });

  test('a number out of the workflow’s range is the caller’s to correct', async () => {
    const latent = {
      class_type: 'EmptyLatentImage',
      inputs: { width: 64, height: 64, batch_size: '{{frames:1}}' },
    };
    const { backend } = await startComfyUi(serving({ ...PICTURE_GRAPH, '5': latent }));
    const answer = await backend.call(filling({ duration: 600, fps: 100 }));
    expect(answer).toMatchObject({ kind: 'document', status: 400 });
    expect(errorOf(answer)).toMatchObject({
      code: 'provider_rejected',
      message: expect.stringContaining('Value 60001 bigger than max of 4096 (batch_size)'),
    });
  });

  test.each([
    ['CUDA out of memory. Tried to allocate 2 GiB', 'CUDA out of memory. Tried to allocate 2 GiB'],
    ["No such file: '/home/Ann Smith/x y.pt' or so", "No such file: '…' or so"],
    ['C:\\Users\\Ann Smith\\models\\x.pt is bad\nbecause', '…\nbecause'],
  ])('a job that fails with %j says so without paths', async (failure, told) => {
    const { backend, fake } = await startComfyUi();
    fake.failure = failure;
    const answer = await backend.call(generation());
    expect(answer).toMatchObject({ kind: 'document', status: 500 });
    const message = `node 3 (KSampler) of the workflow failed: ${told}`;
    expect(errorOf(answer)).toMatchObject({ message });
  });

  test('a failure after the first picture ends the answer', async () => {
    const { backend, fake } = await startComfyUi();
    const answer = await backend.call(generation({ n: 2 }));
    fake.failure = 'out of memory';
    const message = 'ComfyUI made 1 of 2 images and then failed.';
    await expect(drain(answer)).rejects.toThrow(message);
  });

  test('a picture that is gone when it is fetched is a failure', async () => {
    const { backend, fake } = await startComfyUi();
    const answer = await backend.call(generation());
    fake.override = (_request, response) => send(response, 404, '');
    await expect(drain(answer)).rejects.toThrow('ComfyUI answered 404 to a file');
  });
});
