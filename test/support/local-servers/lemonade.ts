/** Lemonade: labelled models of all kinds, some of them cloud models, and Ollama's paths. */
import type { FakeModelServer } from '../fake-model-server.js';
import { keyed, modelList, ollamaTags, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

export function startLemonade(options: StandInOptions = {}): Promise<FakeModelServer> {
  return startStandIn(options, {
    guard: keyed(options.apiKey, {
      refusal: { status: 401, body: { error: { message: 'Invalid or missing API key' } } },
      guards: (path) => path !== '/live',
    }),
    routes: {
      '/live': { status: 'ok' },
      '/v1/health': HEALTH,
      '/api/v1/health': HEALTH,
      '/v1/models': MODELS,
      '/api/v1/models': MODELS,
      '/api/version': { version: '0.16.0' },
      '/api/tags': ollamaTags('tiny', 'painter'),
      '/api/ps': ollamaTags('tiny'),
    },
  });
}

const HEALTH = {
  status: 'ok',
  version: '10.3.0',
  model_loaded: 'tiny',
  all_models_loaded: [
    {
      model_name: 'tiny',
      checkpoint: 'org/tiny-GGUF:Q4_0',
      type: 'llm',
      device: 'gpu',
      backend_url: 'http://127.0.0.1:8001/v1',
    },
  ],
  max_models: { llm: 1, embedding: 1, reranking: 1, audio: 1 },
};

const MODELS = modelList(
  [
    {
      id: 'tiny',
      recipe: 'llamacpp',
      context_length: 8_192,
      max_context_window: 40_960,
      labels: ['chat', 'reasoning', 'tool-calling', 'vision'],
    },
    // A model without a label for its kind of work has the recipe's usual kind.
    { id: 'plain', recipe: 'llamacpp', max_context_window: 4_096, labels: ['hot'] },
    { id: 'painter', recipe: 'sd-cpp', labels: ['image'] },
    { id: 'bigger', recipe: 'sd-cpp', labels: ['image', 'upscaling'] },
    { id: 'ears', recipe: 'whispercpp', labels: ['transcription'] },
    { id: 'voice', recipe: 'kokoro', labels: ['tts'] },
    { id: 'vectors', recipe: 'llamacpp', labels: ['embeddings'] },
    { id: 'fireworks.big', recipe: 'cloud', cloud_provider: 'fireworks', labels: ['chat'] },
    { id: 'everything', recipe: 'collection.omni', labels: ['chat'] },
  ],
  { owned_by: 'lemonade', downloaded: true },
);
