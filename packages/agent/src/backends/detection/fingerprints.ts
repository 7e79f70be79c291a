/**
 * How to recognise each known model server. The order matters: KoboldCpp, LocalAI and Docker Model
 * Runner answer Ollama's paths, LM Studio answers 200 to every path, llama-server and
 * whisper-server share their ports, and half of the others list models as OpenAI does.
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
  isInfinity,
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
  ollamaTypes,
  teiTypes,
} from './signs.js';
import type { Ask, ServedType } from './signs.js';

export interface Fingerprint {
  readonly server: string;
  /** Null: known, but not usable for others. */
  readonly backend: BackendName | null;
  /** The path of the base URL. */
  readonly path: string;
  /** Its type if the server does not report one. */
  readonly type: ServiceType;
  matches(ask: Ask): Promise<boolean>;
  /** Absent: one type. An empty list: no model is loaded. */
  readonly served?: (ask: Ask) => Promise<readonly ServedType[]>;
  /** Absent: it wants a key if it refuses its list of models. */
  readonly wantsKey?: (ask: Ask) => Promise<boolean>;
  /** Its types share one card and run one at a time. */
  readonly takesTurns?: true;
  /** A note for its owner in any case. */
  readonly note?: string;
}

type Rest = Partial<Omit<Fingerprint, 'server' | 'type' | 'matches'>>;

type Maker = (server: string, matches: Fingerprint['matches'], rest?: Rest) => Fingerprint;

const llm = makerOf('llm');
const stt = makerOf('stt');
const tts = makerOf('tts');
const image = makerOf('image');
const music = makerOf('music');
const embedding = makerOf('embedding');

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
  // Before Ollama, whose paths it also answers.
  llm('Docker Model Runner', (ask) => listsModels(ask, '/engines/v1/models'), {
    path: '/engines/v1',
  }),
  llm('Ollama', isOllama, { backend: 'ollama', path: '', served: ollamaTypes }),
  llm('llama-swap', isLlamaSwap, { backend: 'llama-swap', served: listed, takesTurns: true }),
  llm('llama-server', isLlamaServer, {
    backend: 'llama-server',
    path: '',
    wantsKey: (ask) => wantsKeyAt(ask, '/props'),
  }),
  llm('SGLang', isSglang, { backend: 'sglang' }),
  llm('vLLM', isVllm, { backend: 'vllm', served: namedTypes }),
  embedding('text-embeddings-inference', (ask) => answers(ask, '/info', 'max_client_batch_size'), {
    backend: 'tei',
    served: teiTypes,
  }),
  embedding('Infinity', isInfinity, {
    backend: 'infinity',
    path: '',
    served: (ask) => listedTypes(ask, '/models'),
  }),
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

/** Most speak OpenAI's API, below their own path. */
function makerOf(type: ServiceType): Maker {
  return (server, matches, rest = {}) => {
    return { server, type, backend: 'openai', path: '/v1', matches, ...rest };
  };
}
