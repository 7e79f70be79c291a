import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { FILM, SONG, SPEECH, startStudio } from '../support/studio.js';
import { ASSETS, bytesOf, draw, fetchAsset, film, listAssets, play, speak } from './media-calls.js';
import { chat, failureOf, post } from './requests.js';

let gateway: TestGateway;
const fakes: FakeModelServer[] = [];

beforeAll(async () => {
  gateway = await openGateway();
  fakes.push((await startStudio(gateway)).fake);
  const { ben } = gateway;
  fakes.push((await startStudio(gateway, { owner: ben, name: 'ben-pc', types: ['tts'] })).fake);
  return async () => {
    await gateway.stop();
    await Promise.all(fakes.map((fake) => fake.close()));
  };
});

it('every image, speech, music and video is in the caller’s history, newest first', async () => {
  const calls = [speak, play, film, draw];
  for (const call of calls) await bytesOf(await call(gateway));
  const listed = await listAssets(gateway);
  const shown = listed.slice(0, 4).map((one) => [one.endpoint, one.model, one.content_type]);
  expect(shown).toEqual([
    ['/v1/images/generations', 'sd', 'image/png'],
    ['/v1/videos/generations', 'wan', 'video/mp4'],
    ['/v1/music/generations', 'ace', 'audio/wav'],
    ['/v1/audio/speech', 'kokoro', 'audio/wav'],
  ]);
  const sizes = listed.slice(1, 4).map(({ bytes, seconds }) => [bytes, seconds]);
  expect(sizes).toEqual([
    [FILM.length, null],
    [SONG.length, 1.25],
    [SPEECH.length, 0.5],
  ]);
});

it('chat leaves nothing there', async () => {
  const before = await listAssets(gateway);
  await post(gateway, chat());
  expect(await listAssets(gateway)).toEqual(before);
});

it.each([
  ['speech', () => speak(gateway)],
  ['a film', () => film(gateway)],
  ['music', () => play(gateway)],
])('x-asset-url names what the bytes of %s became, there as soon as they end', async (_, call) => {
  const response = await call();
  const bytes = await bytesOf(response);
  const [newest] = await listAssets(gateway);
  expect(response.headers.get('x-asset-url')).toBe(newest?.url);
  const copy = await fetchAsset(newest?.url, gateway.anna.key);
  expect(copy.headers.get('content-type')).toBe(response.headers.get('content-type'));
  expect(await bytesOf(copy)).toEqual(bytes);
});

describe('the history of one member', () => {
  it('is nothing to another', async () => {
    const headers = { authorization: `Bearer ${gateway.ben.key}` };
    const response = await speak(gateway, {}, { headers });
    await bytesOf(response);
    const theirs = await listAssets(gateway, gateway.ben.key);
    expect(theirs).toMatchObject([{ url: response.headers.get('x-asset-url') }]);
    const own = await listAssets(gateway);
    expect(own.map(({ id }) => id)).not.toContain(theirs[0]?.id);
    const url = theirs[0]?.url;
    expect((await fetchAsset(url, gateway.anna.key)).status).toBe(404);
    expect((await fetchAsset(url, null)).status).toBe(401);
  });
});

it('what was deleted is gone, and the answer that it came from is not made again', async () => {
  const response = await speak(gateway);
  await bytesOf(response);
  const url = response.headers.get('x-asset-url') ?? '';
  const made = fakes.reduce((sum, { requests }) => sum + requests.length, 0);
  const id = url.split('/').at(-2);
  const removed = await gateway.fetch(`${ASSETS}/${id}/`, { method: 'DELETE' });
  expect(await removed.json()).toEqual({ id, object: 'asset', deleted: true });
  const gone = await failureOf(await fetchAsset(url, gateway.anna.key));
  expect(gone).toMatchObject({ status: 404, code: 'asset_not_found' });
  expect(fakes.reduce((sum, { requests }) => sum + requests.length, 0)).toBe(made);
});
