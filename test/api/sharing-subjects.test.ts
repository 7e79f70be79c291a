import { describe, expect, it, onTestFinished } from 'vitest';
import { answer } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startFakeMedia } from '../support/fake-media-server.js';
import { silentWav } from '../support/sound.js';
import { startStudio } from '../support/studio.js';
import { ended, submit, submitted } from './job-calls.js';
import { draw, fetchAsset, IMAGES_PATH, listAssets, speak } from './media-calls.js';
import type { ImageList } from './media-calls.js';
import { chat, failureOf, post } from './requests.js';
import { modelsOf, openCircle, openClub } from './sharing-stage.js';
import type { Circle, Friend } from './sharing-stage.js';

/** The error message for a member who asks for this model. */
async function refusalOf(friend: Friend, model: string): Promise<string> {
  const refused = await failureOf(await post(friend, chat({ model })));
  expect(refused).toMatchObject({ status: 404, type: 'no_provider' });
  return refused.message.replace(`'${model}'`, '');
}

async function voicesOf(friend: Friend, model: string): Promise<Response> {
  return friend.fetch(`/v1/audio/voices?model=${model}`);
}

describe('a share of one model', () => {
  const models = ['tiny', 'tinier', 'vast'];

  async function openShare(): Promise<Circle> {
    const circle = await openCircle();
    await circle.home(circle.anna, { models });
    await circle.found(circle.ben);
    await circle.share({ model: 'tiny' });
    return circle;
  }

  it('shows and serves that one', async () => {
    const { ben, anna } = await openShare();
    expect(await modelsOf(ben)).toEqual(['tiny']);
    expect(await modelsOf(anna)).toEqual(models.toSorted());
    expect((await post(ben, chat())).status).toBe(200);
    expect((await ben.fetch('/v1/models/vast')).status).toBe(404);
    expect((await submit(ben, { model: 'vast' })).status).toBe(404);
  });

  it('leaves the others out of “Did you mean” and of what is online now', async () => {
    const { ben, anna } = await openShare();
    expect(await refusalOf(anna, 'tinie')).toContain("Did you mean 'tinier'");
    expect(await refusalOf(ben, 'tinie')).toContain("Did you mean 'tiny'?");
    for (const asked of ['tinie', 'vasts', 'tinier', 'nothing-near']) {
      expect(await refusalOf(ben, asked)).not.toMatch(/tinier|vast/);
      const byId = await failureOf(await ben.fetch(`/v1/models/${asked}`));
      expect(byId.message.replace(`'${asked}'`, '')).not.toMatch(/tinier|vast/);
    }
    expect(await refusalOf(ben, 'nothing-near')).toContain("Online now: 'tiny'.");
  });
});

describe('a share of one service', () => {
  it('shows and serves what that one has, also of a model that another has, too', async () => {
    const open = await startFakeOpenAi({ models: ['tiny', 'late'] });
    onTestFinished(() => open.close());
    const circle = await openCircle();
    const { fake: closed } = await circle.home(circle.anna, {
      models: ['tiny', 'kept'],
      services: [{ id: 'kept-llm' }, { id: 'open-llm', baseUrl: open.baseUrl, slots: 1 }],
    });
    await circle.found(circle.ben);
    await circle.share({ service: 'open-llm' });
    expect(await modelsOf(circle.ben)).toEqual(['late', 'tiny']);
    for (let i = 0; i < 3; i++) expect((await post(circle.ben, chat())).status).toBe(200);
    expect([open.requests.length, closed.requests.length]).toEqual([3, 0]);
    expect(await refusalOf(circle.ben, 'kept')).toContain("Online now: 'late', 'tiny'.");
  });

  it('of type tts shares voices, and no chat', async () => {
    const circle = await openCircle();
    const fake = await startFakeOpenAi({
      models: ['kokoro'],
      routes: { '/v1/audio/voices': { voices: ['af_sky'] } },
    });
    onTestFinished(() => fake.close());
    const tts = { id: 'tts-0', type: 'tts', baseUrl: fake.baseUrl } as const;
    await circle.home(circle.anna, { services: [{}, tts] });
    await circle.found(circle.ben);
    expect((await voicesOf(circle.ben, 'kokoro')).status).toBe(404);
    await circle.share({ service: 'tts-0' });
    expect(await (await voicesOf(circle.ben, 'kokoro')).json()).toEqual({ voices: ['af_sky'] });
    expect(await refusalOf(circle.ben, 'tiny')).toContain('No llm model is online for you now.');
  });
});

describe('a service whose owner configured "foreign": false', () => {
  it('serves the owner alone, although it is shared', async () => {
    const { circle, den } = await openClub({ foreign: false });
    await circle.share({ service: 'llm-0' });
    await circle.share({ model: 'tiny', user: 'Ben' });
    expect(await modelsOf(circle.ben)).toEqual([]);
    expect(await refusalOf(circle.ben, 'tiny')).toContain('No llm model is online for you now.');
    expect((await submit(circle.ben)).status).toBe(404);
    expect(den.fake.requests).toEqual([]);
    expect((await post(circle.anna, chat())).status).toBe(200);
  });

  it('leaves the other services of its machine as they are shared', async () => {
    const { circle } = await openClub({
      services: [{ id: 'mine', foreign: false }, { id: 'ours' }],
      behaviour: answer({ text: 'Ours.' }),
    });
    expect(await modelsOf(circle.ben)).toEqual(['tiny']);
    expect((await post(circle.ben, chat())).status).toBe(200);
  });
});

const asBen = ({ ben }: Circle) => ({ headers: { authorization: `Bearer ${ben.key}` } });

/** Anna's machine makes speech and images, and the network may use it. */
async function openStudio(): Promise<Circle> {
  const circle = await openCircle();
  const voices = ['af_sky'];
  const { fake } = await startStudio(circle.gateway, { types: ['tts', 'image'], voices });
  onTestFinished(() => fake.close());
  await circle.found(circle.ben);
  expect((await draw(circle.gateway, {}, asBen(circle))).status).toBe(404);
  await circle.share();
  return circle;
}

/** The file belongs to Ben alone. */
async function expectBens({ gateway, anna, ben }: Circle, url: string | null | undefined) {
  expect((await fetchAsset(url, ben.key)).status).toBe(200);
  expect((await fetchAsset(url, anna.key)).status).toBe(404);
  expect((await listAssets(gateway, ben.key)).map((asset) => asset.url)).toEqual([url]);
  expect(await listAssets(gateway, anna.key)).toEqual([]);
}

describe('what a shared machine makes is its caller’s', () => {
  it('an image', async () => {
    const circle = await openStudio();
    const drawn = await draw(circle.gateway, {}, asBen(circle));
    expect(drawn.headers.get('x-provider')).toBe('den-pc');
    const { data } = (await drawn.json()) as ImageList;
    await expectBens(circle, data[0]?.url);
    await circle.unshare();
    await expectBens(circle, data[0]?.url);
  });

  it('an image that was a job', async () => {
    const circle = await openStudio();
    const asked = { model: 'sd', prompt: 'a cat', messages: undefined };
    const job = await submitted(circle.ben, asked, { path: IMAGES_PATH });
    const { result_url: url } = await ended(circle.ben, job.id);
    await expectBens(circle, url);
  });

  it('speech', async () => {
    const circle = await openStudio();
    const spoken = await speak(circle.gateway, { voice: 'af_sky' }, asBen(circle));
    expect(spoken.headers.get('content-type')).toBe('audio/wav');
    await spoken.arrayBuffer();
    await expectBens(circle, spoken.headers.get('x-asset-url'));
  });

  it('a transcription', async () => {
    const circle = await openCircle();
    const fake = await startFakeMedia();
    onTestFinished(() => fake.close());
    await circle.home(circle.anna, { services: [fake.service('stt', { whisper: [] })] });
    await circle.found(circle.ben);
    const transcribe = (): Promise<Response> => {
      const body = new FormData();
      body.set('file', new Blob([new Uint8Array(silentWav(1))]), 'a.wav');
      body.set('model', 'whisper');
      return circle.ben.fetch('/v1/audio/transcriptions', { method: 'POST', body });
    };
    expect((await transcribe()).status).toBe(404);
    expect(fake.heard).toEqual([]);
    await circle.share();
    expect(await (await transcribe()).json()).toMatchObject({ text: 'Hello' });
    expect(fake.heard).toHaveLength(1);
  });
});
