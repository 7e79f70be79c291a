/** What is special about the servers that run one kind of model: text. */
import type { BackendName } from '@inference-gateway/agent/backends/create-backend';
import { describe, expect, test } from 'vitest';
import { raw } from '../../support/fake-model-server.js';
import { startFakeOllama, startFakeOpenAi } from '../../support/fake-openai-server.js';
import { startGpt4All } from '../../support/local-servers/gpt4all.js';
import { JAN_KEY, startJan } from '../../support/local-servers/jan.js';
import { startLmStudio, startLmStudioV0 } from '../../support/local-servers/lm-studio.js';
import { startMlxLm } from '../../support/local-servers/mlx-lm.js';
import { startSglang } from '../../support/local-servers/sglang.js';
import { modelList } from '../../support/local-servers/stand-in.js';
import { startTabbyApi, TABBY_KEY } from '../../support/local-servers/tabbyapi.js';
import { startTextGenWebUi } from '../../support/local-servers/text-generation-webui.js';
import { startVllm } from '../../support/local-servers/vllm.js';
import { chat, parse } from './conformance-stage.js';
import { describeAt, sentFor } from './dialect-stage.js';

describe('LM Studio', () => {
  const backend = 'lm-studio';

  test('tells what a model can do, and no context of one that is not loaded', async () => {
    const { models } = await describeAt(startLmStudio(), { backend });
    expect(models[1]).toMatchObject({
      id: 'seer',
      context_length: null,
      input_modalities: ['text', 'image'],
      supported_features: ['reasoning'],
      loaded: false,
    });
  });

  test('offers what a request may ask for, under the name that it may use', async () => {
    const named = modelList([{ id: 'my-own-name' }], {});
    const loaded = { id: 'my-own-name', config: { context_length: 2_048 } };
    const told = [
      { type: 'llm', key: 'tiny', loaded_instances: [loaded] },
      { type: 'llm', key: 'not-loaded', loaded_instances: [] },
    ];
    const routes = { '/v1/models': named, '/api/v1/models': { models: told } };
    const { models, slots } = await describeAt(startLmStudio({ routes }), { backend });
    expect(models).toMatchObject([{ served_name: 'my-own-name', context_length: 2_048 }]);
    expect(slots).toBe(1);
  });

  test('tells the least context of a model that is loaded twice', async () => {
    const instances = [4_096, 2_048].map((size, i) => ({
      id: `tiny:${i}`,
      config: { context_length: size, parallel: i + 1 },
    }));
    const told = [{ type: 'llm', key: 'tiny', loaded_instances: instances }];
    const routes = { '/api/v1/models': { models: told } };
    const { models, slots } = await describeAt(startLmStudio({ routes }), { backend });
    expect(models).toMatchObject([{ id: 'tiny', context_length: 2_048 }]);
    expect(slots).toBe(2);
  });

  test('before 0.4 tells which models see, and before 0.3.6 their names', async () => {
    const v0 = await describeAt(startLmStudioV0(), { backend });
    expect(v0.models[1]).toMatchObject({
      id: 'seer',
      context_length: null,
      input_modalities: ['text', 'image'],
      loaded: false,
    });
    const unknown = raw({ body: { error: 'Unexpected endpoint or method. (GET /api/v0/models)' } });
    const routes = { '/api/v0/models': unknown };
    const oldest = await describeAt(startLmStudioV0({ routes }), { backend });
    expect(oldest.ids).toEqual(['tiny', 'seer']);
  });
});

const serving = (id: string) => ({
  routes: { '/v1/models': modelList([{ id }], { owned_by: 'vllm', max_model_len: 448 }) },
});

describe('vLLM', () => {
  const backend = 'vllm';

  test.each([
    ['org/whisper-large-v3', 'stt'],
    ['Qwen/Qwen3-8B', 'llm'],
    ['BAAI/bge-m3', null],
    ['Qwen/Qwen3-Embedding-8B', null],
    ['BAAI/bge-reranker-v2', null],
  ] as const)('serves %s as %s', async (id, type) => {
    for (const asked of ['llm', 'stt', 'tts'] as const) {
      const { ids } = await describeAt(startVllm(serving(id)), { backend, type: asked });
      expect(ids).toEqual(asked === type ? [id] : []);
    }
  });

  test('times its transcripts', async () => {
    const { models } = await describeAt(startVllm(serving('whisper-1')), { backend, type: 'stt' });
    expect(models[0]?.supported_features).toEqual(['timestamps', 'translation']);
  });
});

describe('SGLang', () => {
  const backend = 'sglang';
  const missing = raw({ status: 404, body: { detail: 'Not Found' } });

  test('tells what the model takes and how it was started, by the newer paths too', async () => {
    const routes = {
      '/get_model_info': missing,
      '/get_server_info': missing,
      '/model_info': { is_generation: true, has_image_understanding: true },
      '/server_info': { max_running_requests: 8, reasoning_parser: 'qwen3' },
    };
    const { models, slots } = await describeAt(startSglang({ routes }), { backend });
    expect(slots).toBe(8);
    expect(models).toMatchObject([
      { input_modalities: ['text', 'image'], supported_features: ['reasoning'] },
    ]);
  });

  test('is not asked by the paths at which newer ones warn each time', async () => {
    const { fake } = await describeAt(startSglang(), { backend });
    expect(fake.gets.filter((path) => path.startsWith('/get_'))).toEqual([]);
  });

  test('does not offer an embedding model', async () => {
    const routes = { '/model_info': { model_path: 'x', is_generation: false } };
    expect((await describeAt(startSglang({ routes }), { backend })).ids).toEqual([]);
  });
});

describe('TabbyAPI', () => {
  const key = { backend: 'tabbyapi', apiKey: TABBY_KEY } as const;

  test('offers nothing while nothing is loaded, though its list is long', async () => {
    const none = raw({ status: 400, body: { detail: 'No models are currently loaded.' } });
    const routes = { '/v1/model': none };
    const { ids, slots } = await describeAt(startTabbyApi({ routes }), key);
    expect({ ids, slots }).toEqual({ ids: [], slots: null });
  });
});

test('text-generation-webui offers nothing while nothing is loaded', async () => {
  const info = { model_name: 'None', lora_names: [], loader: null };
  const routes = { '/v1/internal/model/info': info };
  const starting = startTextGenWebUi({ routes });
  expect((await describeAt(starting, { backend: 'text-generation-webui' })).ids).toEqual([]);
});

test('Jan’s cloud accounts are nobody else’s', async () => {
  const rows = [{ id: 'own', owned_by: 'user' }, { id: 'gpt-5', owned_by: 'openai' }, { id: 'x' }];
  const routes = { '/v1/models': modelList(rows, {}) };
  const { ids } = await describeAt(startJan({ routes }), { backend: 'jan', apiKey: JAN_KEY });
  expect(ids).toEqual(['own', 'x']);
});

test('mlx-lm offers of its cache what chats', async () => {
  const rows = ['a/chat', 'a/whisper-tiny', 'a/nomic-embed', 'a/Kokoro-82M'].map((id) => ({ id }));
  const routes = { '/v1/models': modelList(rows, {}) };
  expect((await describeAt(startMlxLm({ routes }), { backend: 'mlx-lm' })).ids).toEqual(['a/chat']);
});

describe('GPT4All', () => {
  const backend = 'gpt4all';

  test('does not offer what its owner rents elsewhere', async () => {
    const names = ['Llama 3 8B', 'ChatGPT-4', 'Mistral Small API', '[Groq] llama', 'x (https://y)'];
    const routes = {
      '/v1/models': modelList(
        names.map((id) => ({ id })),
        {},
      ),
    };
    const { ids } = await describeAt(startGpt4All({ routes }), { backend });
    expect(ids).toEqual(['Llama 3 8B']);
  });

  test('is sent the fields that it knows, and messages that are texts', async () => {
    const stage = await describeAt(startGpt4All(), { backend });
    const messages = [
      { role: 'developer', content: 'short', name: 'x' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ];
    const sent = await sentFor(stage, { messages, seed: 1, stop: [], temperature: 0.5, user: 'x' });
    expect(sent).toEqual({
      model: 'tiny',
      messages: [
        { role: 'system', content: 'short' },
        { role: 'user', content: 'a\nb' },
      ],
      temperature: 0.5,
      max_tokens: 4_096,
    });
    expect(await sentFor(stage, { max_tokens: 7 })).toMatchObject({ max_tokens: 7 });
    const newer = await sentFor(stage, { max_completion_tokens: 8, max_tokens: null });
    expect(newer).toMatchObject({ max_tokens: 8 });
  });

  test.each([
    ['stop', 'END'],
    ['tools', [{ type: 'function' }]],
    ['response_format', { type: 'json_object' }],
  ])('refuses %s itself, because the answer would be another one', async (param, value) => {
    const { backend: made, fake } = await describeAt(startGpt4All(), { backend });
    const answer = await made.call(chat({ [param]: value }));
    expect(answer).toMatchObject({ status: 400 });
    expect(parse(answer)).toMatchObject({ error: { code: 'unsupported_value', param } });
    expect(fake.requests).toEqual([]);
  });

  test('is asked in spite of fields that ask for nothing', async () => {
    const stage = await describeAt(startGpt4All(), { backend });
    const nothing = { stop: null, tools: [], response_format: { type: 'text' } };
    expect(Object.keys(await sentFor(stage, nothing)).toSorted()).toEqual([
      'max_tokens',
      'messages',
      'model',
    ]);
  });
});

// Each reaches another caller's cache, the owner's files, a machine that the caller names, or code.
test.each<[BackendName, readonly string[]]>([
  ['lm-studio', ['draft_model', 'ttl']],
  ['llama-swap', ['id_slot', 'lora', 'chat_template']],
  ['vllm', ['chat_template', 'logits_processors', 'kv_transfer_params', 'prompt_embeds']],
  ['sglang', ['custom_logit_processor', 'bootstrap_host', 'bootstrap_port', 'bootstrap_room']],
  ['sglang', ['lora_path', 'rid', 'session_params']],
  ['localai', ['backend', 'model_base_name', 'rope_freq_base', 'batch']],
  ['tabbyapi', ['prompt_template', 'lora']],
  ['text-generation-webui', ['character', 'preset', 'chat_template_str']],
  ['jan', ['id_slot', 'slot_id', 'lora', 'system_prompt']],
  ['lemonade', ['id_slot', 'lora']],
  ['mlx-lm', ['adapters', 'draft_model']],
])('%s never sees %j', async (backend, fields) => {
  const starting = startFakeOpenAi({ routes: { '*': { model_name: 'tiny' } } });
  const stage = await describeAt(starting, { backend });
  const given = Object.fromEntries(fields.map((field) => [field, 'x']));
  const sent = await sentFor(stage, { ...given, top_k: 1 });
  const { stream: _stream, stream_options: _options, ...kept } = sent;
  expect(Object.keys(kept).toSorted()).toEqual(['messages', 'model', 'top_k']);
});

test('an older Ollama is asked with GET alone where nothing else is allowed', async () => {
  const starting = startFakeOllama({ models: [{ id: 'small', capabilities: undefined }] });
  const tools = { ffmpeg: null, getOnly: true };
  const { fake, models } = await describeAt(starting, { backend: 'ollama', path: '', tools });
  expect(models).toMatchObject([{ id: 'small', supported_features: [], context_length: 4_096 }]);
  expect(fake.requests).toEqual([]);
});
