/** Counting the tokens of a prompt by the local server's own tokenizer. */
import type { Backend, LocalCall } from '@inference-gateway/agent/backends/backend';
import { TOKEN_COUNTING } from '@inference-gateway/shared/protocol/messages';
import { describe, expect, test } from 'vitest';
import { hangBeforeHeaders, reply } from '../../support/fake-behaviours.js';
import type { FakeModelServer } from '../../support/fake-model-server.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import { callChecked, documentOf, errorOf, localCall } from '../../support/local-call.js';
import { startLlamaRouter, startLlamaServer } from '../../support/local-servers/llama-server.js';
import { tokensOf } from '../../support/local-servers/tokenizers.js';
import { startVllm } from '../../support/local-servers/vllm.js';
import { until } from '../../support/until.js';
import { describeAt } from './dialect-stage.js';
import type { Described } from './dialect-stage.js';

const TOOLS = [{ type: 'function', function: { name: 'weather', parameters: {} } }];
const CHAT = { messages: [{ role: 'user', content: 'what is it like out there' }], tools: TOOLS };

function callOf(body: object = {}, others: Partial<LocalCall> = {}): LocalCall {
  const asked = { ...CHAT, ...body };
  return { ...localCall({ endpoint: 'token_counts', body: asked, id: 'public' }), ...others };
}

async function countedBy(backend: Backend, call = callOf()): Promise<unknown> {
  return documentOf(await callChecked(backend, call))['input_tokens'];
}

const pathsOf = ({ requests }: FakeModelServer): string[] => requests.map(({ path }) => path);

const SERVERS = [
  { backend: 'llama-server', start: startLlamaServer, beginning: 1 },
  { backend: 'vllm', start: startVllm, beginning: 0 },
] as const;

const open = ({ backend, start }: (typeof SERVERS)[number], more = {}): Promise<Described> =>
  describeAt(start(), { backend, ...more });

describe.each(SERVERS)('$backend', (server) => {
  const { backend: name, start, beginning } = server;

  test('counts the whole prompt, with its tools, without running the model', async () => {
    const { backend, fake } = await open(server);
    expect(await countedBy(backend)).toBe(tokensOf(CHAT) + beginning);
    expect(await countedBy(backend, callOf({ tools: undefined }))).toBe(
      tokensOf({ messages: CHAT.messages }) + beginning,
    );
    expect(pathsOf(fake).filter((path) => /completion/.test(path))).toEqual([]);
  });

  test('is asked with its own name for the model, its key and the template’s fields', async () => {
    const apiKey = 'sk-local';
    const { backend, fake } = await describeAt(start({ apiKey }), { backend: name, apiKey });
    const call = callOf({ temperature: 0.7, stream: true, chat_template: '{{ x }}' });
    call.model.served_name = 'tiny';
    await countedBy(backend, call);
    const [first] = fake.requests;
    expect(first?.headers.authorization).toBe(`Bearer ${apiKey}`);
    expect(first?.body).toMatchObject({ model: 'tiny', ...CHAT });
    for (const field of ['temperature', 'stream', 'chat_template']) {
      expect(first?.body).not.toHaveProperty(field);
    }
  });

  test('says so of its text models, also where the owner lists what they can', async () => {
    const models = [
      { id: 'a', servedName: 'tiny', contextLength: null, inputModalities: null },
    ].map((model) => ({ ...model, supportedFeatures: ['special'] }));
    const { models: own } = await open(server, { models });
    expect(own[0]?.supported_features).toEqual(['special', TOKEN_COUNTING]);
  });

  test('does not get the fields that its owner drops', async () => {
    const { backend, fake } = await open(server, { dropFields: ['tools'] });
    expect(await countedBy(backend)).toBe(tokensOf({ messages: CHAT.messages }) + beginning);
    expect(fake.requests[0]?.body).not.toHaveProperty('tools');
  });

  test('is not asked for a model that would have to be loaded', async () => {
    const { backend, fake } = await open(server);
    const call = callOf();
    call.model.loaded = false;
    const answer = await callChecked(backend, call);
    expect(answer).toMatchObject({ status: 503 });
    expect(errorOf(answer)).toMatchObject({ code: 'model_not_loaded' });
    expect(fake.requests).toEqual([]);
  });

  test.each([
    [400, { error: { message: 'roles must alternate', code: 400 } }],
    [404, { error: { message: 'File Not Found', code: 404 } }],
    [500, { error: { message: 'this template has no tools' } }],
  ])('that answers %i refuses', async (status, body) => {
    const { backend, fake } = await open(server);
    fake.routes = {};
    fake.behave(reply(status, body));
    const answer = await callChecked(backend, callOf());
    expect((answer as { status: number }).status).toBeGreaterThanOrEqual(400);
    expect(errorOf(answer)).toMatchObject({ message: body.error.message });
  });

  test.each([{}, { prompt: 'a', tokens: 'many', count: '7' }, { tokens: [], count: 0 }, 'text'])(
    'that answers something else has failed: %j',
    async (body) => {
      const { backend, fake } = await open(server);
      fake.routes = {};
      fake.behave(reply(200, body));
      await expect(countedBy(backend)).rejects.toMatchObject({ code: 'LOCAL_ERROR' });
    },
  );

  test('stops when its caller leaves', async () => {
    const { backend, fake } = await open(server);
    fake.routes = {};
    fake.behave(hangBeforeHeaders());
    const leaving = new AbortController();
    const asking = countedBy(backend, callOf({}, { signal: leaving.signal }));
    await until(() => fake.inFlight === 1);
    leaving.abort(new Error('the caller left'));
    await expect(asking).rejects.toThrow('the caller left');
    await until(() => fake.inFlight === 0);
  });
});

describe('llama.cpp', () => {
  test('splits the prompt as it does before it answers', async () => {
    const { backend, fake } = await open(SERVERS[0]);
    await countedBy(backend);
    expect(pathsOf(fake)).toEqual(['/apply-template', '/tokenize']);
    expect(fake.lastRequest.body).toMatchObject({ add_special: true, parse_special: true });
  });

  test('as a router is told the model', async () => {
    const { backend, fake } = await describeAt(startLlamaRouter(), { backend: 'llama-server' });
    const call = callOf();
    call.model.served_name = 'tiny';
    await countedBy(backend, call);
    expect(fake.requests.map(({ body }) => body['model'])).toEqual(['tiny', 'tiny']);
  });

  test.each([1, 300_000])('counts %i ids', async (length) => {
    const { backend, fake } = await open(SERVERS[0]);
    fake.routes['POST /tokenize'] = () => ({ tokens: Array.from({ length }, (_, at) => at) });
    expect(await countedBy(backend)).toBe(length);
  });
});

test.each([
  ['a server that does not count', 'openai', {}],
  ['embeddings', 'llama-server', { type: 'embedding' }],
] as const)('%s is not asked, whatever its list says', async (_what, backend, change) => {
  const models = [{ id: 'tiny', supported_features: ['tools', TOKEN_COUNTING] }];
  const routes = { '/props': { build_info: 'b1' } };
  const starting = startFakeOpenAi({ models, routes });
  const described = await describeAt(starting, { backend, ...change });
  for (const { supported_features: features } of described.models) {
    expect(features).not.toContain(TOKEN_COUNTING);
  }
  if (backend !== 'openai') return;
  expect(await callChecked(described.backend, callOf())).toMatchObject({ status: 404 });
  expect(described.fake.requests).toEqual([]);
});
