import { CALL_KINDS } from '@inference-gateway/coordinator/http/inference/kinds';
import { createDocument } from '@inference-gateway/coordinator/openapi/document';
import { beforeAll, describe, expect, it } from 'vitest';
import { startFakeMedia } from '../support/fake-media-server.js';
import type { FakeMediaServer } from '../support/fake-media-server.js';
import { startInfinity } from '../support/local-servers/infinity.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { DOCUMENT, expectDocumented, findTemplate } from '../support/openapi.js';
import { picture } from '../support/pictures.js';
import { tone } from '../support/sound.js';
import { startStudio } from '../support/studio.js';
import type { Studio } from '../support/studio.js';
import { dieMidStream, html500 } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { until } from '../support/until.js';
import { joinAndLogOut, SAME_ORIGIN, setUpAndLookAround } from './account-calls.js';
import type { Sent } from './account-calls.js';
import { shareAsAgent } from './agent-calls.js';
import { enrolTwice, logInAsDevice } from './device-calls.js';
import { startFresh } from './fresh-coordinator.js';
import {
  ASSETS,
  IMAGES_PATH,
  listAssets,
  MUSIC_PATH,
  SPEECH_PATH,
  VIDEOS_PATH,
} from './media-calls.js';
import { CHAT, chat } from './requests.js';
import { visit } from './visitor.js';
import { my } from './console-calls.js';
import { form, json } from './sent.js';

const TOKEN = 'the-token-of-the-metrics';
const RESPONSES = '/v1/responses';
const MESSAGES = '/v1/messages';
const COMPLETIONS = '/v1/completions';
const TRANSCRIPTIONS = '/v1/audio/transcriptions';
const EDITS = '/v1/images/edits';
const QUEUE = '/api/inference/queue/summary';
const RESET = '/api/console/v1/password/reset';
const VOICE = '/v1/voice/generations';

let gateway: TestGateway;
let texts: FakeModelServer;
let studio: Studio;
let forms: FakeMediaServer;
let vectors: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway({ metricsToken: TOKEN });
  texts = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: texts.baseUrl }] });
  studio = await startStudio(gateway, { name: 'studio-pc', voices: ['alba', 'bruno'] });
  forms = await startFakeMedia();
  const services = [
    { ...forms.service('stt', { whisper: ['timestamps', 'translation'], plain: [] }), id: 'stt' },
    { ...forms.service('image', { painter: [] }), id: 'image' },
    { ...forms.service('tts', { chatterbox: ['voice-cloning'] }), id: 'tts' },
  ];
  await gateway.startAgent({ name: 'attic-pc', services });
  vectors = await startInfinity();
  await gateway.startAgent({
    name: 'vector-pc',
    services: (['embedding', 'rerank'] as const).map((type) => {
      return { id: type, type, backend: 'infinity', baseUrl: vectors.origin };
    }),
  });
  return async () => {
    await gateway.stop();
    await Promise.all([texts.close(), studio.fake.close(), forms.close(), vectors.close()]);
  };
}, 60_000);

interface BatchAnswer {
  readonly jobs: readonly { readonly id: string }[];
}

/** The operations that have given a successful answer. */
const called = new Set<string>();

/** Sends a request and checks the answer against the document. */
async function call(
  { path, ...init }: Sent,
  to: Pick<TestGateway, 'fetch'> = gateway,
): Promise<Response> {
  const { method = 'GET' } = init;
  const response = await to.fetch(path, init);
  await expectDocumented(path, method, response);
  if (response.ok) called.add(`${method} ${findTemplate(new URL(response.url).pathname)}`);
  return response;
}

const speech = { model: 'kokoro', input: 'Hello there.' };
const image = { model: 'sd', prompt: 'a cat' };
const film = { model: 'wan', prompt: 'a cat that runs' };
const song = { model: 'ace', prompt: 'a song of cats' };
const prompt = { model: 'tiny', prompt: 'Once' };
const sound = tone(1);
const spoken = { file: sound, model: 'whisper' };
const words = { 'timestamp_granularities[]': 'word', response_format: 'verbose_json' };
const edit = { image: picture(), model: 'painter', prompt: 'a hat' };
const cloned = { file: sound, model: 'chatterbox', input: 'Good morning' };

/** A call of each endpoint and each form of its answer, with the expected content type. */
const CALLS: readonly (readonly [string, string, Sent])[] = [
  ['a chat', 'application/json', json(CHAT, chat())],
  ['a streamed chat', 'text/event-stream', json(CHAT, chat({ stream: true }))],
  [
    'a streamed chat with its usage',
    'text/event-stream',
    json(CHAT, chat({ stream: true, stream_options: { include_usage: true } })),
  ],
  ['a response', 'application/json', json(RESPONSES, { model: 'tiny', input: 'hello' })],
  [
    'a streamed response',
    'text/event-stream',
    json(RESPONSES, { model: 'tiny', input: 'hello', stream: true }),
  ],
  ['a message', 'application/json', json(MESSAGES, chat({ max_tokens: 8 }))],
  [
    'a streamed message',
    'text/event-stream',
    json(MESSAGES, chat({ max_tokens: 8, stream: true })),
  ],
  ['its tokens', 'application/json', json(`${MESSAGES}/count_tokens`, chat())],
  ['embeddings', 'application/json', json('/v1/embeddings', { model: 'embedder', input: 'a' })],
  [
    'a ranking',
    'application/json',
    json('/v1/rerank', { model: 'ranker', query: 'a', documents: ['a', 'b'] }),
  ],
  ['a completion', 'application/json', json(COMPLETIONS, prompt)],
  ['a streamed completion', 'text/event-stream', json(COMPLETIONS, { ...prompt, stream: true })],
  ['a transcript', 'application/json', form(TRANSCRIPTIONS, spoken)],
  ['a translation', 'application/json', form('/v1/audio/translations', spoken)],
  ['its text', 'text/plain', form(TRANSCRIPTIONS, { ...spoken, response_format: 'text' })],
  [
    'a verbose transcript',
    'application/json',
    form(TRANSCRIPTIONS, { ...spoken, response_format: 'verbose_json' }),
  ],
  ['its words', 'application/json', form(TRANSCRIPTIONS, { ...spoken, ...words })],
  [
    'a downgraded transcript',
    'application/json',
    form(TRANSCRIPTIONS, { ...spoken, ...words, model: 'plain' }),
  ],
  ['speech', 'audio/wav', json(SPEECH_PATH, speech)],
  ['speech in a voice instead', 'audio/wav', json(SPEECH_PATH, { ...speech, voice: 'alloy' })],
  ['voices', 'application/json', { path: '/v1/audio/voices?model=kokoro' }],
  ['images', 'application/json', json(IMAGES_PATH, { ...image, n: 2 })],
  ['an image', 'application/json', json(IMAGES_PATH, { ...image, response_format: 'b64_json' })],
  ['an edited image', 'application/json', form(EDITS, edit)],
  ['an edited one', 'application/json', form(EDITS, { ...edit, response_format: 'b64_json' })],
  ['a film', 'video/mp4', json(VIDEOS_PATH, film)],
  ['its address', 'application/json', json(VIDEOS_PATH, { ...film, response_format: 'url' })],
  ['music', 'audio/wav', json(MUSIC_PATH, song)],
  ['where it is', 'application/json', json(MUSIC_PATH, { ...song, response_format: 'url' })],
  ['a copied voice', 'audio/wav', form(VOICE, cloned)],
  ['the models', 'application/json', { path: '/v1/models' }],
  ['a model', 'application/json', { path: '/v1/models/tiny' }],
  ['the files', 'application/json', { path: `${ASSETS}?limit=2` }],
  ['the root', 'application/json', { path: '/' }],
  ['health', 'application/json', { path: '/healthz' }],
  ['readiness', 'application/json', { path: '/readyz' }],
  ['the document', 'application/json', { path: '/openapi.json' }],
  ['an installation', 'text/plain', { path: '/install.sh' }],
  ['one for Windows', 'text/plain', { path: '/install.ps1' }],
  ['a release', 'text/plain', { path: '/download/release.json' }],
  [
    'the metrics',
    'text/plain',
    { path: '/metrics', headers: { authorization: `Bearer ${TOKEN}` } },
  ],
];

describe('GET /openapi.json', () => {
  it('takes no key, and names the address at which callers reach this server', async () => {
    const response = await fetch(`${gateway.address}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual(createDocument(gateway.address, CALL_KINDS));
    const own = await startGateway({ publicUrl: 'https://gateway.example.net' });
    const document = (await (await fetch(`${own.address}/openapi.json`)).json()) as object;
    expect(document).toMatchObject({ servers: [{ url: 'https://gateway.example.net' }] });
  });
});

describe('real answers match the document', () => {
  it.each(CALLS)('%s (%s)', async (_, type, sent) => {
    const { status, headers } = await call(sent);
    expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
  });

  it('a file: whole, a part, unchanged, no part, another one, and deleted', async () => {
    await call(json(IMAGES_PATH, image));
    const [asset] = await listAssets(gateway);
    const path = `${ASSETS}/${asset?.id}/`;
    const etag = (await call({ path })).headers.get('etag') ?? '';
    const fetches: [number, Record<string, string>][] = [
      [206, { range: 'bytes=0-9' }],
      [304, { 'if-none-match': etag }],
      [412, { 'if-match': '"other"' }],
      [416, { range: 'bytes=999999999-' }],
    ];
    for (const [status, headers] of fetches) {
      expect((await call({ path, headers })).status).toBe(status);
    }
    expect((await call({ path, method: 'DELETE' })).status).toBe(200);
    expect((await call({ path })).status).toBe(404);
  });

  it('jobs: submitted, replayed, finished, listed, and neither canceled nor retried', async () => {
    const headers = { 'idempotency-key': 'once', 'content-type': 'application/json' };
    const sent = { ...json(CHAT, chat({ async: true })), headers };
    const { id } = (await (await call(sent)).json()) as { id: string };
    expect((await call(sent)).headers.get('idempotency-replayed')).toBe('true');
    const job = await call({ path: `/v1/jobs/${id}?wait=30` });
    expect(await job.json()).toMatchObject({ status: 'PROCESSED' });
    await call({ path: '/v1/jobs?status=PROCESSED&limit=500' });
    expect((await call({ path: `/v1/jobs/${id}/cancel`, method: 'POST' })).status).toBe(200);
    expect((await call({ path: `/v1/jobs/${id}/retry`, method: 'POST' })).status).toBe(409);
  });

  it('a response in the background: created, fetched, canceled', async () => {
    const asked = { model: 'tiny', input: 'hello', background: true };
    const { id } = (await (await call(json(RESPONSES, asked))).json()) as { id: string };
    expect((await call({ path: `${RESPONSES}/${id}` })).status).toBe(200);
    expect((await call({ path: `${RESPONSES}/${id}/cancel`, method: 'POST' })).status).toBe(200);
  });

  it('a batch: submitted, fetched, listed, canceled, and the queue meanwhile', async () => {
    const requests = [
      { endpoint: IMAGES_PATH, body: image },
      { endpoint: SPEECH_PATH, body: { ...speech, model: 'nothing' } },
    ];
    const submitted = await call(json('/v1/batches', { requests, label: 'evening' }));
    const { id } = (await submitted.json()) as { id: string };
    await call({ path: QUEUE });
    const fetched = (await (await call({ path: `/v1/batches/${id}` })).json()) as BatchAnswer;
    const [drawn = '', waiting = ''] = fetched.jobs.map((job) => job.id);
    await call({ path: `/v1/jobs/${drawn}?wait=30` });
    await call({ path: `/v1/jobs/${waiting}` });
    await call({ path: '/v1/batches' });
    expect((await call({ path: `/v1/batches/${id}/cancel`, method: 'POST' })).status).toBe(200);
    expect((await call({ path: `/v1/jobs/${waiting}/retry`, method: 'POST' })).status).toBe(202);
  });

  it('a file of requests: uploaded, listed, read by a batch, fetched and deleted', async () => {
    const line = { custom_id: 'a', method: 'POST', url: CHAT, body: chat() };
    const fields = { file: Buffer.from(JSON.stringify(line)), purpose: 'batch' };
    const uploaded = await call(form('/v1/files', fields));
    const { id } = (await uploaded.json()) as { id: string };
    await call({ path: '/v1/files' });
    await call({ path: `/v1/files/${id}` });
    await call({ path: `/v1/files/${id}/content` });
    const asked = { input_file_id: id, endpoint: CHAT, completion_window: '24h' };
    const created = await call(json('/v1/batches', asked));
    expect(created.status).toBe(200);
    const batch = (await created.json()) as { id: string };
    await until(async () => {
      const read = await call({ path: `/v1/batches/${batch.id}` });
      return ((await read.json()) as { status: string }).status === 'completed';
    });
    await call({ path: '/v1/batches' });
    await call({ path: `/v1/batches/${batch.id}/cancel`, method: 'POST' });
    expect((await call({ path: `/v1/files/${id}`, method: 'DELETE' })).status).toBe(200);
  });

  it('what a provider made names it, and a raw answer its file', async () => {
    const { headers } = await call(json(SPEECH_PATH, speech));
    const names = ['x-provider', 'x-attempts', 'x-queue-ms', 'x-gateway-overhead-ms'];
    expect(names.filter((name) => !headers.has(name))).toEqual([]);
    expect(headers.get('x-asset-url')).toContain(ASSETS);
  });

  it('machines that come in, with a token and with a code, once, and share', async () => {
    expect(await enrolTwice(gateway, call)).toEqual([200, 401]);
    expect(await logInAsDevice(gateway, call)).toEqual([200, 200, 400]);
    expect(await shareAsAgent(gateway, call)).toEqual([200, 201, 204, 404]);
  });

  it('a friend who joins, logs in, changes the password, looks and logs out', async () => {
    expect(await joinAndLogOut(gateway, call)).toEqual([200, 201, 204, 204, 200, 204, 401]);
  });

  it('a member whose feed reader asks', async () => {
    const { url } = await my(await visit(gateway, 'anna@example.org'), 'feed.create', {});
    const { pathname, search } = new URL(url);
    expect((await call({ path: `${pathname}${search}` })).status).toBe(200);
  });

  it('a member who sets a new password by a link', async () => {
    expect((await call({ path: '/api/console/v1/log-in' })).status).toBe(200);
    const { secret } = await gateway.admin('user.reset-link', { member: 'Ben' });
    const { headers, ...sent } = json(RESET, { token: secret, password: 'another long password' });
    const reset = { ...sent, headers: { ...headers, ...SAME_ORIGIN } };
    expect((await call(reset)).status).toBe(204);
    const again = (await (await call(reset)).json()) as { error: { code: string } };
    expect(again.error.code).toBe('invalid_reset_link');
  });
});

it('the first admin sets the gateway up, and looks around in the console', async () => {
  const { coordinator, token } = await startFresh();
  const fresh: Pick<TestGateway, 'fetch'> = {
    fetch: (path, init) => fetch(`${coordinator.address}${path}`, init),
  };
  const statuses = await setUpAndLookAround(token, (sent) => call(sent, fresh));
  expect(statuses).toEqual([204, 201, 200, 200, 200, 200]);
});

describe('real errors match the document', () => {
  const cases: [number, string, Sent][] = [
    [400, 'invalid_json', json(CHAT, '{')],
    [400, 'missing_required_parameter', json(CHAT, { model: 'tiny' })],
    [400, 'invalid_value', json(CHAT, chat({ temperature: 9 }))],
    [400, 'missing_required_parameter', form(TRANSCRIPTIONS, { model: 'whisper' })],
    [400, 'async_not_supported', form(EDITS, { ...edit, async: 'true' })],
    [400, 'missing_required_parameter', { path: '/v1/audio/voices' }],
    [400, 'invalid_value', { path: `${ASSETS}?limit=0` }],
    [400, 'invalid_value', { path: '/v1/models', headers: { 'x-provider-scope': 'all' } }],
    [401, 'invalid_api_key', { path: '/v1/models', headers: { authorization: 'Bearer x' } }],
    [401, 'missing_api_key', { path: ASSETS, headers: { authorization: '' } }],
    [401, 'invalid_api_key', { path: '/metrics' }],
    [404, 'model_not_found', json(CHAT, chat({ model: 'nothing' }))],
    [404, 'model_not_found', { path: '/v1/models/org/nothing:7b' }],
    [404, 'asset_not_found', { path: `${ASSETS}/nothing/`, method: 'DELETE' }],
    [404, 'unknown_url', { path: '/v1/nothing' }],
    [405, 'method_not_allowed', { path: CHAT, method: 'DELETE' }],
    [413, 'body_too_large', json(SPEECH_PATH, { ...speech, input: 'a'.repeat(5_001) })],
    [415, 'unsupported_content_type', { path: CHAT, method: 'POST', body: 'hello' }],
    [415, 'unsupported_file_type', form(EDITS, { ...edit, image: Buffer.from('text') })],
    [404, 'not_found', { path: '/api/feed?token=nothing' }],
    [404, 'job_not_found', { path: '/v1/jobs/nothing' }],
    [404, 'batch_not_found', { path: '/v1/batches/nothing' }],
    [404, 'file_not_found', { path: '/v1/files/nothing/content' }],
    [400, 'invalid_item', form('/v1/files', { file: Buffer.from('[]'), purpose: 'batch' })],
    [400, 'unsupported_value', form('/v1/files', { file: Buffer.from('[]'), purpose: 'evals' })],
    [400, 'invalid_value', { path: '/v1/jobs?status=GONE' }],
    [400, 'invalid_value', { path: '/v1/batches?limit=51' }],
    [400, 'missing_requests', json('/v1/batches', {})],
  ];

  it.each(cases)('%i %s', async (status, code, sent) => {
    const response = await call(sent);
    const { error } = (await response.json()) as { error: { code: string } };
    expect([response.status, error.code]).toEqual([status, code]);
  });

  it('502 provider_error', async () => {
    texts.once(html500());
    expect((await call(json(CHAT, chat()))).status).toBe(502);
  });

  it('the error event of a stream that breaks', async () => {
    texts.once(dieMidStream());
    const response = await call(json(CHAT, chat({ stream: true })));
    expect(await response.text()).toContain('data: {"error":');
  });

  it('503 async_disabled', async () => {
    const off = await startGateway({ asyncEnabled: false });
    for (const path of ['/v1/jobs', '/v1/jobs/x', '/v1/batches', '/v1/batches/x', '/v1/files']) {
      expect((await call({ path }, off)).status).toBe(503);
    }
    expect((await call(json(IMAGES_PATH, { ...image, async: true }), off)).status).toBe(503);
    expect((await call({ path: QUEUE }, off)).status).toBe(200);
  });

  it('429 rate_limit_exceeded', async () => {
    const narrow = await startGateway({ rateLimitRequests: 1 });
    await call({ path: '/v1/models' }, narrow);
    expect((await call({ path: '/v1/models' }, narrow)).status).toBe(429);
  });
});

/** `test/api/oidc` and `test/web/log-in` check these: they need a provider, or a browser. */
const ELSEWHERE = [
  'POST /api/console/v1/passkey/challenge',
  'POST /api/console/v1/session/passkey',
  'POST /api/console/v1/oidc/start',
  'GET /api/oidc/callback',
];

/** Must be the last test: it checks what all the others have called. */
it('every operation of the document has answered here', () => {
  const documented = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(documented.filter((one) => !called.has(one))).toEqual(ELSEWHERE);
});
