import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeMedia } from '../support/fake-media-server.js';
import type { FakeMediaServer } from '../support/fake-media-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { tone } from '../support/sound.js';
import { startStudio } from '../support/studio.js';
import type { Studio } from '../support/studio.js';
import { until } from '../support/until.js';
import { query } from '../support/usage-rows.js';
import {
  accepted,
  BATCHES,
  chatItem,
  ended,
  getJson,
  submitBatch,
  submitted,
} from './job-calls.js';
import type { BatchBody } from './job-calls.js';
import { ASSETS, IMAGES_PATH, SPEECH_PATH } from './media-calls.js';
import type { ImageList } from './media-calls.js';
import { CHAT, chat, failureOf, post, textOf } from './requests.js';
import { visit } from './visitor.js';
import type { Visitor } from './visitor.js';

const ANNA = 'anna@example.org';
const SUMMARY = '/api/inference/queue/summary';

let gateway: TestGateway;
let texts: FakeModelServer;
let studio: Studio;
let forms: FakeMediaServer;
let anna: Visitor;

beforeAll(async () => {
  gateway = await openGateway();
  texts = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: texts.baseUrl }] });
  studio = await startStudio(gateway, { name: 'studio-pc', types: ['tts', 'image'] });
  forms = await startFakeMedia();
  const stt = { ...forms.service('stt', { whisper: [] }), id: 'stt' };
  await gateway.startAgent({ name: 'attic-pc', services: [stt] });
  anna = await visit(gateway, ANNA);
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([texts.close(), studio.fake.close(), forms.close()]);
});

/** The names of the gateway's own headers. */
function ourHeaders({ headers }: Response): string[] {
  return [...headers.keys()].filter((name) => name.startsWith('x-')).toSorted();
}

async function sameWithKey(path: string, init?: RequestInit): Promise<[string, string]> {
  const [page, key] = [await anna.fetch(path, init), await gateway.fetch(path, init)];
  expect([page.status, page.headers.get('content-type')]).toEqual([
    key.status,
    key.headers.get('content-type'),
  ]);
  expect(ourHeaders(page)).toEqual(ourHeaders(key));
  return [await page.text(), await key.text()];
}

const choicesOf = (text: string) => (JSON.parse(text) as { choices: object[] }).choices;

const json = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

describe('below /api/console a session is served as a key is below /v1', () => {
  it('with the models, all and one', async () => {
    for (const path of ['/v1/models', '/v1/models/tiny']) {
      const [page, key] = await sameWithKey(path);
      expect(page).toBe(key);
      expect(page).toContain('tiny');
    }
  });

  it('with a chat, whole and streamed', async () => {
    const [whole, wholeWithKey] = await sameWithKey(CHAT, json(chat()));
    expect(choicesOf(whole)).toEqual(choicesOf(wholeWithKey));
    const [stream, streamWithKey] = await sameWithKey(CHAT, json(chat({ stream: true })));
    expect(textOf(stream)).toBe(textOf(streamWithKey));
    expect(textOf(stream)).not.toBe('');
    expect(stream.trimEnd().endsWith('data: [DONE]')).toBe(true);
  });

  it('with its errors', async () => {
    const wrong = [json({ model: 'tiny' }), json(chat({ model: 'nothing' })), { method: 'DELETE' }];
    for (const init of wrong) {
      const [page, key] = await sameWithKey(CHAT, init);
      expect(page).toBe(key);
      expect(page).toContain('"error"');
    }
  });

  it('with an upload', async () => {
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(tone(1))]), 'speech.wav');
    body.append('model', 'whisper');
    const response = await anna.fetch('/v1/audio/transcriptions', { method: 'POST', body });
    expect(await response.json()).toMatchObject({ text: 'Hello' });
  });

  it('with speech and pictures, whose files the page fetches by their mere address', async () => {
    const spoken = await post(anna, { model: 'kokoro', input: 'Hello' }, { path: SPEECH_PATH });
    expect(spoken.headers.get('content-type')).toBe('audio/wav');
    // The file is there when the answer has ended.
    await spoken.arrayBuffer();
    const drawn = await post(anna, { model: 'sd', prompt: 'a cat' }, { path: IMAGES_PATH });
    const { data } = (await drawn.json()) as ImageList;
    const files = [spoken.headers.get('x-asset-url'), data[0]?.url].map(
      (url) => new URL(url ?? ''),
    );
    for (const { pathname } of files) {
      const file = await anna.fetch(pathname);
      expect(file.status).toBe(200);
      expect(file.headers.get('vary')).toBe('Cookie, Authorization, X-Api-Key');
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(50);
    }
    const { data: listed } = await getJson<{ data: { url: string }[] }>(anna, ASSETS);
    expect(listed.map(({ url }) => url)).toEqual(
      expect.arrayContaining(files.map(({ href }) => href)),
    );
  });

  it('with jobs and batches', async () => {
    const { id } = await submitted(anna);
    expect(await ended(anna, id)).toMatchObject({ status: 'PROCESSED' });
    const batch = await accepted<BatchBody>(await submitBatch(anna, [chatItem(), chatItem()]));
    await until(async () => {
      const { status } = await getJson<BatchBody>(anna, `${BATCHES}/${batch.id}`);
      return status === 'DONE';
    });
    const { async_enabled } = await getJson<{ async_enabled: boolean }>(anna, SUMMARY);
    expect(async_enabled).toBe(true);
  });

  it('and a call may be kept to the own machines', async () => {
    const headers = { 'x-provider-scope': 'all' };
    const failure = await failureOf(await anna.fetch('/v1/models', { headers }));
    expect(failure).toMatchObject({ status: 400, param: 'x-provider-scope' });
    const own = { 'x-provider-scope': 'own' };
    expect((await post(anna, chat(), { headers: own })).status).toBe(200);
  });
});

interface Metered {
  readonly request_id: string;
  readonly key_id: string;
  readonly source: string;
}

describe('what the dashboard calls is metered as its member’s', () => {
  it('and told apart from what came with a key, also where it ran as a job', async () => {
    const page = await post(anna, chat());
    const key = await post(gateway, chat());
    const { id } = await submitted(anna);
    await ended(anna, id);
    const wanted = [page, key].map(({ headers }) => headers.get('x-request-id'));
    const rows = await until(() => {
      const all = query<Metered>(gateway, 'select request_id, key_id, source from usage');
      const found = [...wanted, `${id}.0`, `${id}.1`].flatMap((request) => {
        return all.filter(({ request_id }) => request_id === request);
      });
      return found.length === 3 ? found : null;
    });
    expect(rows.map(({ key_id, source }) => [key_id, source])).toEqual([
      ['console', 'console'],
      [gateway.anna.keyId, 'api'],
      ['console', 'console'],
    ]);
  });

  it('counts on one rate limit together with their keys; what a page reads is free', async () => {
    const own = await startGateway({ rateLimitRequests: 2 });
    const visitor = await visit(own, ANNA);
    await post(own, chat());
    for (let n = 0; n < 3; n++) {
      const { headers } = await visitor.fetch('/v1/models');
      expect(headers.get('x-ratelimit-remaining')).toBe('1');
    }
    const { headers } = await post(visitor, chat());
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
    for (const caller of [visitor, own]) {
      const failure = await failureOf(await post(caller, chat()));
      expect(failure).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    }
  });
});

describe('what has not changed is answered 304', () => {
  const MODELS = '/v1/models';

  it('to a caller who names the tag of what they have, also in a list of tags', async () => {
    const first = await anna.fetch(MODELS);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    expect(first.headers.get('vary')).toBe('Cookie');
    for (const held of [etag, `"other", ${etag}`, etag.slice(2), '*']) {
      const headers = { 'if-none-match': held, 'cache-control': 'no-cache' };
      const again = await anna.fetch(MODELS, { headers });
      expect([again.status, again.headers.get('etag')]).toEqual([304, etag]);
      expect(await again.text()).toBe('');
      expect(again.headers.getSetCookie()).toEqual([]);
    }
  });

  it('but not where it has', async () => {
    const etag = (await anna.fetch('/v1/jobs')).headers.get('etag') ?? '';
    await ended(anna, (await submitted(anna)).id);
    const again = await anna.fetch('/v1/jobs', { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(200);
    expect(again.headers.get('etag')).not.toBe(etag);
    expect(again.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('and HEAD tells the same as GET', async () => {
    const get = await anna.fetch(MODELS);
    const head = await anna.fetch(MODELS, { method: 'HEAD' });
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'));
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
  });

  it('of the queue with a key, too; errors, posts and calls with a key have no tag', async () => {
    expect((await gateway.fetch(SUMMARY)).headers.get('etag')).toMatch(/^W\//);
    const untagged = [
      await gateway.fetch(MODELS),
      await post(anna, chat()),
      await anna.fetch('/v1/jobs/nothing'),
      await anna.fetch('/api/console/v1/session'),
    ];
    for (const response of untagged) expect(response.headers.get('etag')).toBe(null);
  });
});
