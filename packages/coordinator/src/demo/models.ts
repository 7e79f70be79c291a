/** The models of the demo's machines. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';

const THOUSAND = 1_024;

/** Facts about a model that are shown. */
interface Facts {
  readonly type: ServiceType;
  /** In thousands of tokens; unset if the model takes no text context. */
  readonly contextK?: number;
  readonly sees?: boolean;
  readonly features?: readonly string[];
  readonly voices?: readonly string[];
}

const MODELS = {
  'llama-3.1-8b-instruct': { type: 'llm', contextK: 128, features: ['tools'] },
  'llama-3.3-70b-instruct': { type: 'llm', contextK: 128, features: ['tools'] },
  'qwen2.5-coder-32b-instruct': { type: 'llm', contextK: 32, features: ['tools'] },
  'deepseek-r1-distill-qwen-32b': { type: 'llm', contextK: 128, features: ['reasoning'] },
  'gemma-3-12b-it': { type: 'llm', contextK: 128, sees: true },
  'mistral-small-24b-instruct': { type: 'llm', contextK: 32, features: ['tools'] },
  'qwen3-14b': { type: 'llm', contextK: 40, features: ['reasoning', 'tools'] },
  'whisper-large-v3-turbo': { type: 'stt', features: ['timestamps'] },
  'flux.1-schnell': { type: 'image' },
  'stable-diffusion-xl-base-1.0': { type: 'image' },
  'kokoro-82m': { type: 'tts', voices: ['af_heart', 'af_sky', 'am_michael', 'bf_emma'] },
  'ace-step-v1-3.5b': { type: 'music' },
} as const satisfies Readonly<Record<string, Facts>>;

export type ModelId = keyof typeof MODELS;

export function typeOf(id: ModelId): ServiceType {
  return MODELS[id].type;
}

/** In the form that an agent advertises. */
export function advertised(id: ModelId): AdvertisedModel {
  const { type, contextK, sees = false, features = [], voices }: Facts = MODELS[id];
  const [input, output] = MODALITIES[type];
  return {
    id,
    served_name: id,
    context_length: contextK === undefined ? null : contextK * THOUSAND,
    input_modalities: sees ? [...input, 'image'] : [...input],
    output_modalities: [output],
    supported_features: [...features],
    loaded: true,
    ...(voices !== undefined && { voices: [...voices] }),
  };
}

const MODALITIES: Readonly<Record<ServiceType, readonly [readonly string[], string]>> = {
  llm: [['text'], 'text'],
  stt: [['audio'], 'text'],
  image: [['text', 'image'], 'image'],
  tts: [['text'], 'audio'],
  video: [['text'], 'video'],
  music: [['text'], 'audio'],
  embedding: [['text'], 'embedding'],
  rerank: [['text'], 'score'],
};
