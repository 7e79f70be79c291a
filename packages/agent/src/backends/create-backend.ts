/** Maps the backend names of the configuration to their implementations. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AudioConverter } from '../media/audio-converter.js';
import { converterOf } from '../media/built-in-converter.js';
import { AceStepBackend } from './ace-step/backend.js';
import { Automatic1111Backend } from './automatic1111/backend.js';
import type { Backend, ServiceConfig } from './backend.js';
import { ComfyUiBackend } from './comfyui/backend.js';
import type { Dialect } from './openai/dialect.js';
import { CHATTERBOX_TTS_API } from './chatterbox-tts-api/dialect.js';
import { CHATTERBOX } from './chatterbox/dialect.js';
import { GPT4ALL } from './gpt4all/dialect.js';
import { INFINITY } from './infinity/dialect.js';
import { JAN } from './jan/dialect.js';
import { KOBOLDCPP } from './koboldcpp/dialect.js';
import { KOKORO } from './kokoro/dialect.js';
import { LEMONADE } from './lemonade/dialect.js';
import { LLAMA_SWAP } from './llama-swap/dialect.js';
import { LM_STUDIO } from './lm-studio/dialect.js';
import { LOCALAI } from './localai/dialect.js';
import { MLX_LM } from './mlx-lm/dialect.js';
import { OPENEDAI_SPEECH } from './openedai-speech/dialect.js';
import { ORPHEUS } from './orpheus/dialect.js';
import { sdServer } from './sd-server/dialect.js';
import { SGLANG } from './sglang/dialect.js';
import { SPEACHES } from './speaches/dialect.js';
import { TABBYAPI } from './tabbyapi/dialect.js';
import { TEXT_GENERATION_WEBUI } from './text-generation-webui/dialect.js';
import { TEI } from './tei/dialect.js';
import { VLLM } from './vllm/dialect.js';
import { LlamaServerBackend } from './llama-server/backend.js';
import { OllamaBackend } from './ollama/backend.js';
import { OpenAiBackend } from './openai/backend.js';
import { PiperBackend } from './piper/backend.js';
import { WhisperAsrBackend } from './whisper-asr/backend.js';
import { WhisperServerBackend } from './whisper-server/backend.js';

/** Tools for a backend besides its local server. */
export interface BackendTools {
  /** Null if it is not installed: the built-in converter then converts audio. */
  readonly ffmpeg: AudioConverter | null;
  /** A scan changes nothing on the server: it sends only GET requests. */
  readonly getOnly?: boolean;
}

export const NO_TOOLS: BackendTools = { ffmpeg: null };

type Creator = (service: ServiceConfig, tools: BackendTools) => Backend;

const CREATORS = {
  openai: speaking({}),
  ollama: (service, tools) => new OllamaBackend(service, tools),
  'llama-server': (service) => new LlamaServerBackend(service),
  'lm-studio': speaking(LM_STUDIO),
  'llama-swap': speaking(LLAMA_SWAP),
  vllm: speaking(VLLM),
  koboldcpp: speaking(KOBOLDCPP),
  localai: speaking(LOCALAI),
  tabbyapi: speaking(TABBYAPI),
  sglang: speaking(SGLANG),
  'text-generation-webui': speaking(TEXT_GENERATION_WEBUI),
  jan: speaking(JAN),
  lemonade: speaking(LEMONADE),
  gpt4all: speaking(GPT4ALL),
  'mlx-lm': speaking(MLX_LM),
  'whisper-server': (service, { ffmpeg }) => new WhisperServerBackend(service, converterOf(ffmpeg)),
  'whisper-asr': (service) => new WhisperAsrBackend(service),
  speaches: speaking(SPEACHES),
  kokoro: speaking(KOKORO),
  orpheus: speaking(ORPHEUS),
  chatterbox: speaking(CHATTERBOX),
  'chatterbox-tts-api': speaking(CHATTERBOX_TTS_API),
  'openedai-speech': speaking(OPENEDAI_SPEECH),
  piper: (service, { ffmpeg }) => new PiperBackend(service, converterOf(ffmpeg)),
  automatic1111: (service) => new Automatic1111Backend(service),
  comfyui: (service) => new ComfyUiBackend(service),
  'sd-server': speaking(sdServer),
  tei: speaking(TEI),
  infinity: speaking(INFINITY),
  'ace-step': (service) => new AceStepBackend(service),
} satisfies Record<string, Creator>;

export type BackendName = keyof typeof CREATORS;

/** Backends that serve only these types of work, even if another type is configured. */
export const OWN_TYPES: Readonly<Partial<Record<BackendName, readonly ServiceType[]>>> = {
  ollama: ['llm', 'embedding'],
  'llama-server': ['llm', 'embedding', 'rerank'],
  tei: ['embedding', 'rerank'],
  infinity: ['embedding', 'rerank'],
  tabbyapi: ['llm'],
  'text-generation-webui': ['llm'],
  gpt4all: ['llm'],
  'mlx-lm': ['llm'],
  'whisper-server': ['stt'],
  'whisper-asr': ['stt'],
  kokoro: ['tts'],
  orpheus: ['tts'],
  chatterbox: ['tts'],
  'chatterbox-tts-api': ['tts'],
  'openedai-speech': ['tts'],
  piper: ['tts'],
  automatic1111: ['image'],
  'sd-server': ['image'],
  'ace-step': ['music'],
};

/** In the order in which help and errors name them. */
export const BACKENDS: readonly BackendName[] = Object.keys(CREATORS).filter(isBackend);

/** Throws if the name is not one of `BACKENDS`; the configuration refuses it before. */
export function createBackend(service: ServiceConfig, tools: BackendTools = NO_TOOLS): Backend {
  const { backend, id } = service;
  if (isBackend(backend)) return CREATORS[backend](service, tools);
  throw new Error(
    `backend "${backend}" of service ${id} is unknown. Use one of ${BACKENDS.join(', ')}.`,
  );
}

/** A server that speaks OpenAI's API in its own way. */
function speaking(dialect: Dialect): Creator {
  return (service, { ffmpeg }) => new OpenAiBackend(service, converterOf(ffmpeg), dialect);
}

function isBackend(name: string): name is BackendName {
  return Object.hasOwn(CREATORS, name);
}
