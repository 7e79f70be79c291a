/** How the work of each backend's server is ended, as in docs/local-servers.md. */
import type { BackendName } from '@inference-gateway/agent/backends/create-backend';
import type { ServiceType } from '@inference-gateway/shared/endpoints';

/**
 * The connection closes; it closes of a stream, which plain calls are asked for as, too; a call of
 * the server's own; nothing, so that the slot is taken until all is computed.
 */
export type Way = 'closed' | 'streamed' | 'called' | 'outlived';

export interface Leaving {
  readonly backend: BackendName;
  readonly type: ServiceType;
  readonly way: Way;
}

const LLAMA_CPP = ['llama-server', 'llama-swap', 'jan', 'lemonade'] as const;
const LOOKS_AT_STREAMS = ['koboldcpp', 'text-generation-webui', 'mlx-lm', 'lm-studio'] as const;
const SPEAKS_TO_THE_END = ['orpheus', 'chatterbox', 'chatterbox-tts-api', 'piper'] as const;

/** `sd-server` cancels a waiting job, but computes a running one to its end. */
export const LEAVING: readonly Leaving[] = [
  ...rows('llm', 'streamed', [...LLAMA_CPP, ...LOOKS_AT_STREAMS, 'localai', 'sglang']),
  ...rows('llm', 'closed', ['openai', 'ollama', 'vllm', 'tabbyapi']),
  ...rows('llm', 'outlived', ['gpt4all']),
  ...rows('stt', 'closed', ['openai', 'whisper-server']),
  ...rows('stt', 'outlived', ['whisper-asr', 'speaches']),
  ...rows('tts', 'streamed', ['kokoro']),
  ...rows('tts', 'closed', ['openai', 'speaches', 'openedai-speech']),
  ...rows('tts', 'outlived', SPEAKS_TO_THE_END),
  ...rows('image', 'closed', ['openai']),
  ...rows('image', 'called', ['automatic1111', 'comfyui', 'sd-server']),
  ...rows('image', 'outlived', ['sd-server']),
  ...rows('video', 'called', ['comfyui']),
  ...rows('music', 'called', ['comfyui']),
  ...rows('music', 'outlived', ['ace-step']),
  ...rows('embedding', 'closed', ['tei', 'infinity']),
  ...rows('rerank', 'closed', ['tei', 'infinity']),
];

/** Of what a card computes already: nothing else is true of all work of its kind. */
export function wayOf(kind: { readonly backend: string; readonly type: ServiceType }): Way {
  const fitting = LEAVING.filter(
    ({ backend, type }) => backend === kind.backend && type === kind.type,
  );
  const told = fitting.find(({ way }) => way === 'outlived') ?? fitting[0];
  if (told !== undefined) return told.way;
  throw new Error(`nobody tells what ends the work of ${kind.backend} (${kind.type})`);
}

function rows(type: ServiceType, way: Way, backends: readonly BackendName[]): Leaving[] {
  return backends.map((backend) => ({ backend, type, way }));
}
