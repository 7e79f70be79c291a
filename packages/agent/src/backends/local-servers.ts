/** Every kind of local server, in the tables that are made of what their folders export. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { KIND as ACE_STEP } from './ace-step/kind.js';
import { KIND as AUTOMATIC1111 } from './automatic1111/kind.js';
import { KIND as CHATTERBOX } from './chatterbox/kind.js';
import { KIND as CHATTERBOX_TTS_API } from './chatterbox-tts-api/kind.js';
import { KIND as COMFYUI } from './comfyui/kind.js';
import { KIND as GPT4ALL } from './gpt4all/kind.js';
import { KIND as JAN } from './jan/kind.js';
import { KIND as KOBOLDCPP } from './koboldcpp/kind.js';
import { KIND as KOKORO } from './kokoro/kind.js';
import { KIND as LEMONADE } from './lemonade/kind.js';
import { KIND as LLAMA_SERVER } from './llama-server/kind.js';
import { KIND as LLAMA_SWAP } from './llama-swap/kind.js';
import { KIND as LM_STUDIO } from './lm-studio/kind.js';
import { KIND as LOCALAI } from './localai/kind.js';
import { KIND as MLX_LM } from './mlx-lm/kind.js';
import { KIND as OLLAMA } from './ollama/kind.js';
import { DOCKER_MODEL_RUNNER, KIND as OPENAI, MLX_AUDIO, MLX_OMNI_SERVER } from './openai/kind.js';
import { KIND as OPENEDAI_SPEECH } from './openedai-speech/kind.js';
import { KIND as ORPHEUS } from './orpheus/kind.js';
import { KIND as PIPER } from './piper/kind.js';
import { KIND as SD_SERVER } from './sd-server/kind.js';
import { KIND as SGLANG } from './sglang/kind.js';
import { KIND as SPEACHES } from './speaches/kind.js';
import { KIND as TABBYAPI } from './tabbyapi/kind.js';
import { KIND as TEXT_GENERATION_WEBUI } from './text-generation-webui/kind.js';
import { KIND as VLLM } from './vllm/kind.js';
import { KIND as WHISPER_ASR } from './whisper-asr/kind.js';
import { KIND as WHISPER_SERVER } from './whisper-server/kind.js';
import type { Backend, ServiceConfig } from './backend.js';
import { answers } from './detection/signs.js';
import type { BackendTools, ServerKind, Sign } from './server-kind.js';

/** In the order in which help and errors name them. */
const KINDS = [
  OPENAI,
  OLLAMA,
  LLAMA_SERVER,
  LM_STUDIO,
  LLAMA_SWAP,
  VLLM,
  KOBOLDCPP,
  LOCALAI,
  TABBYAPI,
  SGLANG,
  TEXT_GENERATION_WEBUI,
  JAN,
  LEMONADE,
  GPT4ALL,
  MLX_LM,
  WHISPER_SERVER,
  WHISPER_ASR,
  SPEACHES,
  KOKORO,
  ORPHEUS,
  CHATTERBOX,
  CHATTERBOX_TTS_API,
  OPENEDAI_SPEECH,
  PIPER,
  AUTOMATIC1111,
  COMFYUI,
  SD_SERVER,
  ACE_STEP,
] as const;

export type BackendName = (typeof KINDS)[number]['name'];

export const BACKENDS: readonly BackendName[] = KINDS.map(({ name }) => name);

const BY_NAME: ReadonlyMap<string, ServerKind> = new Map(KINDS.map((kind) => [kind.name, kind]));

/** Null where it serves what it is configured for, or there is no such kind. */
export function soleTypeOf(backend: string): ServiceType | null {
  return BY_NAME.get(backend)?.soleType ?? null;
}

export const NO_TOOLS: BackendTools = { ffmpeg: null };

/** Throws for a name that is not one of `BACKENDS`; the configuration has refused it by then. */
export function createBackend(service: ServiceConfig, tools: BackendTools = NO_TOOLS): Backend {
  const { backend, id } = service;
  const kind = BY_NAME.get(backend);
  if (kind !== undefined) return kind.create(service, tools);
  throw new Error(
    `backend "${backend}" of service ${id} is unknown. Use one of ${BACKENDS.join(', ')}.`,
  );
}

/** The programs of all of them, by which their processes are known. */
export const MODEL_PROGRAMS = {
  servers: programs('servers'),
  workers: programs('workers'),
  scripts: programs('scripts'),
};

function programs(role: keyof ServerKind['programs']): readonly string[] {
  return [...BY_NAME.values()].flatMap((kind) => kind.programs[role] ?? []);
}

export interface Fingerprint extends Sign {
  /** Null: known, but of no use to others. */
  readonly backend: BackendName | null;
}

const LITE_LLM: Sign = {
  server: 'LiteLLM',
  type: 'llm',
  path: '/v1',
  matches: (ask) => answers(ask, '/health/readiness', 'litellm_version'),
  note: 'passes calls on to servers elsewhere, and is never offered: add its servers instead',
};

const INVOKE_AI: Sign = {
  server: 'InvokeAI',
  type: 'image',
  path: '',
  matches: (ask) => answers(ask, '/api/v1/app/version', 'version'),
};

/**
 * How each known model server gives itself away. The order matters: KoboldCpp, LocalAI and Docker
 * Model Runner answer Ollama's paths, LM Studio answers 200 to every path, llama-server and
 * whisper-server share their ports, and half of the rest list models in OpenAI's way.
 */
export const FINGERPRINTS: readonly Fingerprint[] = [
  signOf(LOCALAI),
  signOf(KOBOLDCPP),
  signOf(TABBYAPI),
  signOf(LM_STUDIO),
  signOf(LEMONADE),
  // Before Ollama, whose paths it has beside its own.
  { ...DOCKER_MODEL_RUNNER, backend: OPENAI.name },
  signOf(OLLAMA),
  signOf(LLAMA_SWAP),
  signOf(LLAMA_SERVER),
  signOf(SGLANG),
  signOf(VLLM),
  signOf(COMFYUI),
  signOf(SD_SERVER),
  signOf(AUTOMATIC1111),
  signOf(WHISPER_SERVER),
  signOf(ACE_STEP),
  signOf(SPEACHES),
  signOf(KOKORO),
  signOf(CHATTERBOX_TTS_API),
  signOf(GPT4ALL),
  signOf(TEXT_GENERATION_WEBUI),
  signOf(OPENEDAI_SPEECH),
  { ...MLX_AUDIO, backend: OPENAI.name },
  { ...MLX_OMNI_SERVER, backend: OPENAI.name },
  signOf(ORPHEUS),
  signOf(WHISPER_ASR),
  signOf(CHATTERBOX),
  signOf(PIPER),
  signOf(MLX_LM),
  signOf(JAN),
  { ...LITE_LLM, backend: null },
  { ...INVOKE_AI, backend: null },
  signOf(OPENAI),
];

function signOf({ name, fingerprint }: (typeof KINDS)[number]): Fingerprint {
  return { ...fingerprint, backend: name };
}
