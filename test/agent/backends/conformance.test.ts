/** What every backend does, whichever local server it speaks to. */
import { LocalFailure } from '@inference-gateway/agent/backends/backend';
import type {
  Backend,
  DocumentAnswer,
  LocalAnswer,
  LocalCall,
  ServiceConfig,
} from '@inference-gateway/agent/backends/backend';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as behave from '../../support/fake-behaviours.js';
import {
  startFakeLlamaServer,
  startFakeOllama,
  startFakeOpenAi,
} from '../../support/fake-openai-server.js';
import type { FakeOpenAiOptions } from '../../support/fake-openai-server.js';
import type { FakeModelServer } from '../../support/fake-model-server.js';
import { configuredServer } from '../../support/configured-server.js';
import { until } from '../../support/until.js';

const KINDS = [
  ['openai', startFakeOpenAi],
  ['ollama', startFakeOllama],
  ['llama-server', startFakeLlamaServer],
] as const;

const ABORT_LIMIT_MS = 1_000;

describe.each(KINDS)('the %s backend', (backendName, startFake) => {
  async function start(
    options: FakeOpenAiOptions = {},
    changes: Partial<ServiceConfig> = {},
  ): Promise<{ fake: FakeModelServer; backend: Backend }> {
    const fake = await startFake({ models: ['tiny'], ...options });
    onTestFinished(() => fake.close());
    const service = configuredServer(fake.baseUrl, { backend: backendName, ...changes });
    return { fake, backend: createBackend(service) };
  }

  test('describes the models as far as the local server tells', async () => {
    const { backend } = await start();
    const { models } = await backend.describe(AbortSignal.timeout(2_000));
    expect(models).toEqual([
      {
        id: 'tiny',
        served_name: 'tiny',
        context_length: { openai: null, ollama: 4_096, 'llama-server': 1_024 }[backendName],
        input_modalities: ['text'],
        output_modalities: ['text'],
        supported_features: backendName === 'openai' ? [] : ['tools'],
        loaded: { openai: null, ollama: false, 'llama-server': true }[backendName],
      },
    ]);
  });

  test('describes exactly the configured models, with what is known of them', async () => {
    const models = [configured('mine', 'tiny'), configured('other', 'elsewhere')];
    const { backend } = await start({}, { models });
    const described = await backend.describe(AbortSignal.timeout(2_000));
    expect(described.models.map(({ id, served_name }) => [id, served_name])).toEqual([
      ['mine', 'tiny'],
      ['other', 'elsewhere'],
    ]);
  });

  test('fails to describe a server that is gone or speaks of something else', async () => {
    const { backend, fake } = await start();
    fake.routes = { '*': { hello: 'world' } };
    await expect(backend.describe(AbortSignal.timeout(2_000))).rejects.toBeInstanceOf(LocalFailure);
    await fake.close();
    await expect(backend.describe(AbortSignal.timeout(2_000))).rejects.toMatchObject({
      code: 'LOCAL_UNREACHABLE',
    });
  });

  test('names the missing key', async () => {
    const { backend } = await start({ apiKey: 'sk-local' });
    await expect(backend.describe(AbortSignal.timeout(2_000))).rejects.toThrow(/api_key_file/);
  });

  test('answers a chat, asked for under the local name, with our headers alone', async () => {
    const { backend, fake } = await start({ apiKey: 'sk-local' }, { apiKey: 'sk-local' });
    const call = chat({ temperature: 0.7, model: 'mine' }, { id: 'mine', served_name: 'tiny' });
    const answer = await backend.call(call);
    expect(answer).toMatchObject({ status: 200, usage: { prompt_tokens: 7 } });
    expect(parse(answer)).toMatchObject({ model: 'mine', object: 'chat.completion' });
    const { path, body, headers, text } = fake.lastRequest;
    expect(path).toBe('/v1/chat/completions');
    expect(body).toMatchObject({ model: 'tiny', temperature: 0.7 });
    expect(headers).toEqual({
      host: new URL(fake.origin).host,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'content-length': String(Buffer.byteLength(text)),
      authorization: 'Bearer sk-local',
    });
  });

  test('answers a legacy completion', async () => {
    const { backend, fake } = await start();
    const answer = await backend.call({ ...chat({ prompt: 'a' }), endpoint: 'completions' });
    expect(parse(answer)).toMatchObject({ object: 'text_completion' });
    expect(fake.lastRequest.path).toBe('/v1/completions');
  });

  test('streams, and keeps the connection for the next request', async () => {
    const { backend, fake } = await start({ behaviour: behave.chunks({ count: 20, delayMs: 2 }) });
    for (let round = 0; round < 2; round++) {
      const { text, usage } = await drain(await backend.call(chat({ stream: true })));
      expect(text.match(/^data: /gm)).toHaveLength(21);
      expect(text).toContain('"c19 "');
      expect(text).not.toContain('[DONE]');
      expect(usage).toEqual({ prompt_tokens: 7, completion_tokens: 20, total_tokens: 27 });
    }
    expect(fake.aborts).toEqual([]);
    expect(fake.inFlight).toBe(0);
  });

  test('drops what the owner does not let through', async () => {
    const { backend, fake } = await start({}, { dropFields: ['logit_bias'] });
    await backend.call(chat({ logit_bias: {}, seed: 1 }));
    expect(fake.lastRequest.body).not.toHaveProperty('logit_bias');
    expect(fake.lastRequest.body).toHaveProperty('seed', 1);
  });

  test('does not let the local server fetch media', async () => {
    const { backend, fake } = await start();
    const content = [{ type: 'image_url', image_url: { url: 'http://127.0.0.1/secret' } }];
    const answer = await backend.call(chat({ messages: [{ role: 'user', content }] }));
    expect(answer).toMatchObject({ status: 400 });
    expect(parse(answer)).toMatchObject({ error: { code: 'unsupported_value' } });
    expect(fake.requests).toEqual([]);
  });

  test('serves no other endpoint', async () => {
    const { backend, fake } = await start();
    const answer = await backend.call({ ...chat({}), endpoint: 'speech' });
    expect(answer).toMatchObject({ kind: 'document', status: 404 });
    expect(fake.requests).toEqual([]);
  });

  test.each([
    ['a stream', true, behave.chunks({ count: 1_000, delayMs: 5 })],
    ['a plain answer', false, behave.document({ delayMs: 5_000 })],
    ['a hang before headers', true, behave.hangBeforeHeaders()],
    ['a hang after headers', true, behave.hangAfterHeaders()],
    ['a hang after chunks', true, behave.hangAfterHeaders({ after: 2 })],
  ])('an abort reaches the local server within a second: %s', async (_what, stream, behaviour) => {
    const { backend, fake } = await start({ behaviour });
    const leaving = new AbortController();
    const call = { ...chat({ stream }), signal: leaving.signal };
    const outcome = backend
      .call(call)
      .then(drain)
      .catch((error: unknown) => error);
    await until(() => fake.inFlight === 1 && fake.requests.length === 1);
    const reason = new Error('the caller left');
    const at = performance.now();
    leaving.abort(reason);
    const aborted = await until(() => fake.aborts[0]);
    expect((aborted.abortedAt ?? Infinity) - at).toBeLessThan(ABORT_LIMIT_MS);
    expect(await outcome).toBe(reason);
    expect(fake.inFlight).toBe(0);
  });

  test('a stream that nobody reads on is closed, too', async () => {
    const { backend, fake } = await start({
      behaviour: behave.chunks({ count: 1_000, delayMs: 5 }),
    });
    const answer = await backend.call(chat({ stream: true }));
    if (answer.kind !== 'events') throw new Error('not a stream');
    await answer.events.next();
    await answer.events.return(null);
    await until(() => fake.aborts.length === 1, { timeoutMs: ABORT_LIMIT_MS });
  });

  test.each([
    ['dies in mid-stream', behave.dieMidStream(), true, 'LOCAL_ERROR', /broke off/],
    [
      'dies before headers',
      (_: unknown, response: { destroy(): unknown }) => void response.destroy(),
      false,
      'LOCAL_ERROR',
      /broke off/,
    ],
    ['ends without finish', behave.noFinish(), true, 'LOCAL_ERROR', /finish_reason/],
    ['says an error line', behave.errorLine('no memory'), true, 'LOCAL_ERROR', /^no memory$/],
    ['sends an error event', behave.errorEvent('no memory'), true, 'LOCAL_ERROR', /^no memory$/],
    ['answers a page', behave.reply(200, '<html>', 'text/html'), true, 'LOCAL_ERROR', /page/],
    ['answers nothing', behave.reply(200, ''), false, 'LOCAL_ERROR', /neither JSON/],
    ['sends elsewhere', behave.reply(307, ''), false, 'LOCAL_ERROR', /307/],
    [
      'never ends its answer',
      behave.reply(200, `"${'x'.repeat(33 * 1024 * 1024)}"`),
      false,
      'LOCAL_ERROR',
      /more than 33554432 bytes/,
    ],
  ] as const)(
    'a local server that %s is a failure',
    async (...[, behaviour, stream, code, message]) => {
      const { backend } = await start({ behaviour });
      const failure = await backend
        .call(chat({ stream }))
        .then(drain)
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(LocalFailure);
      expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
    },
  );

  test('a refused connection is told apart', async () => {
    const { backend, fake } = await start();
    await fake.close();
    await expect(backend.call(chat({}))).rejects.toMatchObject({ code: 'LOCAL_UNREACHABLE' });
  });

  test.each([
    [500, behave.html500(), /^Internal Error$/],
    [503, behave.reply(503, { error: { message: 'Loading model', code: 503 } }), /^Loading model$/],
    [401, behave.reply(401, { error: { message: 'Invalid API Key' } }), /^Invalid API Key$/],
    [400, behave.reply(400, { error: 'bad request' }, 'text/plain'), /^bad request$/],
  ])(
    'status %i is an answer in OpenAI’s form, streamed or not',
    async (status, behaviour, message) => {
      const { backend } = await start({ behaviour });
      for (const stream of [true, false]) {
        const answer = await backend.call(chat({ stream }));
        expect(answer).toMatchObject({ kind: 'document', status });
        expect(parse(answer)).toMatchObject({ error: { message: expect.stringMatching(message) } });
      }
    },
  );

  test('JSON for a stream, SSE for JSON, a wrong type and no [DONE] come out right', async () => {
    const { backend, fake } = await start();
    fake.once(behave.document({ text: 'whole' }));
    const asStream = await drain(await backend.call(chat({ stream: true })));
    expect(asStream.text).toContain('"content":"whole"');
    fake.once(behave.stream(['in ', 'pieces']));
    expect(parse(await backend.call(chat({})))).toMatchObject({
      choices: [{ message: { content: 'in pieces' }, finish_reason: 'stop' }],
    });
    const wrong = { choices: [{ message: { content: 'typed wrong' } }] };
    fake.once(behave.reply(200, wrong, 'text/html'));
    expect(parse(await backend.call(chat({})))).toMatchObject({
      choices: [{ message: { content: 'typed wrong' } }],
    });
    fake.once(behave.noDone(['bye']));
    expect((await drain(await backend.call(chat({ stream: true })))).text).toContain('bye');
  });
});

function configured(id: string, servedName: string) {
  return { id, servedName, contextLength: null, inputModalities: null, supportedFeatures: null };
}

function chat(
  body: Record<string, unknown>,
  { id = 'tiny', served_name = 'tiny' }: { id?: string; served_name?: string } = {},
): LocalCall {
  const model = {
    id,
    served_name,
    context_length: null,
    input_modalities: ['text'],
    output_modalities: ['text'],
    supported_features: [],
    loaded: true,
  };
  return {
    endpoint: 'chat',
    model,
    body: { model: id, messages: [{ role: 'user', content: 'hi' }], ...body },
    uploads: [],
    requestId: 'req_test',
    signal: new AbortController().signal,
  };
}

function parse(answer: LocalAnswer): unknown {
  return JSON.parse((answer as DocumentAnswer).json);
}

async function drain(answer: LocalAnswer): Promise<{ text: string; usage: unknown }> {
  if (answer.kind === 'media') throw new Error('media where text was due');
  if (answer.kind === 'document') return { text: answer.json, usage: answer.usage };
  let text = '';
  let next = await answer.events.next();
  for (; next.done !== true; next = await answer.events.next()) text += next.value;
  return { text, usage: next.value };
}
