/** Calls whose answers are files, as any HTTP client would make them. */
import type { TestGateway } from '../support/gateway.js';
import { MODELS } from '../support/studio.js';
import { post } from './requests.js';

export const SPEECH_PATH = '/v1/audio/speech';
export const IMAGES_PATH = '/v1/images/generations';
export const VIDEOS_PATH = '/v1/videos/generations';
export const MUSIC_PATH = '/v1/music/generations';
export const ASSETS = '/api/inference/assets';

export interface ListedAsset {
  readonly id: string;
  readonly url: string;
  readonly content_type: string;
  readonly bytes: number;
  readonly seconds: number | null;
  readonly model: string;
  readonly endpoint: string;
}

export interface ImageList {
  readonly created: number;
  readonly data: readonly { url?: string; b64_json?: string; revised_prompt?: string }[];
}

type Fields = object;
type Options = Parameters<typeof post>[2];

export function speak(gateway: TestGateway, fields: Fields = {}, options: Options = {}) {
  const body = { model: MODELS.tts, input: 'Hello there.', ...fields };
  return post(gateway, body, { path: SPEECH_PATH, ...options });
}

export function draw(gateway: TestGateway, fields: Fields = {}, options: Options = {}) {
  const body = { model: MODELS.image, prompt: 'a cat', ...fields };
  return post(gateway, body, { path: IMAGES_PATH, ...options });
}

export function film(gateway: TestGateway, fields: Fields = {}, options: Options = {}) {
  const body = { model: MODELS.video, prompt: 'a cat that runs', ...fields };
  return post(gateway, body, { path: VIDEOS_PATH, ...options });
}

export function play(gateway: TestGateway, fields: Fields = {}, options: Options = {}) {
  const body = { model: MODELS.music, prompt: 'a song of cats', ...fields };
  return post(gateway, body, { path: MUSIC_PATH, ...options });
}

export async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

/** Anna's files, or those of another key's member, newest first. */
export async function listAssets(
  gateway: TestGateway,
  key = gateway.anna.key,
): Promise<readonly ListedAsset[]> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await gateway.fetch(`${ASSETS}?limit=500`, { headers });
  return ((await response.json()) as { data: ListedAsset[] }).data;
}

/** Fetches an asset by its full URL with this key, or without one. */
export function fetchAsset(url: string | null | undefined, key: string | null): Promise<Response> {
  return fetch(url ?? '', key === null ? {} : { headers: { authorization: `Bearer ${key}` } });
}
