import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { withoutPath } from '@inference-gateway/agent/backends/advertise';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  LLAMA_PROPS,
  startFakeLlamaServer,
  startFakeOllama,
  startFakeOpenAi,
} from '../../support/fake-openai-server.js';
import { raw } from '../../support/fake-model-server.js';
import type { FakeModelServer } from '../../support/fake-model-server.js';
import { configuredServer } from '../../support/configured-server.js';

async function describeAt(
  starting: Promise<FakeModelServer>,
  changes: Partial<ServiceConfig> & { root?: boolean } = {},
) {
  const fake = await starting;
  onTestFinished(() => fake.close());
  const { root = false, ...rest } = changes;
  const backend = createBackend(configuredServer(root ? fake.origin : fake.baseUrl, rest));
  const ask = () => backend.describe(AbortSignal.timeout(2_000));
  return { fake, backend, ask, ...(await ask()) };
}

test.each([
  ['tiny', 'tiny'],
  ['org/Model:7b', 'org/Model:7b'],
  ['/home/ann/models/tiny.gguf', 'tiny.gguf'],
  ['models/tiny.gguf', 'tiny.gguf'],
  ['./tiny', 'tiny'],
  ['~/models/tiny/', 'tiny'],
  ['C:\\Users\\ann\\tiny.gguf', 'tiny.gguf'],
  ['c:/Users/ann/tiny', 'tiny'],
  ['bartowski/Tiny-GGUF:Q4_K_M', 'bartowski/Tiny-GGUF:Q4_K_M'],
])('the public name of %s is %s', (name, wanted) => {
  expect(withoutPath(name)).toBe(wanted);
});

const idsOf = async (models: readonly ({ id: string } & Record<string, unknown>)[]) => {
  const described = await describeAt(startFakeOpenAi({ models }));
  return described.models.map(({ id }) => id);
};

/** `POST /api/show` of a version whose list does not tell. */
const show = ({ body }: { body: Record<string, unknown> }) =>
  body['model'] === 'small'
    ? { capabilities: ['completion'], model_info: { 'llama.context_length': 2_048 } }
    : { capabilities: ['embedding'] };

describe('an OpenAI-compatible server', () => {
  test.each([
    ['LM Studio’s embedding', { id: 'text-embedding-nomic' }],
    ['a typed embedding', { id: 'x', type: 'embeddings' }],
    ['a cloud model', { id: 'x', recipe: 'cloud' }],
    ['a peer’s model', { id: 'x', type: 'peer' }],
    ['a newer peer’s model', { id: 'x', meta: { llamaswap: { peerID: 'cellar' } } }],
    ['a transcriber', { id: 'x', architecture: { input_modalities: ['audio'] } }],
    ['a classifier', { id: 'x', labels: ['classification'] }],
    ['an image model', { id: 'x', architecture: { output_modalities: ['image'] } }],
    ['a voice', { id: 'x', task: 'text-to-speech' }],
    ['a labelled reranker', { id: 'x', labels: ['reranking'] }],
    ['an embedding by its capabilities', { id: 'x', capabilities: ['embeddings'] }],
    ['KoboldCpp without a model', { id: 'koboldcpp/inactive' }],
    ['another gateway’s transcriber', { id: 'x', service_type: 'stt' }],
  ])('does not advertise %s', async (_what, model) => {
    expect(await idsOf([model, { id: 'kept', capabilities: ['completion'] }])).toEqual(['kept']);
  });

  test.each([
    [{ context_length: 8_192 }, { context_length: 8_192 }],
    [{ max_model_len: 4_096 }, { context_length: 4_096 }],
    [{ meta: { n_ctx: 1_024, n_ctx_train: 4_096 } }, { context_length: 1_024 }],
    [{ context_length: 0 }, { context_length: null }],
    [{ context_length: 'many' }, { context_length: null }],
    [{ supported_features: ['tools'] }, { supported_features: ['tools'] }],
    [{ labels: ['vision', 'reasoning'] }, { supported_features: ['reasoning'] }],
    [{ labels: ['vision'] }, { input_modalities: ['text', 'image'] }],
    [{ capabilities: { trained_for_tool_use: true } }, { supported_features: ['tools'] }],
    [{ capabilities: { vision: false } }, { input_modalities: ['text'] }],
    [
      { architecture: { input_modalities: ['text', 'audio'], output_modalities: ['text'] } },
      { input_modalities: ['text', 'audio'] },
    ],
    [{ status: { value: 'unloaded' } }, { loaded: false }],
    [{ state: 'loaded' }, { loaded: true }],
  ])('reads %j as %j', async (facts, wanted) => {
    const { models } = await describeAt(startFakeOpenAi({ models: [{ id: 'x', ...facts }] }));
    expect(models[0]).toMatchObject(wanted);
  });

  test('keeps the local name of a path, and shows each name once and none too long', async () => {
    const ids = ['/home/ann/tiny', '/home/bob/tiny', 'x'.repeat(257), 'other'];
    const { models } = await describeAt(startFakeOpenAi({ models: ids }));
    expect(models.map(({ id, served_name }) => [id, served_name])).toEqual([
      ['tiny', '/home/ann/tiny'],
      ['other', 'other'],
    ]);
  });

  test('takes a bare array, and skips rows that make no sense', async () => {
    const routes = { '/v1/models': [{ id: 'a' }, 'b', { name: 'c' }] };
    const { models } = await describeAt(startFakeOpenAi({ routes }));
    expect(models.map(({ id }) => id)).toEqual(['a']);
  });

  test('needs no list where models are configured', async () => {
    const routes = { '/v1/models': raw({ status: 404, body: 'no' }) };
    const models = [
      {
        id: 'mine',
        servedName: 'mine',
        contextLength: 99,
        inputModalities: ['text', 'image'],
        supportedFeatures: ['tools'],
      },
    ];
    const described = await describeAt(startFakeOpenAi({ routes }), { models });
    expect(described.models).toMatchObject([
      { id: 'mine', context_length: 99, input_modalities: ['text', 'image'], loaded: null },
    ]);
  });

  test.each([
    ['vllm', 'chat_template', false],
    ['sglang', 'chat_template', true],
    ['sglang', 'bootstrap_host', false],
    ['llamacpp', 'id_slot', false],
    ['vllm', 'id_slot', true],
    ['docker', 'id_slot', false],
  ])('where its models are %s’s, %s reaches it: %s', async (owner, field, kept) => {
    const models = [{ id: 'x', owned_by: owner }];
    const {
      fake,
      backend,
      models: [model],
    } = await describeAt(startFakeOpenAi({ models }));
    if (model === undefined) throw new Error('no model');
    const signal = new AbortController().signal;
    const body = { messages: [], [field]: '{{ evil }}' };
    await backend.call({ endpoint: 'chat', model, body, uploads: [], requestId: 'r', signal });
    expect(field in fake.lastRequest.body).toBe(kept);
  });

  test('never shows what an Ollama behind it runs elsewhere', async () => {
    const models = [{ id: 'tiny' }, { id: 'gpt-oss:120b-cloud' }, { id: 'glm-4.6:cloud' }];
    const described = await describeAt(startFakeOpenAi({ models }));
    expect(described.models.map(({ id }) => id)).toEqual(['tiny']);
  });

  test('says so while it is loading', async () => {
    const routes = { '/v1/models': raw({ status: 503, body: { error: 'Loading model' } }) };
    await expect(describeAt(startFakeOpenAi({ routes }))).rejects.toThrow(/still loading/);
  });
});

describe('Ollama', () => {
  const backend = 'ollama';

  test('shows local chat models alone, with what they can do', async () => {
    const models = [
      { id: 'chat', capabilities: ['completion', 'vision', 'thinking', 'tools', 'audio'] },
      { id: 'embed', capabilities: ['embedding'] },
      { id: 'paint', capabilities: ['completion', 'image'] },
      { id: 'big:cloud' },
      { id: 'big-cloud' },
      { id: 'remote', remote_host: 'https://ollama.com' },
    ];
    const described = await describeAt(startFakeOllama({ models }), { backend, root: true });
    expect(described.slots).toBeNull();
    expect(described.models).toMatchObject([
      {
        id: 'chat',
        input_modalities: ['text', 'image', 'audio'],
        supported_features: ['tools', 'reasoning'],
      },
    ]);
  });

  test('tells the context with which a model runs, and remembers it', async () => {
    const running = { models: [{ name: 'a', context_length: 32_768 }] };
    const starting = startFakeOllama({ models: ['a', 'b'], routes: { '/api/ps': running } });
    const { fake, ask, models } = await describeAt(starting, { backend });
    expect(models).toMatchObject([
      { id: 'a', context_length: 32_768, loaded: true },
      { id: 'b', context_length: 4_096, loaded: false },
    ]);
    fake.routes['/api/ps'] = { models: [] };
    expect((await ask()).models[0]).toMatchObject({ context_length: 32_768, loaded: false });
  });

  test('of an older version is asked once a model', async () => {
    const models = [
      { id: 'small', capabilities: undefined },
      { id: 'embed', capabilities: undefined },
    ];
    const starting = startFakeOllama({ models, routes: { 'POST /api/show': show } });
    const { fake, ask, models: described } = await describeAt(starting, { backend });
    expect(described).toMatchObject([{ id: 'small', context_length: 2_048 }]);
    await ask();
    expect(fake.requests).toHaveLength(2);
  });
});

describe('llama-server', () => {
  const backend = 'llama-server';

  test('tells its slots, the context of one, and what its template can do', async () => {
    const props = {
      ...LLAMA_PROPS,
      modalities: { vision: true, audio: true },
      chat_template_caps: { supports_tool_calls: true, supports_preserve_reasoning: true },
    };
    const routes = { '/props': props };
    const models = [{ id: '/home/ann/models/tiny.gguf', meta: { n_ctx: 9, n_ctx_train: 9_999 } }];
    const described = await describeAt(startFakeLlamaServer({ models, routes }), {
      backend,
      root: true,
    });
    expect(described.slots).toBe(2);
    expect(described.models).toMatchObject([
      {
        id: 'tiny.gguf',
        served_name: 'tiny.gguf',
        context_length: 1_024,
        input_modalities: ['text', 'image', 'audio'],
        supported_features: ['tools', 'reasoning', 'token-counting'],
        loaded: true,
      },
    ]);
  });

  test('that sleeps is not loaded', async () => {
    const routes = { '/props': { ...LLAMA_PROPS, is_sleeping: true } };
    const described = await describeAt(startFakeLlamaServer({ routes }), { backend });
    expect(described.models[0]).toMatchObject({ loaded: false });
  });

  test('without properties is taken by its list', async () => {
    const routes = { '/props': raw({ status: 404, body: 'no' }) };
    const models = [{ id: 'tiny', meta: { n_ctx: 512 } }];
    const described = await describeAt(startFakeLlamaServer({ models, routes }), { backend });
    expect(described).toMatchObject({ slots: null, models: [{ id: 'tiny', context_length: 512 }] });
  });

  test('as a router is asked only of models that are loaded', async () => {
    const routes = {
      '/props': { role: 'router', max_instances: 2, build_info: 'b1' },
      '/props?model=org%2Fa&autoload=false': { ...LLAMA_PROPS, total_slots: 3 },
    };
    const models = [
      { id: 'org/a', status: { value: 'loaded' } },
      { id: 'b', status: { value: 'unloaded' } },
    ];
    const described = await describeAt(startFakeLlamaServer({ models, routes }), { backend });
    expect(described.slots).toBe(3);
    expect(described.models).toMatchObject([
      { id: 'org/a', served_name: 'org/a', context_length: 1_024, loaded: true },
      { id: 'b', context_length: null, loaded: false },
    ]);
    expect(described.fake.gets.filter((path) => path.startsWith('/props'))).toHaveLength(2);
  });

  test('loses the fields that touch other callers', async () => {
    const {
      fake,
      backend: made,
      models: [model],
    } = await describeAt(startFakeLlamaServer(), {
      backend,
    });
    if (model === undefined) throw new Error('no model');
    const theirs = { id_slot: 0, slot_id: 0, lora: [], system_prompt: { prompt: 'x' } };
    const body = { messages: [], ...theirs, cache_prompt: true };
    const { signal } = new AbortController();
    await made.call({ endpoint: 'chat', model, body, uploads: [], requestId: 'r', signal });
    expect(Object.keys(fake.lastRequest.body).toSorted()).toEqual([
      'cache_prompt',
      'messages',
      'model',
      'stream',
      'stream_options',
    ]);
  });
});

test('an unknown backend is named', () => {
  const service = configuredServer('http://127.0.0.1:1/v1', { backend: 'olama' });
  expect(() => createBackend(service)).toThrow(/"olama".*openai, ollama, llama-server/);
});
