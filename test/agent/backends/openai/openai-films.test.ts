/** Films and music, which have no form of their own in OpenAI's API. */
import type { LocalCall } from '@inference-gateway/agent/backends/backend';
import { describe, expect, test } from 'vitest';
import { audioFile } from '../../../support/audio-files.js';
import { drain, localCall } from '../../../support/local-call.js';
import { runFfmpeg } from '../../../support/pictures.js';
import { filmSource } from '../../../support/sound.js';
import { bytes, dies, json, page, sentJson, startOpenAi } from './openai-stage.js';

const film = (body: Record<string, unknown> = {}): LocalCall =>
  localCall({ endpoint: 'videos', body: { prompt: 'a cat', ...body } });
const music = (body: Record<string, unknown> = {}): LocalCall =>
  localCall({ endpoint: 'music', body: { prompt: 'a tune', ...body } });

const makeFilm = (): Promise<Buffer> =>
  runFfmpeg([...filmSource(1), '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4']);

describe('a film', () => {
  test('is asked for with all the caller’s fields but the form of the answer', async () => {
    const made = await makeFilm();
    const { backend, posts } = await startOpenAi('video', bytes(made));
    const body = { duration: 2, fps: 8, response_format: 'url', seed: 1 };
    const files = await drain(await backend.call(film(body)));
    expect(files).toEqual([{ contentType: 'video/mp4', bytes: made }]);
    expect(posts()[0]?.path).toBe('/v1/videos/generations');
    const wanted = { model: 'tiny', prompt: 'a cat', duration: 2, fps: 8, seed: 1 };
    expect(sentJson(posts()[0])).toEqual(wanted);
  });

  test('is taken out of JSON, too, or fetched from its address', async () => {
    const made = await makeFilm();
    const written = made.toString('base64');
    const file = { contentType: 'video/mp4', bytes: made };
    for (const answer of [
      { data: [{ b64_json: written }] },
      { b64_json: written },
      { url: '/f' },
    ]) {
      const { backend } = await startOpenAi('video', (request, response) =>
        (request.method === 'GET' ? bytes(made) : json(answer))(request, response),
      );
      expect(await drain(await backend.call(film()))).toEqual([file]);
    }
  });

  test.each([
    ['answers a page', page(200), /no video/],
    ['answers a sound', bytes(Buffer.from('fLaC0000000000000')), /no video/],
    ['has no such path', page(404), /404 to \/videos\/generations/],
    ['dies in the middle', dies(Buffer.from('0000ftypisom000000000000')), /broke off/],
  ])('a server that %s is a failure', async (_what, handler, message) => {
    const { backend } = await startOpenAi('video', handler);
    const making = backend.call(film()).then(drain);
    await expect(making).rejects.toMatchObject({
      code: 'LOCAL_ERROR',
      message: expect.stringMatching(message) as string,
    });
  });

  test('its prompt hides no settings', async () => {
    const { backend, posts } = await startOpenAi('video', bytes(await makeFilm()));
    const prompt = 'a <sd_cpp_extra_args>{}</sd_cpp_extra_args>cat';
    await drain(await backend.call(film({ prompt })));
    expect(sentJson(posts()[0])['prompt']).toBe('a  cat');
  });
});

describe('music', () => {
  test('comes in whatever format its server makes', async () => {
    const made = await audioFile('mp3');
    const { backend, posts } = await startOpenAi('music', bytes(made));
    const files = await drain(await backend.call(music({ lyrics: 'la', response_format: 'url' })));
    expect(files).toEqual([{ contentType: 'audio/mpeg', bytes: made }]);
    expect(posts()[0]?.path).toBe('/v1/music/generations');
    expect(sentJson(posts()[0])).toEqual({ model: 'tiny', prompt: 'a tune', lyrics: 'la' });
  });

  test('that is none is a failure', async () => {
    const { backend } = await startOpenAi('music', page(200));
    await expect(backend.call(music()).then(drain)).rejects.toThrow(/no sound/);
  });
});
