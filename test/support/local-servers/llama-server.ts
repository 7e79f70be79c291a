/** llama.cpp's server, with one model or as a router of several. */
import type { FakeModelServer } from '../fake-model-server.js';
import { LLAMA_PROPS } from '../fake-openai-server.js';
import { keyed, modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';
import { LLAMA_TOKENIZER } from './tokenizers.js';

/** One model, two slots of 1,024 tokens, and tools. */
export function startLlamaServer(options: StandInOptions = {}): Promise<FakeModelServer> {
  const rows = [{ id: 'tiny', aliases: ['tiny'], meta: { n_ctx: 1_024, n_ctx_train: 4_096 } }];
  return start(options, {
    '/props': LLAMA_PROPS,
    '/slots': [
      { id: 0, n_ctx: 1_024, is_processing: false },
      { id: 1, n_ctx: 1_024, is_processing: false },
    ],
    '/v1/models': list(rows),
  });
}

/** `tiny` is loaded, `other` is not. */
export function startLlamaRouter(options: StandInOptions = {}): Promise<FakeModelServer> {
  const architecture = { input_modalities: ['text'], output_modalities: ['text'] };
  const rows = [
    { id: 'tiny', architecture, status: { value: 'loaded', args: ['-m', '/home/ann/tiny.gguf'] } },
    { id: 'other', architecture, status: { value: 'unloaded', args: [] } },
  ];
  return start(options, {
    '/props': ROUTER_PROPS,
    '/props?model=tiny&autoload=false': LLAMA_PROPS,
    '/v1/models': list(rows),
  });
}

function start(
  options: StandInOptions,
  routes: Readonly<Record<string, unknown>>,
): Promise<FakeModelServer> {
  return startStandIn(options, {
    headers: { server: 'llama.cpp' },
    guard: keyed(options.apiKey, { refusal: UNAUTHORIZED, guards: (path) => !OPEN.has(path) }),
    routes: { '/health': { status: 'ok' }, ...LLAMA_TOKENIZER, ...routes },
  });
}

const OPEN: ReadonlySet<string> = new Set(['/health', '/v1/health', '/models', '/v1/models', '/']);
const UNAUTHORIZED = {
  status: 401,
  body: { error: { message: 'Invalid API Key', type: 'authentication_error', code: 401 } },
};
const ROUTER_PROPS = {
  role: 'router',
  max_instances: 2,
  models_autoload: true,
  model_path: 'none',
  default_generation_settings: { params: null, n_ctx: 0 },
  build_info: 'b1-de3ff81',
};

/** The answer also has a list in Ollama's form. */
function list(rows: Parameters<typeof modelList>[0]): object {
  const models = rows.map(({ id }) => ({ name: id, model: id, capabilities: ['completion'] }));
  return { models, ...modelList(rows, { owned_by: 'llamacpp' }) };
}
