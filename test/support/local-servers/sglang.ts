/** SGLang: its `/health` runs the model, so the agent must not request it. */
import type { FakeModelServer } from '../fake-model-server.js';
import { raw } from '../fake-model-server.js';
import { keyed, modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

export function startSglang(options: StandInOptions = {}): Promise<FakeModelServer> {
  return startStandIn(options, {
    headers: { server: 'uvicorn' },
    guard: keyed(options.apiKey, {
      refusal: { status: 401, body: { error: 'Unauthorized' } },
      guards: (path) => !path.startsWith('/health') && !path.startsWith('/metrics'),
    }),
    routes: {
      '/health': raw({}),
      '/ping': raw({}),
      '/get_model_info': MODEL_INFO,
      '/model_info': MODEL_INFO,
      '/get_server_info': SERVER_INFO,
      '/server_info': SERVER_INFO,
      '/get_load': [{ rid: null, dp_rank: 0, num_reqs: 0, num_waiting_reqs: 0, num_tokens: 0 }],
      '/v1/models': modelList([{ id: 'tiny', root: 'tiny', max_model_len: 4_096 }], {
        owned_by: 'sglang',
      }),
    },
  });
}

const MODEL_INFO = {
  model_path: '/home/ann/models/tiny',
  tokenizer_path: '/home/ann/models/tiny',
  is_generation: true,
  has_image_understanding: false,
  has_audio_understanding: false,
};
const SERVER_INFO = {
  model_path: '/home/ann/models/tiny',
  max_running_requests: 16,
  context_length: 4_096,
  tool_call_parser: 'qwen25',
  reasoning_parser: null,
  version: '0.5.4',
};
