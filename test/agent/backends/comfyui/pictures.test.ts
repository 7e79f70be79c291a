import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { drain, errorOf, upload } from '../../../support/local-call.js';
import { FILM_GRAPH, PICTURE_GRAPH } from '../../../support/local-servers/comfyui-graphs.js';
import { chunk, picture, png } from '../../../support/pictures.js';
import { filling, generation, inputsOf, serving, startComfyUi } from './studio.js';

const image = (seed = 0) => upload('image', 'image/png', picture({ seed }));
const asking = (sent: unknown) => filling({ image: sent }, { endpoint: 'videos' });
const load = (place: string) => ({ class_type: 'LoadImage', inputs: { image: place } });

/** Two pixels, of which the second is transparent. */
const MASK = png([
  chunk('IHDR', Buffer.from([0, 0, 0, 2, 0, 0, 0, 1, 8, 6, 0, 0, 0])),
  chunk('IDAT', deflateSync(Buffer.from([0, 9, 9, 9, 255, 9, 9, 9, 0]))),
  chunk('IEND', Buffer.alloc(0)),
]);

describe('an edit by a checkpoint', () => {
  test('starts from the picture, which goes to the folder of temporary files', async () => {
    const { backend, fake } = await startComfyUi();
    const body = { strength: '0.5' };
    await drain(await backend.call(generation(body, { endpoint: 'edits', uploads: [image()] })));
    const [[name, bytes] = []] = fake.uploads;
    expect(name).toMatch(/^gateway-[0-9a-f-]{36}\.png \[temp\]$/);
    expect(bytes).toEqual(picture());
    expect(inputsOf(fake, 'LoadImage')).toEqual({ image: name });
    expect(inputsOf(fake, 'VAEEncode')).toMatchObject({ pixels: ['image', 0] });
    expect(inputsOf(fake, 'KSampler')).toMatchObject({
      denoise: 0.5,
      latent_image: ['encoded', 0],
    });
    expect(inputsOf(fake, 'ImageScale')).toBeUndefined();
  });

  test('brings it to the size that is asked for', async () => {
    const { backend, fake } = await startComfyUi();
    const body = { size: '640x384' };
    await drain(await backend.call(generation(body, { endpoint: 'edits', uploads: [image()] })));
    expect(inputsOf(fake, 'ImageScale')).toMatchObject({ width: 640, height: 384 });
    expect(inputsOf(fake, 'VAEEncode')).toMatchObject({ pixels: ['sized', 0] });
  });

  test('repaints only where the mask is transparent', async () => {
    const { backend, fake } = await startComfyUi();
    const uploads = [image(), upload('mask', 'image/png', MASK)];
    await drain(await backend.call(generation({ n: 2 }, { endpoint: 'edits', uploads })));
    const [, [name, bytes] = []] = fake.uploads;
    expect(inputsOf(fake, 'LoadImageMask', 1)).toEqual({ image: name, channel: 'red' });
    expect(inputsOf(fake, 'KSampler', 1)).toMatchObject({ latent_image: ['masked', 0] });
    expect(bytes).not.toEqual(MASK);
    expect(fake.uploads.size).toBe(2);
  });

  test('a mask without transparency is refused', async () => {
    const { backend, fake } = await startComfyUi();
    const uploads = [image(), upload('mask', 'image/png', picture())];
    const answer = await backend.call(generation({}, { endpoint: 'edits', uploads }));
    expect(errorOf(answer)).toMatchObject({ param: 'mask', code: 'invalid_value' });
    expect(fake.jobs).toEqual([]);
  });
});

describe('a workflow', () => {
  test('gets several pictures in their order', async () => {
    const graph = { ...PICTURE_GRAPH, '1': load('{{image}}'), '2': load('{{image_2}}') };
    const { backend, fake } = await startComfyUi(serving(graph));
    const uploads = [image(1), image(2)];
    await drain(await backend.call(filling({}, { endpoint: 'edits', uploads })));
    const used = ['1', '2'].map((id) => String(fake.jobs[0]?.graph[id]?.inputs['image']));
    expect(used.map((name) => fake.uploads.get(name))).toEqual([
      picture({ seed: 1 }),
      picture({ seed: 2 }),
    ]);
  });

  test.each([
    ['a picture', image()],
    ['a mask', upload('mask', 'image/png', MASK)],
  ])('without a place for %s refuses one', async (_what, one) => {
    const { backend, fake } = await startComfyUi(serving(PICTURE_GRAPH));
    const answer = await backend.call(filling({}, { endpoint: 'edits', uploads: [one] }));
    expect(answer).toMatchObject({ kind: 'document', status: 400 });
    expect(errorOf(answer)).toMatchObject({ param: one.name });
    expect(fake.server.requests).toEqual([]);
  });

  test('that needs a picture refuses a request without one', async () => {
    const { backend, fake } = await startComfyUi(
      serving({ ...PICTURE_GRAPH, '1': load('{{image}}') }),
    );
    expect(errorOf(await backend.call(filling()))).toMatchObject({
      param: 'image',
      message: "tiny works on pictures, and its 'image' is missing. Send it.",
    });
    expect(fake.server.requests).toEqual([]);
  });

  test('a picture of its own stands in for a missing one', async () => {
    const graph = { ...PICTURE_GRAPH, '1': load('{{image:blank.png}}') };
    const { backend, fake } = await startComfyUi(serving(graph));
    fake.uploads.set('blank.png', picture());
    await drain(await backend.call(filling()));
    expect(inputsOf(fake, 'LoadImage')).toEqual({ image: 'blank.png' });
  });

  test('more pictures than any workflow has places for are refused', async () => {
    const { backend } = await startComfyUi(serving(PICTURE_GRAPH));
    const uploads = [1, 2, 3, 4].map(image);
    const answer = await backend.call(filling({}, { endpoint: 'edits', uploads }));
    expect(errorOf(answer)).toMatchObject({ message: '4 images came, and 3 are the most.' });
  });
});

describe('the first picture of a film', () => {
  const film = { type: 'video', ...serving({ ...FILM_GRAPH, '9': load('{{image}}') }) } as const;

  test('comes inside the request', async () => {
    const { backend, fake } = await startComfyUi(film);
    const url = `data:image/png;base64,${picture().toString('base64')}`;
    await drain(await backend.call(asking(url)));
    expect([...fake.uploads.values()]).toEqual([picture()]);
  });

  test.each([
    'data:image/png;base64,AAAA',
    'data:image/png,hello',
    'http://127.0.0.1/secret.png',
    '/etc/passwd',
    7,
  ])('is refused as %j', async (sent) => {
    const { backend, fake } = await startComfyUi(film);
    const answer = await backend.call(asking(sent));
    expect(answer).toMatchObject({ kind: 'document', status: 400 });
    expect(errorOf(answer)).toMatchObject({ param: 'image' });
    expect(fake.server.requests).toEqual([]);
  });
});
