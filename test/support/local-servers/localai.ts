/** LocalAI identifies itself as Ollama and answers Ollama's paths. */
import type { FakeModelServer } from '../fake-model-server.js';
import { raw } from '../fake-model-server.js';
import { keyed, modelList, ollamaTags, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

/** One model of every kind. */
export function startLocalAi(options: StandInOptions = {}): Promise<FakeModelServer> {
  return startStandIn(options, {
    guard: keyed(options.apiKey, {
      refusal: { status: 401, body: { error: { message: 'An authentication key is required' } } },
      guards: (path) => !OPEN.has(path),
    }),
    routes: {
      '/': raw({ headers: { 'content-type': 'text/plain' }, body: 'Ollama is running' }),
      '/.well-known/localai.json': { version: 'v4.1.0', endpoints: { chat: '/v1/chat' } },
      '/healthz': raw({ body: 'OK' }),
      '/readyz': raw({ body: 'OK' }),
      '/version': { version: 'v4.1.0' },
      '/system': { backends: ['llama-cpp'], loaded_models: [{ id: 'tiny' }] },
      '/api/version': { version: '0.9.0' },
      '/api/tags': ollamaTags('tiny', 'ears', 'voice', 'painter', 'vectors'),
      '/api/ps': ollamaTags('tiny'),
      '/v1/models': modelList(
        CAPABLE.map(({ id }) => ({ id })),
        {},
      ),
      '/v1/models/capabilities': { object: 'list', data: CAPABLE },
    },
  });
}

const OPEN: ReadonlySet<string> = new Set([
  '/',
  '/healthz',
  '/readyz',
  '/.well-known/localai.json',
  '/api/version',
]);

const CAPABLE = [
  {
    id: 'tiny',
    object: 'model',
    capabilities: ['chat', 'completion', 'edit', 'vision', 'tools'],
    input_modalities: ['text', 'image'],
    output_modalities: ['text'],
    context_size: 8_192,
  },
  {
    id: 'ears',
    object: 'model',
    capabilities: ['transcript'],
    input_modalities: ['audio'],
    output_modalities: ['text'],
  },
  {
    id: 'voice',
    object: 'model',
    capabilities: ['tts'],
    input_modalities: ['text'],
    output_modalities: ['audio'],
  },
  {
    id: 'painter',
    object: 'model',
    capabilities: ['image'],
    input_modalities: ['text'],
    output_modalities: ['image'],
  },
  { id: 'vectors', object: 'model', capabilities: ['embeddings'], output_modalities: [] },
];
