/** KoboldCpp answers the paths of Ollama, Stable Diffusion's web UI, ComfyUI and llama.cpp. */
import type { FakeModelServer } from '../fake-model-server.js';
import { raw } from '../fake-model-server.js';
import { modelList, ollamaTags, startStandIn } from './stand-in.js';
import type { StandInOptions } from './stand-in.js';

/** A text model, pictures, a voice and transcriptions, all in one process. */
export function startKoboldCpp(options: StandInOptions = {}): Promise<FakeModelServer> {
  const { apiKey } = options;
  return startStandIn(options, {
    headers: { server: 'ConcedoLlamaForKoboldServer' },
    guard: ({ method, headers }) => {
      const isKnown = apiKey === undefined || headers.authorization === `Bearer ${apiKey}`;
      return method === 'POST' && !isKnown ? UNAUTHORIZED : null;
    },
    routes: {
      ...OWN,
      ...GUISES,
      '/api/extra/version': { ...VERSION, protected: apiKey !== undefined },
      // With a password, which only requests for work need, the model's name is hidden.
      '/api/v1/model': {
        result: apiKey === undefined ? 'koboldcpp/tiny' : 'koboldcpp/protected-model',
      },
    },
  });
}

/** The answer to a request while seven others wait. */
export const KOBOLD_BUSY = {
  detail: { msg: 'Server is busy; please try again later.', type: 'service_unavailable' },
};

const UNAUTHORIZED = {
  status: 401,
  body: { detail: { error: 'Unauthorized', msg: 'Authentication key is missing or invalid.' } },
};

const VERSION = {
  result: 'KoboldCpp',
  version: '1.112',
  llm: true,
  txt2img: true,
  vision: true,
  audio: false,
  transcribe: true,
  multiplayer: false,
  websearch: false,
  tts: true,
  embeddings: true,
  music: false,
  jinja: true,
};

const OWN = {
  '/.well-known/serviceinfo': {
    version: '0.2',
    software: { name: 'KoboldCpp', version: '1.112', repository: 'LostRuins/koboldcpp' },
    api: { koboldai: { name: 'KoboldAI API' }, openai: { name: 'OpenAI API' } },
  },
  '/ping': raw({ body: {} }),
  '/api/extra/true_max_context_length': { value: 8_192 },
  '/api/extra/perf': { queue: 0, idle: 1, total_gens: 3, uptime: 60 },
  '/v1/models': modelList([{ id: 'koboldcpp/tiny' }], {
    owned_by: 'koboldcpp',
    permission: [],
    root: 'koboldcpp',
  }),
  '/speakers_list': ['kobo', 'cheery', 'sleepy', 'shouty', 'chatty'],
};

const GUISES = {
  '/api/version': { version: '0.7.0' },
  '/api/tags': ollamaTags('koboldcpp/tiny'),
  '/api/ps': ollamaTags('koboldcpp/tiny'),
  '/sdapi/v1/sd-models': [
    {
      title: 'painter',
      model_name: 'painter',
      hash: '8888888888',
      filename: 'painter.safetensors',
    },
  ],
  '/sdapi/v1/options': { samples_format: 'png', sd_model_checkpoint: 'painter' },
  '/sdapi/v1/samplers': [{ name: 'Euler', aliases: ['k_euler'], options: {} }],
  '/system_stats': {
    system: { os: 'posix', comfyui_version: 'v0.3.0', python_version: '3.12' },
    devices: [],
  },
  '/object_info': { CheckpointLoaderSimple: { input: { required: {} } } },
  '/prompt': { exec_info: { queue_remaining: 0 } },
  '/history': {},
  '/props': { chat_template: '{{ messages }}', total_slots: 1, build_info: 'koboldcpp' },
};
