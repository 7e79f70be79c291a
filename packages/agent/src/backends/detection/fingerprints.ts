/**
 * How each known model server gives itself away. The order matters: KoboldCpp, LocalAI and Docker
 * Model Runner answer Ollama's paths, LM Studio answers 200 to every path, llama-server and
 * whisper-server share their ports, and half of the rest list models in OpenAI's way.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { BackendName } from '../create-backend.js';
import {
  answers,
  apiTitleOf,
  hasOwner,
  isAceStep,
  isAnyModelServer,
  isChatterbox,
  isComfyUi,
  isLiteLlm,
  isInvokeAi,
  isJan,
  isLemonade,
  isLlamaServer,
  isLlamaSwap,
  isLmStudio,
  isMlxAudio,
  isMlxLm,
  isOllama,
  isOpenedAiSpeech,
  isPiper,
  isSglang,
  isSoftware,
  isSpeaches,
  isTextGenerationWebUi,
  isVllm,
  isWebUi,
  isWhisperServer,
  isWhisperWebService,
  listsModels,
  wantsKeyAt,
  koboldTypes,
  listedTypes,
  namedTypes,
} from './signs.js';
import type { Ask, ServedType } from './signs.js';

export interface Fingerprint {
  readonly server: string;
  /** Null: known, but of no use to others. */
  readonly backend: BackendName | null;
  /** What the base URL has behind the origin. */
  readonly path: string;
  /** What it serves where it does not tell. */
  readonly type: ServiceType;
  matches(ask: Ask): Promise<boolean>;
  /** Absent: one type. None at all: nothing is loaded. */
  readonly served?: (ask: Ask) => Promise<readonly ServedType[]>;
  /** Absent: it does where its list of models is refused. */
  readonly wantsKey?: (ask: Ask) => Promise<boolean>;
  /** Its types wait for each other, on one card. */
  readonly takesTurns?: true;
  /** What its owner should know of it in any case. */
  readonly note?: string;
}

type Rest = Partial<Omit<Fingerprint, 'server' | 'type' | 'matches'>>;

type Maker = (server: string, matches: Fingerprint['matches'], rest?: Rest) => Fingerprint;

const llm = makerOf('llm');
const stt = makerOf('stt');
const tts = makerOf('tts');
const image = makerOf('image');
const music = makerOf('music');

const listed = (ask: Ask) => listedTypes(ask, '/v1/models');
const PROXY = 'passes calls on to servers elsewhere, and is never offered: add its servers instead';

export const FINGERPRINTS: readonly Fingerprint[] = [
  llm('LocalAI', (ask) => answers(ask, '/.well-known/localai.json'), {
    backend: 'localai',
    served: (ask) => listedTypes(ask, '/v1/models/capabilities'),
  }),
  llm('KoboldCpp', (ask) => isSoftware(ask, 'KoboldCpp'), {
    backend: 'koboldcpp',
    served: koboldTypes,
    wantsKey: (ask) => wantsKeyAt(ask, '/v1/models', '/api/extra/version'),
    takesTurns: true,
  }),
  llm('TabbyAPI', (ask) => isSoftware(ask, 'TabbyAPI'), { backend: 'tabbyapi' }),
  llm('LM Studio', isLmStudio, { backend: 'lm-studio' }),
  llm('Lemonade', isLemonade, { backend: 'lemonade', served: listed }),
  // Before Ollama, whose paths it has beside its own.
  llm('Docker Model Runner', (ask) => listsModels(ask, '/engines/v1/models'), {
    path: '/engines/v1',
  }),
  llm('Ollama', isOllama, { backend: 'ollama', path: '' }),
  llm('llama-swap', isLlamaSwap, { backend: 'llama-swap', served: listed, takesTurns: true }),
  llm('llama-server', isLlamaServer, {
    backend: 'llama-server',
    path: '',
    wantsKey: (ask) => wantsKeyAt(ask, '/props'),
  }),
  llm('SGLang', isSglang, { backend: 'sglang' }),
  llm('vLLM', isVllm, { backend: 'vllm', served: namedTypes }),
  image('ComfyUI', isComfyUi, { backend: 'comfyui', path: '' }),
  image('sd-server', (ask) => answers(ask, '/sdcpp/v1/capabilities'), {
    backend: 'sd-server',
  }),
  image('Stable Diffusion web UI', isWebUi, {
    backend: 'automatic1111',
    path: '',
    wantsKey: (ask) => wantsKeyAt(ask, '/sdapi/v1/sd-models'),
  }),
  stt('whisper-server', isWhisperServer, { backend: 'whisper-server', path: '' }),
  music('ACE-Step', isAceStep, { backend: 'ace-step', path: '' }),
  stt('speaches', isSpeaches, { backend: 'speaches', served: listed }),
  tts('Kokoro-FastAPI', (ask) => hasOwner(ask, 'kokoro'), { backend: 'kokoro' }),
  tts('chatterbox-tts-api', (ask) => hasOwner(ask, 'resemble-ai'), {
    backend: 'chatterbox-tts-api',
  }),
  llm('GPT4All', (ask) => hasOwner(ask, 'humanity'), { backend: 'gpt4all' }),
  llm('text-generation-webui', isTextGenerationWebUi, { backend: 'text-generation-webui' }),
  tts('openedai-speech', isOpenedAiSpeech, { backend: 'openedai-speech' }),
  tts('mlx-audio', isMlxAudio, { served: namedTypes }),
  llm('mlx-omni-server', async (ask) => (await apiTitleOf(ask)) === 'MLX Omni Server', {
    served: namedTypes,
  }),
  tts('Orpheus-FastAPI', async (ask) => /^orpheus-fastapi$/i.test(await apiTitleOf(ask)), {
    backend: 'orpheus',
  }),
  stt('whisper-asr-webservice', isWhisperWebService, {
    backend: 'whisper-asr',
    path: '',
  }),
  tts('Chatterbox-TTS-Server', isChatterbox, { backend: 'chatterbox' }),
  tts('piper', isPiper, { backend: 'piper', path: '' }),
  llm('mlx-lm', isMlxLm, { backend: 'mlx-lm' }),
  llm('Jan', isJan, { backend: 'jan' }),
  llm('LiteLLM', isLiteLlm, { backend: null, note: PROXY }),
  image('InvokeAI', isInvokeAi, { backend: null, path: '' }),
  llm('OpenAI-compatible', isAnyModelServer, { served: namedTypes }),
];

/** Most speak OpenAI's API, below the path that it has there. */
function makerOf(type: ServiceType): Maker {
  return (server, matches, rest = {}) => {
    return { server, type, backend: 'openai', path: '/v1', matches, ...rest };
  };
}
