/** LM Studio answers 200 for every path; unknown ones get an error in the body. */
import type { FakeModelServer } from '../fake-model-server.js';
import { raw } from '../fake-model-server.js';
import { keyed, modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

/** Version 0.4 and later. */
export function startLmStudio(options: StandInOptions = {}): Promise<FakeModelServer> {
  return start(options, { '/api/v1/models': { models: V1_MODELS }, '/api/v0/models': V0_MODELS });
}

/** Versions 0.3.6 to 0.3.39. */
export function startLmStudioV0(options: StandInOptions = {}): Promise<FakeModelServer> {
  return start(options, { '/api/v0/models': V0_MODELS });
}

function start(
  options: StandInOptions,
  routes: Readonly<Record<string, unknown>>,
): Promise<FakeModelServer> {
  return startStandIn(options, {
    headers: { 'x-powered-by': 'Express' },
    guard: keyed(options.apiKey, { refusal: UNAUTHORIZED }),
    routes: { ...routes, '/v1/models': LIST, '*': UNKNOWN_PATH },
  });
}

const UNAUTHORIZED = {
  status: 401,
  body: {
    error: {
      message: 'An LM Studio API token is required to make requests to this server.',
      type: 'invalid_request_error',
      code: 'invalid_api_key',
      param: null,
    },
  },
};
const UNKNOWN_PATH = raw({ body: { error: 'Unexpected endpoint or method. (GET /x)' } });

const LIST = modelList([{ id: 'tiny' }, { id: 'seer' }, { id: 'text-embedding-nomic' }], {
  owned_by: 'organization_owner',
});

const V1_MODELS = [
  {
    type: 'llm',
    publisher: 'lmstudio-community',
    key: 'tiny',
    display_name: 'Tiny',
    architecture: 'llama',
    loaded_instances: [
      { id: 'tiny', config: { context_length: 4_096, parallel: 4, flash_attention: true } },
    ],
    max_context_length: 32_768,
    format: 'gguf',
    capabilities: { vision: false, trained_for_tool_use: true },
  },
  {
    type: 'llm',
    publisher: 'qwen',
    key: 'seer',
    display_name: 'Seer',
    loaded_instances: [],
    max_context_length: 65_536,
    format: 'gguf',
    capabilities: {
      vision: true,
      trained_for_tool_use: false,
      reasoning: { allowed_options: ['off', 'on'], default: 'on' },
    },
  },
  {
    type: 'embedding',
    publisher: 'nomic-ai',
    key: 'text-embedding-nomic',
    loaded_instances: [],
    max_context_length: 2_048,
    format: 'gguf',
  },
];

const V0_MODELS = {
  object: 'list',
  data: [
    {
      id: 'tiny',
      object: 'model',
      type: 'llm',
      publisher: 'lmstudio-community',
      arch: 'llama',
      compatibility_type: 'gguf',
      quantization: 'Q4_K_M',
      state: 'loaded',
      max_context_length: 32_768,
      loaded_context_length: 4_096,
      capabilities: ['tool_use'],
    },
    { id: 'seer', object: 'model', type: 'vlm', state: 'not-loaded', max_context_length: 65_536 },
    { id: 'text-embedding-nomic', object: 'model', type: 'embeddings', state: 'not-loaded' },
  ],
};
