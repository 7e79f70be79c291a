/** llama-swap: a proxy for many servers; only its owner's configuration says what each one does. */
import type { FakeModelServer } from '../fake-model-server.js';
import { raw } from '../fake-model-server.js';
import { keyed, modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

export function startLlamaSwap(options: StandInOptions = {}): Promise<FakeModelServer> {
  return startStandIn(options, {
    guard: keyed(options.apiKey, {
      refusal: UNAUTHORIZED,
      guards: (path) => path !== '/health' && path !== '/',
    }),
    routes: {
      '/': raw({ status: 302, headers: { location: '/ui' } }),
      '/health': raw({ headers: { 'content-type': 'text/plain' }, body: 'OK' }),
      '/api/version': { version: '198', commit: 'abcdef0', build_date: '2026-08-30' },
      '/running': { running: RUNNING },
      '/v1/models': MODELS,
    },
  });
}

const UNAUTHORIZED = {
  status: 401,
  headers: { 'www-authenticate': 'Bearer realm="llama-swap"' },
  body: { error: { message: 'unauthorized: invalid or missing API key' } },
};

const RUNNING = [
  {
    model: 'tiny',
    state: 'ready',
    cmd: 'llama-server -m /home/ann/models/tiny.gguf --port 5800',
    proxy: 'http://127.0.0.1:5800',
    ttl: 300,
    name: 'Tiny',
    description: '',
  },
];

const MODELS = modelList(
  [
    {
      id: 'tiny',
      context_length: 8_192,
      architecture: { input_modalities: ['text'], output_modalities: ['text'] },
      capabilities: ['completion', 'tools'],
      status: { value: 'loaded' },
    },
    { id: 'untold' },
    { id: 'voice', architecture: { input_modalities: ['text'], output_modalities: ['audio'] } },
    { id: 'ears', architecture: { input_modalities: ['audio'], output_modalities: ['text'] } },
    { id: 'vectors', capabilities: ['embeddings'] },
    { id: 'far', type: 'peer' },
    { id: 'far-too', name: 'cellar: far-too', meta: { llamaswap: { peerID: 'cellar' } } },
  ],
  { owned_by: 'llama-swap' },
);
