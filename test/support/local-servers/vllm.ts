/** vLLM: one fixed model, and adapters of it under their own names. */
import type { FakeModelServer } from '../fake-model-server.js';
import { raw } from '../fake-model-server.js';
import { keyed, modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';
import { VLLM_TOKENIZER } from './tokenizers.js';

export function startVllm(options: StandInOptions = {}): Promise<FakeModelServer> {
  return startStandIn(options, {
    headers: { server: 'uvicorn' },
    guard: keyed(options.apiKey, {
      refusal: { status: 401, body: { error: 'Unauthorized' } },
      guards: (path) => path.startsWith('/v1'),
    }),
    routes: {
      '/health': raw({}),
      '/ping': raw({}),
      '/version': { version: '0.11.2' },
      '/metrics': raw({ headers: { 'content-type': 'text/plain; version=0.0.4' }, body: METRICS }),
      '/v1/models': MODELS,
      ...VLLM_TOKENIZER,
    },
  });
}

const METRICS = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="tiny"} 0.0
vllm:num_requests_waiting{engine="0",model_name="tiny"} 0.0
`;

const MODELS = modelList(
  [
    { id: 'tiny', root: 'org/tiny', parent: null, max_model_len: 8_192 },
    { id: 'tiny-poet', root: '/home/ann/adapters/poet', parent: 'tiny' },
  ],
  { owned_by: 'vllm', permission: [{ id: 'modelperm-1', object: 'model_permission' }] },
);
