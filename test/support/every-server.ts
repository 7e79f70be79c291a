/** One of every local server that the agent can recognise from its HTTP answers. */
import { onTestFinished } from 'vitest';
import { startFakeWebUi } from './fake-automatic1111.js';
import { startFakeOllama, startFakeOpenAi } from './fake-openai-server.js';
import { startFakeWhisper } from './fake-whisper-server.js';
import { startAceStep } from './local-servers/ace-step.js';
import { startChatterboxTtsApi } from './local-servers/chatterbox-tts-api.js';
import { startChatterbox } from './local-servers/chatterbox.js';
import { startFakeComfyUi } from './local-servers/comfyui.js';
import { startDockerModelRunner } from './local-servers/docker-model-runner.js';
import { startGpt4All } from './local-servers/gpt4all.js';
import { startInfinity } from './local-servers/infinity.js';
import { startJan } from './local-servers/jan.js';
import { startKoboldCpp } from './local-servers/koboldcpp.js';
import { startKokoro } from './local-servers/kokoro.js';
import { startLemonade } from './local-servers/lemonade.js';
import { startLlamaRouter, startLlamaServer } from './local-servers/llama-server.js';
import { startLlamaSwap } from './local-servers/llama-swap.js';
import { startLmStudio, startLmStudioV0 } from './local-servers/lm-studio.js';
import { startLocalAi } from './local-servers/localai.js';
import { startMlxAudio } from './local-servers/mlx-audio.js';
import { startMlxLm } from './local-servers/mlx-lm.js';
import { startOpenedAiSpeech } from './local-servers/openedai-speech.js';
import { startOrpheus } from './local-servers/orpheus.js';
import { startOlderPiper, startPiper } from './local-servers/piper.js';
import { startRoutedServer } from './local-servers/routed-server.js';
import { startFakeSdServer } from './local-servers/sd-server.js';
import { startSglang } from './local-servers/sglang.js';
import { startSpeaches } from './local-servers/speaches.js';
import { modelList, ollamaTags } from './local-servers/stand-in.js';
import { startTabbyApi } from './local-servers/tabbyapi.js';
import { startTei } from './local-servers/tei.js';
import { startTextGenWebUi } from './local-servers/text-generation-webui.js';
import { startVllm } from './local-servers/vllm.js';
import { startWhisperAsr } from './local-servers/whisper-asr.js';

/** What a scan is expected to find. */
interface Identity {
  readonly server: string;
  readonly backend: string | null;
  /** The path of the base URL. */
  readonly path: string;
  readonly types: readonly string[];
  readonly needsKey: boolean;
  /** The slot group without the port. */
  readonly slotGroup: string | null;
}

export interface RunningServer {
  /** The name of the case; several cases may be the same server. */
  readonly name: string;
  readonly port: number;
  readonly is: Identity;
}

interface Closable {
  readonly origin: string;
  close(): Promise<void>;
}

type Start = () => Promise<Closable | { readonly server: Closable } | { readonly routed: object }>;

/** Starts all of them; they stop when the test ends. */
export async function startEveryServer(): Promise<readonly RunningServer[]> {
  const running: RunningServer[] = [];
  for (const [name, start, is] of SERVERS) {
    const { origin, close } = listener(await start());
    onTestFinished(close);
    running.push({ name, port: Number(new URL(origin).port), is: identity(name, is) });
  }
  return running;
}

/** Finds the listening server, which each stand-in holds at a different depth. */
function listener(started: object): { origin: string; close: () => Promise<void> } {
  if ('routed' in started) return listener(started.routed as object);
  if ('server' in started) return listener(started.server as object);
  const server = started as Closable;
  return { origin: server.origin, close: () => server.close() };
}

/** By default an LLM behind OpenAI's paths. */
function identity(name: string, changes: Partial<Identity>): Identity {
  const plain = { backend: 'openai', path: '/v1', types: ['llm'], needsKey: false };
  return { server: name, ...plain, slotGroup: null, ...changes };
}

const NATIVE = { path: '' };
const SPEECH = { types: ['tts'] };

const SERVERS: readonly (readonly [string, Start, Partial<Identity>])[] = [
  ['LocalAI', startLocalAi, { backend: 'localai', types: ['llm', 'stt', 'image', 'tts'] }],
  [
    'KoboldCpp',
    startKoboldCpp,
    { backend: 'koboldcpp', types: ['llm', 'stt', 'tts', 'image'], slotGroup: 'koboldcpp' },
  ],
  ['TabbyAPI', () => startTabbyApi({ apiKey: '' }), { backend: 'tabbyapi' }],
  ['TabbyAPI, as installed', startTabbyApi, keyed('TabbyAPI', 'tabbyapi')],
  ['LM Studio', startLmStudio, { backend: 'lm-studio' }],
  ['LM Studio 0.3', startLmStudioV0, { server: 'LM Studio', backend: 'lm-studio' }],
  [
    'LM Studio with a key',
    () => startLmStudio({ apiKey: 'sk-x' }),
    keyed('LM Studio', 'lm-studio'),
  ],
  [
    'Lemonade',
    startLemonade,
    { backend: 'lemonade', types: ['llm', 'stt', 'image', 'tts', 'embedding'] },
  ],
  ['Lemonade with a key', () => startLemonade({ apiKey: 'sk-x' }), keyed('Lemonade', 'lemonade')],
  [
    'Docker Model Runner',
    () =>
      startDockerModelRunner({
        routes: { '/api/version': { version: '0.1' }, '/api/tags': ollamaTags('tiny') },
      }),
    { path: '/engines/v1' },
  ],
  ['text-embeddings-inference', () => startTei(), { backend: 'tei', types: ['embedding'] }],
  [
    'text-embeddings-inference that ranks',
    () => startTei({ kind: 'reranker' }),
    { server: 'text-embeddings-inference', backend: 'tei', types: ['rerank'] },
  ],
  ['Infinity', startInfinity, { backend: 'infinity', ...NATIVE, types: ['embedding', 'rerank'] }],
  ['Ollama', startFakeOllama, { backend: 'ollama', ...NATIVE }],
  [
    'llama-swap',
    startLlamaSwap,
    {
      backend: 'llama-swap',
      types: ['llm', 'stt', 'tts', 'embedding'],
      slotGroup: 'llama-swap',
    },
  ],
  [
    'llama-swap with a key',
    () => startLlamaSwap({ apiKey: 'sk-x' }),
    keyed('llama-swap', 'llama-swap'),
  ],
  ['llama-server', startLlamaServer, { backend: 'llama-server', ...NATIVE }],
  ['router', startLlamaRouter, { server: 'llama-server', backend: 'llama-server', ...NATIVE }],
  [
    'llama-server with a key',
    () => startLlamaServer({ apiKey: 'sk-x' }),
    { ...keyed('llama-server', 'llama-server'), ...NATIVE },
  ],
  ['SGLang', startSglang, { backend: 'sglang' }],
  ['vLLM', startVllm, { backend: 'vllm' }],
  ['vLLM with a key', () => startVllm({ apiKey: 'sk-x' }), keyed('vLLM', 'vllm')],
  [
    'vLLM with Whisper',
    () => {
      const list = modelList([{ id: 'openai/whisper-large-v3' }], { owned_by: 'vllm' });
      return startVllm({ routes: { '/v1/models': list } });
    },
    { server: 'vLLM', backend: 'vllm', types: ['stt'] },
  ],
  ['ComfyUI', startFakeComfyUi, { backend: 'comfyui', ...NATIVE, types: ['image'] }],
  ['sd-server', startFakeSdServer, { backend: 'sd-server', types: ['image'] }],
  [
    'Stable Diffusion web UI',
    startFakeWebUi,
    { backend: 'automatic1111', ...NATIVE, types: ['image'] },
  ],
  ['whisper-server', startFakeWhisper, { backend: 'whisper-server', ...NATIVE, types: ['stt'] }],
  ['ACE-Step', startAceStep, { backend: 'ace-step', ...NATIVE, types: ['music'] }],
  ['speaches', startSpeaches, { backend: 'speaches', types: ['stt', 'tts'] }],
  ['Kokoro-FastAPI', startKokoro, { backend: 'kokoro', ...SPEECH }],
  ['chatterbox-tts-api', startChatterboxTtsApi, { backend: 'chatterbox-tts-api', ...SPEECH }],
  ['GPT4All', startGpt4All, { backend: 'gpt4all' }],
  ['text-generation-webui', startTextGenWebUi, { backend: 'text-generation-webui' }],
  ['openedai-speech', startOpenedAiSpeech, { backend: 'openedai-speech', ...SPEECH }],
  ['mlx-audio', startMlxAudio, SPEECH],
  ['mlx-omni-server', startMlxOmni, { types: ['llm', 'stt', 'image', 'tts'] }],
  ['Orpheus-FastAPI', startOrpheus, { backend: 'orpheus', ...SPEECH }],
  [
    'whisper-asr-webservice',
    startWhisperAsr,
    { backend: 'whisper-asr', ...NATIVE, types: ['stt'] },
  ],
  ['Chatterbox-TTS-Server', startChatterbox, { backend: 'chatterbox', ...SPEECH }],
  [
    'Chatterbox that loads',
    () => startChatterbox({ loaded: false, listsVoices: false }),
    { server: 'Chatterbox-TTS-Server', backend: 'chatterbox', ...SPEECH },
  ],
  ['piper', startPiper, { backend: 'piper', ...NATIVE, ...SPEECH }],
  ['piper of before', startOlderPiper, { server: 'nothing', backend: null, ...NATIVE, types: [] }],
  ['mlx-lm', startMlxLm, { backend: 'mlx-lm' }],
  ['Jan', startJan, keyed('Jan', 'jan')],
  [
    'LiteLLM',
    () =>
      startFakeOpenAi({
        routes: { '/health/readiness': { status: 'healthy', litellm_version: '1.80.0' } },
      }),
    { backend: null },
  ],
  [
    'InvokeAI',
    () => startRoutedServer({ software: 'uvicorn', get: { '/api/v1/app/version': INVOKE } }),
    { backend: null, ...NATIVE, types: ['image'] },
  ],
  ['OpenAI-compatible', startFakeOpenAi, {}],
  [
    'OpenAI-compatible with a key',
    () => startFakeOpenAi({ apiKey: 'sk-x' }),
    keyed('OpenAI-compatible', 'openai'),
  ],
  [
    'no model server',
    () => startRoutedServer({ software: 'nginx', get: { '/': 'It works!' } }),
    { server: 'nothing', backend: null, ...NATIVE, types: [] },
  ],
];

const INVOKE = { version: '6.3.0', highlights: null };

/** Lists every MLX model of the Hugging Face cache, of whatever type. */
function startMlxOmni() {
  const ids = ['Qwen3-4B-4bit', 'whisper-large-v3-mlx', 'Kokoro-82M-bf16', 'FLUX.1-schnell-4bit'];
  const data = ids.map((id) => ({ id: `mlx-community/${id}`, object: 'model', created: 1 }));
  const get = { '/v1/models': { object: 'list', data } };
  return startRoutedServer({ software: 'uvicorn', title: 'MLX Omni Server', get });
}

function keyed(server: string, backend: string): Partial<Identity> {
  return { server, backend, needsKey: true };
}
