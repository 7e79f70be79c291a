/**
 * Fake local servers of the kinds that the agent knows; each lists the models that a test names.
 */
import { answer } from './fake-behaviours.js';
import { startFakeServer } from './fake-model-server.js';
import type { Behaviour, FakeModelServer, FakeServerOptions, Route } from './fake-model-server.js';

/** A model's id, or its whole entry in the list. */
type FakeModel = string | ({ readonly id: string } & Readonly<Record<string, unknown>>);

export interface FakeOpenAiOptions extends Partial<Omit<FakeServerOptions, 'routes'>> {
  readonly models?: readonly FakeModel[];
  /** Added to the usual paths, or in place of them. */
  readonly routes?: Readonly<Record<string, Route>>;
  readonly behaviour?: Behaviour;
}

/** Any OpenAI-compatible server; `models` is `['tiny']` and each request is answered at once. */
export function startFakeOpenAi(options: FakeOpenAiOptions = {}): Promise<FakeModelServer> {
  const { models = ['tiny'], routes, ...rest } = options;
  const data = models.map((model) => row(model, { object: 'model', created: 1, owned_by: 'fake' }));
  const list = { object: 'list', data };
  return startFakeServer({
    behaviour: answer(),
    ...rest,
    routes: { '/v1/models': list, ...routes },
  });
}

/** Ollama; a model's entry may add `capabilities`, `remote_host` and so on. */
export function startFakeOllama(options: FakeOpenAiOptions = {}): Promise<FakeModelServer> {
  const { models = ['tiny:latest'], routes, ...rest } = options;
  const told = { capabilities: ['completion', 'tools'] };
  const tags = models.map((model) => {
    const { id, ...facts } = row(model, told);
    return { name: id, model: id, digest: `sha256:${id}`, ...facts };
  });
  return startFakeServer({
    behaviour: answer(),
    ...rest,
    routes: {
      '/': 'Ollama is running',
      '/api/version': { version: '0.12.0' },
      '/api/tags': { models: tags },
      '/api/ps': { models: [] },
      ...routes,
    },
  });
}

/** llama-server with one model, two slots of 1,024 tokens, and tools. */
export function startFakeLlamaServer(options: FakeOpenAiOptions = {}): Promise<FakeModelServer> {
  const { models = ['tiny'], routes, ...rest } = options;
  const data = models.map((model) => row(model, { object: 'model', owned_by: 'llamacpp' }));
  return startFakeServer({
    behaviour: answer(),
    headers: { server: 'llama.cpp' },
    ...rest,
    routes: {
      '/health': { status: 'ok' },
      '/props': LLAMA_PROPS,
      '/v1/models': { object: 'list', data, models: [] },
      ...routes,
    },
  });
}

/** The answer of a real llama-server, shortened. */
export const LLAMA_PROPS = {
  default_generation_settings: { params: {}, n_ctx: 1_024 },
  total_slots: 2,
  model_alias: 'tiny',
  model_path: 'models/tiny.gguf',
  modalities: { vision: false, video: false, audio: false },
  chat_template_caps: { supports_tools: true },
  build_info: 'b1-de3ff81',
  is_sleeping: false,
};

function row(model: FakeModel, facts: object): { id: string } & Record<string, unknown> {
  return typeof model === 'string' ? { id: model, ...facts } : { ...facts, ...model };
}
