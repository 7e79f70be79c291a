import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type OpenAI from 'openai';
import { answer, hangBeforeHeaders } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { picture } from '../support/pictures.js';
import { MODELS, SPEECH, startStudio } from '../support/studio.js';
import type { Studio } from '../support/studio.js';
import { until } from '../support/until.js';
import { accepted, act, ended, getJob, JOBS, keyOf, listJobs } from './job-calls.js';
import { pauseQueue, submit, submitted } from './job-calls.js';
import type { JobBody } from './job-calls.js';
import { draw, film, play, speak } from './media-calls.js';
import { chat, failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;
let studio: Studio;

const HOOK = {
  url: 'https://example.org/hook',
  secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
};
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  studio = await startStudio(gateway, { name: 'studio', voices: ['af_bella', 'af_sky'] });
  return async () => {
    await gateway.stop();
    await fake.close();
    await studio.fake.close();
  };
});

beforeEach(() => fake.behave(answer({ text: 'Hello from home.' })));

it('the request is queued instead of blocking until the provider finishes', async () => {
  fake.once(hangBeforeHeaders());
  const job = await submitted(gateway);
  await until(() => fake.inFlight === 1);
  expect((await getJob(gateway, job.id)).status).toBe('PROCESSING');
  await act(gateway, `${JOBS}/${job.id}/cancel`);
});

it('the response is 202 Accepted with a Job envelope', async () => {
  const response = await submit(gateway);
  expect(response.status).toBe(202);
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  expect(response.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
  const job = (await response.json()) as JobBody;
  expect(job).toEqual({
    id: expect.stringMatching(/^[0-9A-Z]{26}$/),
    object: 'service.job',
    status: 'QUEUED',
    inference_type: 'LLM',
    endpoint: '/v1/chat/completions',
    model: 'tiny',
    created: Math.floor(Date.parse(job.queued_at) / 1000),
    queued_at: expect.stringMatching(ISO),
    started_at: null,
    finished_at: null,
    attempts: 0,
    max_attempts: 3,
    batch_id: null,
    error: null,
    position: expect.toSatisfy((place) => place === null || place >= 1),
    waiting_reason: expect.stringMatching(/\.$/),
  });
});

describe('the body that reaches the provider', () => {
  it('has no async, stream, stream_options or webhook, and everything else', async () => {
    const fields = { stream: true, stream_options: { include_usage: true }, webhook: HOOK };
    const job = await submitted(gateway, { ...fields, top_k: 40, user: 'me' });
    expect((await ended(gateway, job.id)).status).toBe('PROCESSED');
    const { body } = fake.lastRequest;
    for (const name of ['async', 'webhook', 'stream_options'])
      expect(body).not.toHaveProperty(name);
    expect(body['stream'] ?? false).toBe(false);
    expect(body).toMatchObject({ ...chat(), top_k: 40, user: 'me' });
  });

  it('has the temperature 0.7 where none was named', async () => {
    await ended(gateway, (await submitted(gateway)).id);
    expect(fake.lastRequest.body['temperature']).toBe(0.7);
    await ended(gateway, (await submitted(gateway, { temperature: 0 })).id);
    expect(fake.lastRequest.body['temperature']).toBe(0);
  });

  it('has no webhook on a synchronous call either', async () => {
    expect((await post(gateway, chat({ webhook: HOOK }))).status).toBe(200);
    expect(fake.lastRequest.body).not.toHaveProperty('webhook');
  });
});

describe('supported for', () => {
  const completion = { path: '/v1/completions' };
  it.each<[string, string, () => Promise<Response>]>([
    ['/v1/chat/completions', 'LLM', () => submit(gateway)],
    ['/v1/completions', 'LLM', () => submit(gateway, { prompt: 'once' }, completion)],
    ['/v1/images/generations', 'IMAGE', () => draw(gateway, { async: true })],
    ['/v1/videos/generations', 'VIDEO', () => film(gateway, { async: true })],
    ['/v1/music/generations', 'MUSIC', () => play(gateway, { async: true })],
    ['/v1/audio/speech', 'TTS', () => speak(gateway, { async: true })],
  ])('%s as %s', async (endpoint, type, send) => {
    const job = await accepted<JobBody>(await send());
    expect(job).toMatchObject({ inference_type: type, endpoint, status: 'QUEUED' });
    const done = await ended(gateway, job.id);
    expect(done).toMatchObject({ status: 'PROCESSED', error: null, attempts: 1 });
    if (type === 'LLM') {
      expect(done.result?.choices).toHaveLength(1);
      expect(done.assets).toEqual([]);
    } else {
      expect(done.result_url).toBe(done.assets?.[0]?.url);
      expect((await gateway.fetch(new URL(done.result_url ?? '').pathname)).status).toBe(200);
    }
  });
});

it.each(['/v1/audio/transcriptions', '/v1/images/edits', '/v1/voice/generations'])(
  'not supported (synchronous only): %s',
  async (path) => {
    const form = new FormData();
    const name = path.endsWith('edits') ? 'image' : 'file';
    form.set(name, new Blob([new Uint8Array(name === 'file' ? SPEECH : picture())]), 'x');
    for (const field of ['model', 'prompt', 'input']) form.set(field, 'x');
    form.set('async', 'true');
    const failure = await failureOf(await gateway.fetch(path, { method: 'POST', body: form }));
    expect(failure).toMatchObject({ status: 400, code: 'async_not_supported', param: 'async' });
  },
);

it('async: false is a synchronous call', async () => {
  const response = await post(gateway, chat({ async: false }));
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ object: 'chat.completion' });
});

it('a malformed request is refused as a synchronous one is, and no job exists', async () => {
  const before = (await listJobs(gateway, '?limit=1')).data[0]?.id;
  const failure = await failureOf(await submit(gateway, { messages: [] }));
  expect(failure).toMatchObject({ status: 400, type: 'invalid_request_error', param: 'messages' });
  expect((await listJobs(gateway, '?limit=1')).data[0]?.id).toBe(before);
});

describe('the model of a direct submission', () => {
  it('that nobody visible to the caller has ever served is 404 no_provider', async () => {
    const failure = await failureOf(await submit(gateway, { model: 'tinny' }));
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
    expect(failure.message).toContain("'tiny'");
    const ofBen = await submit(gateway, {}, { headers: keyOf(gateway.ben) });
    expect(await failureOf(ofBen)).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('must be of the endpoint’s service type', async () => {
    const failure = await failureOf(await submit(gateway, { model: MODELS.image }));
    expect(failure).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('that is known and offline now is accepted, says so, and runs when it is back', async () => {
    const own = await startGateway();
    const home = await startFakeOpenAi();
    const agent = await own.startAgent({ services: [{ baseUrl: home.baseUrl }] });
    await agent.stop();
    await until(async () => (await own.client.models.list()).data.length === 0);
    const job = await submitted(own);
    expect(job).toMatchObject({ status: 'QUEUED' });
    expect(job.waiting_reason).toMatch(/has been online since \d{4}-/);
    await own.startAgent({ services: [{ baseUrl: home.baseUrl }], name: 'another' });
    expect((await ended(own, job.id)).status).toBe('PROCESSED');
    await home.close();
  });
});

describe('what is full', () => {
  it('queue_full tells what is queued and how much may be', async () => {
    const small = await startGateway({ maxQueuedJobs: 2 });
    await small.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
    await pauseQueue(small);
    await submitted(small);
    await submitted(small);
    const response = await submit(small);
    expect(response.headers.get('retry-after')).toBe('30');
    const failure = await failureOf(response);
    expect(failure).toMatchObject({ status: 429, type: 'rate_limit_exceeded', code: 'queue_full' });
    expect(failure.message).toBe(
      'You have 2 jobs queued, and 2 are allowed. Try again in 30 seconds.',
    );
  });

  it('the bytes of queued requests count as well', async () => {
    const small = await startGateway({ maxQueuedBytes: 1_000 });
    await small.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
    await pauseQueue(small);
    await submitted(small);
    const failure = await failureOf(await submit(small, { user: 'x'.repeat(1_000) }));
    expect(failure).toMatchObject({ status: 429, code: 'queue_full' });
    expect(failure.message).toMatch(/^Your queued requests have \d+ bytes, and 1000 are allowed\./);
  });

  it('507 storage_full where a media job could store nothing; a text job is taken', async () => {
    const full = await startGateway({ assetsMaxBytes: 0 });
    const { fake: maker } = await startStudio(full);
    await full.startAgent({ services: [{ baseUrl: fake.baseUrl }], name: 'text' });
    const failure = await failureOf(await draw(full, { async: true }));
    expect(failure).toMatchObject({ status: 507, code: 'storage_full', retry: 'false' });
    expect((await submit(full)).status).toBe(202);
    await maker.close();
  });
});

describe('the voice of a speech job', () => {
  it('falls back as on a synchronous call, and the header says so', async () => {
    const response = await speak(gateway, { async: true, voice: 'alloy' });
    expect(response.headers.get('x-voice-fallback')).toBe('af_bella');
    await ended(gateway, (await accepted<JobBody>(response)).id);
    expect(studio.fake.lastRequest.body['voice']).toBe('af_bella');
  });

  it('that is unknown is 400', async () => {
    const failure = await failureOf(await speak(gateway, { async: true, voice: 'af_bela' }));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_value', param: 'voice' });
  });
});

describe('the webhook of a submission', () => {
  it('is accepted, and its secret is never returned', async () => {
    const response = await submit(gateway, { webhook: HOOK });
    const job = await accepted<JobBody>(response);
    const seen = JSON.stringify([job, await ended(gateway, job.id), await listJobs(gateway)]);
    expect(seen).not.toContain('whsec_');
    expect(seen).not.toContain('example.org');
  });

  it.each([
    ['webhook.url', { ...HOOK, url: 'http://127.0.0.1/hook' }],
    ['webhook.url', { ...HOOK, url: 'not an address' }],
    ['webhook.secret', { ...HOOK, secret: 'short' }],
    ['webhook.url', { secret: HOOK.secret }],
  ])('is 400 where its %s is wrong: %j', async (param, webhook) => {
    const failure = await failureOf(await submit(gateway, { webhook }));
    expect(failure).toMatchObject({ status: 400, param });
    expect(failure.message).not.toContain(HOOK.secret);
  });
});

describe.each(STOCK_CLIENTS)('$version', ({ Sdk }) => {
  it('gets the job from chat.completions.create', async () => {
    const params: OpenAI.ChatCompletionCreateParamsNonStreaming = chat({ async: true });
    const job = await connect(Sdk, gateway).chat.completions.create(params);
    expect(job).toMatchObject({ object: 'service.job', status: 'QUEUED' });
  });

  it('gets the 202 from audio.speech.create', async () => {
    const fields = { model: MODELS.tts, input: 'Hello.', voice: 'alloy', async: true };
    const response = await connect(Sdk, gateway).audio.speech.create(fields);
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ object: 'service.job', inference_type: 'TTS' });
  });

  it('reads jobs and batches with its generic get and post', async () => {
    const client = connect(Sdk, gateway);
    const job = await submitted(gateway);
    const read = await client.get<JobBody>(`/jobs/${job.id}`, { query: { wait: 20 } });
    expect(read).toMatchObject({ id: job.id, status: 'PROCESSED' });
    const canceled = await client.post(`/jobs/${job.id}/cancel`);
    expect(canceled).toEqual({ id: job.id, status: 'PROCESSED', canceled: false });
  });
});
