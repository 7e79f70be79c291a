/**
 * TabbyAPI requires a key unless its owner turned keys off, and may list a model that does not
 * exist.
 */
import type { FakeModelServer } from '../fake-model-server.js';
import { keyed, modelList, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

export const TABBY_KEY = 'tabby-user-key';

/** `apiKey: ''`: a server whose owner turned keys off. */
export function startTabbyApi(options: StandInOptions = {}): Promise<FakeModelServer> {
  const { apiKey = TABBY_KEY } = options;
  return startStandIn(options, {
    headers: { server: 'uvicorn' },
    guard: keyed(apiKey === '' ? undefined : apiKey, {
      refusal: { status: 401, body: { detail: 'Please provide an API key' } },
      guards: (path) => !OPEN.has(path),
    }),
    routes: {
      '/.well-known/serviceinfo': {
        version: 0.1,
        software: { name: 'TabbyAPI', repository: 'theroyallab/tabbyAPI' },
        api: { openai: { name: 'OpenAI API', relative_url: '/v1', version: '1' } },
      },
      '/health': { status: 'healthy', issues: [] },
      '/props': {
        total_slots: 4,
        chat_template: '',
        default_generation_settings: { n_ctx: 4_096 },
      },
      '/v1/model': { ...TINY, parameters: PARAMETERS },
      // With `use_dummy_models` the first entry is there only for clients that look for it.
      '/v1/models': modelList([{ id: 'gpt-3.5-turbo' }, TINY], { owned_by: 'tabbyAPI' }),
    },
  });
}

const OPEN: ReadonlySet<string> = new Set(['/health', '/.well-known/serviceinfo']);
const TINY = { id: 'tiny', object: 'model', owned_by: 'tabbyAPI' };
const PARAMETERS = {
  max_seq_len: 4_096,
  cache_size: 16_384,
  max_batch_size: 4,
  use_vision: true,
  prompt_template: 'chatml',
};
