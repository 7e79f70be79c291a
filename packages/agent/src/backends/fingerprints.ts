/**
 * How each known model server gives itself away. The order matters: KoboldCpp and LocalAI answer
 * Ollama's paths, LM Studio answers 200 to every path, and llama-server and whisper-server share
 * their ports.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { asObject, asObjects, asText } from '../openai-wire/json.js';
import type { JsonObject } from '../openai-wire/json.js';
import type { BackendName } from './create-backend.js';
import type { ProbeAnswer } from './probe.js';

/** Asks one path of the server under examination, at most once. */
export type Ask = (path: string) => Promise<ProbeAnswer>;

export interface Fingerprint {
  readonly server: string;
  readonly type: ServiceType;
  /** Null: known, but this version does not serve it. */
  readonly backend: BackendName | null;
  /** What the base URL has behind the origin. */
  readonly path: string;
  /** A path that answers 401 without the key, where it is none of the usual ones. */
  readonly guarded?: string;
  matches(ask: Ask): Promise<boolean>;
}

export const FINGERPRINTS: readonly Fingerprint[] = [
  llm('LocalAI', async (ask) => saidBy(await ask('/.well-known/localai.json')) !== null),
  llm('KoboldCpp', (ask) => isSoftware(ask, 'KoboldCpp')),
  llm('TabbyAPI', (ask) => isSoftware(ask, 'TabbyAPI')),
  llm('LM Studio', isLmStudio),
  llm('Lemonade', async (ask) => 'all_models_loaded' in (saidBy(await ask('/v1/health')) ?? {})),
  { ...llm('Ollama', isOllama), backend: 'ollama', path: '' },
  llm('llama-swap', async (ask) => Array.isArray(saidBy(await ask('/running'))?.['running'])),
  { ...llm('llama-server', isLlamaServer), backend: 'llama-server', path: '' },
  llm('SGLang', isSglang),
  llm('vLLM', isVllm),
  { ...media('ComfyUI', 'image', isComfyUi), backend: null },
  media('sd-server', 'image', async (ask) => saidBy(await ask('/sdcpp/v1/capabilities')) !== null),
  {
    ...media('Stable Diffusion web UI', 'image', isWebUi),
    backend: 'automatic1111',
    path: '',
    guarded: '/sdapi/v1/sd-models',
  },
  {
    ...media(
      'whisper-server',
      'stt',
      async (ask) => (await ask('/health')).server === 'whisper.cpp',
    ),
    backend: 'whisper-server',
    path: '',
  },
  media('speaches', 'stt', async (ask) => saidBy(await ask('/v1/audio/models')) !== null),
  media('Kokoro-FastAPI', 'tts', async (ask) => (await ownersOf(ask)).includes('kokoro')),
  llm('OpenAI-compatible', async (ask) => isList(await ask('/v1/models'))),
  {
    ...llm('Docker Model Runner', async (ask) => isList(await ask('/engines/v1/models'))),
    path: '/engines/v1',
  },
];

function llm(server: string, matches: Fingerprint['matches']): Fingerprint {
  return { server, type: 'llm', backend: 'openai', path: '/v1', matches };
}

function media(server: string, type: ServiceType, matches: Fingerprint['matches']): Fingerprint {
  return { server, type, backend: 'openai', path: '/v1', matches };
}

/** The JSON object of a success; a 200 whose body is an error is none (LM Studio). */
function saidBy({ status, json }: ProbeAnswer): JsonObject | null {
  const said = status === 200 ? asObject(json) : null;
  return said === null || 'error' in said ? null : said;
}

async function isSoftware(ask: Ask, name: string): Promise<boolean> {
  const software = asObject(saidBy(await ask('/.well-known/serviceinfo'))?.['software']);
  return software?.['name'] === name;
}

/** Its REST API has `models[].key` since 0.4 and `data[].state` before. */
async function isLmStudio(ask: Ask): Promise<boolean> {
  const newer = asObjects(saidBy(await ask('/api/v1/models'))?.['models']);
  if (newer.some((model) => asText(model['key']) !== null)) return true;
  const older = asObjects(saidBy(await ask('/api/v0/models'))?.['data']);
  return older.some((model) => asText(model['state']) !== null);
}

/** An Ollama without models has an empty list. */
async function isOllama(ask: Ask): Promise<boolean> {
  if (asText(saidBy(await ask('/api/version'))?.['version']) === null) return false;
  const models = saidBy(await ask('/api/tags'))?.['models'];
  return Array.isArray(models) && models.every((model) => 'digest' in (asObject(model) ?? {}));
}

/** The header shows even where a key guards the properties. */
async function isLlamaServer(ask: Ask): Promise<boolean> {
  const answer = await ask('/props');
  const hasHeader = answer.server === 'llama.cpp' || answer.server === 'ik_llama.cpp';
  return hasHeader || asText(saidBy(answer)?.['build_info']) !== null;
}

async function isSglang(ask: Ask): Promise<boolean> {
  for (const path of ['/get_model_info', '/model_info']) {
    if (asText(saidBy(await ask(path))?.['model_path']) !== null) return true;
  }
  return false;
}

async function isVllm(ask: Ask): Promise<boolean> {
  if (asText(saidBy(await ask('/version'))?.['version']) === null) return false;
  return (await ownersOf(ask)).includes('vllm');
}

async function isComfyUi(ask: Ask): Promise<boolean> {
  const system = asObject(saidBy(await ask('/system_stats'))?.['system']);
  return asText(system?.['comfyui_version']) !== null;
}

/** Behind a password, its API's paths are 401 and those that it does not have are 404. */
async function isWebUi(ask: Ask): Promise<boolean> {
  const { status, json } = await ask('/sdapi/v1/sd-models');
  if (status === 401) return (await ask('/v1/models')).status === 404;
  return status === 200 && Array.isArray(json);
}

async function ownersOf(ask: Ask): Promise<unknown[]> {
  const models = asObjects(saidBy(await ask('/v1/models'))?.['data']);
  return models.map((model) => model['owned_by']);
}

/** A server that wants a key is one, too. */
function isList(answer: ProbeAnswer): boolean {
  return answer.status === 401 || Array.isArray(saidBy(answer)?.['data']);
}
