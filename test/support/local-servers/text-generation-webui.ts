/** text-generation-webui: lists the loaded model, and refuses requests for other host names. */
import type { FakeModelServer } from '../fake-model-server.js';
import { keyed, modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

export function startTextGenWebUi(options: StandInOptions = {}): Promise<FakeModelServer> {
  const guard = keyed(options.apiKey, {
    refusal: { status: 401, body: { detail: 'Unauthorized' } },
  });
  return startStandIn(options, {
    headers: { server: 'uvicorn' },
    guard: (request) => {
      const host = (request.headers.host ?? '').split(':')[0];
      const isLocal = host === 'localhost' || host === '127.0.0.1';
      return isLocal ? guard(request) : INVALID_HOST;
    },
    routes: {
      '/v1/internal/health': { status: 'ok' },
      '/v1/internal/model/info': { model_name: 'tiny.gguf', lora_names: [], loader: 'llama.cpp' },
      '/v1/models': modelList([{ id: 'tiny.gguf' }], { owned_by: 'user', created: 0 }),
    },
  });
}

const INVALID_HOST = { status: 400, body: { detail: 'Invalid host header' } };
