/** The signs that identify model servers: answers that no other server gives. */
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import type { ProbeAnswer } from '../probe.js';
import { fitsType, readModelList, tellsType } from '../model-list.js';
import type { ModelItem } from '../model-list.js';

/** Requests one path of the examined server, at most once. */
export type Ask = (path: string) => Promise<ProbeAnswer>;

/** The JSON object of a success; null for a 200 whose body is an error (LM Studio). */
async function said(ask: Ask, path: string): Promise<JsonObject | null> {
  const { status, json } = await ask(path);
  const object = status === 200 ? asObject(json) : null;
  // ACE-Step includes the key in every answer, null if there is no error.
  return object === null || (object['error'] ?? null) !== null ? null : object;
}

/** Whether the path answers an object, with the key if one is named. */
export async function answers(ask: Ask, path: string, key?: string): Promise<boolean> {
  const object = await said(ask, path);
  return object !== null && (key === undefined || key in object);
}

/** It refuses requests without a key, or says that it has one (KoboldCpp, whose list is open). */
export async function wantsKeyAt(ask: Ask, ...paths: readonly string[]): Promise<boolean> {
  for (const path of paths) {
    if ((await ask(path)).status === 401) return true;
    if ((await said(ask, path))?.['protected'] === true) return true;
  }
  return false;
}

export async function isSoftware(ask: Ask, name: string): Promise<boolean> {
  const software = asObject((await said(ask, '/.well-known/serviceinfo'))?.['software']);
  return software?.['name'] === name;
}

/** Its REST API has `models[].key` since 0.4 and `data[].state` before; a refusal names it. */
export async function isLmStudio(ask: Ask): Promise<boolean> {
  const { status, text } = await ask('/api/v1/models');
  if (status === 401 && text.includes('LM Studio')) return true;
  const newer = (await said(ask, '/api/v1/models'))?.['models'];
  if (Array.isArray(newer)) return asObjects(newer).every((model) => 'key' in model);
  const older = asObjects((await said(ask, '/api/v0/models'))?.['data']);
  return older.some((model) => asText(model['state']) !== null);
}

/** Its key protects all but this one path. */
export async function isLemonade(ask: Ask): Promise<boolean> {
  if (await answers(ask, '/v1/health', 'all_models_loaded')) return true;
  return (await ask('/v1/health')).status === 401 && answers(ask, '/live', 'status');
}

/** An Ollama without models has an empty list. */
export async function isOllama(ask: Ask): Promise<boolean> {
  if (asText((await said(ask, '/api/version'))?.['version']) === null) return false;
  const models = (await said(ask, '/api/tags'))?.['models'];
  return Array.isArray(models) && models.every((model) => 'digest' in (asObject(model) ?? {}));
}

/** Its key protects models, but not the health check. */
export async function isLlamaSwap(ask: Ask): Promise<boolean> {
  const isRefused = (await ask('/running')).status === 401;
  if (isRefused) return (await ask('/health')).text === 'OK';
  return Array.isArray((await said(ask, '/running'))?.['running']);
}

/** The header is present even if a key protects the properties. */
export async function isLlamaServer(ask: Ask): Promise<boolean> {
  const { server } = await ask('/props');
  const hasHeader = server === 'llama.cpp' || server === 'ik_llama.cpp';
  return hasHeader || asText((await said(ask, '/props'))?.['build_info']) !== null;
}

export async function isSglang(ask: Ask): Promise<boolean> {
  for (const path of ['/model_info', '/get_model_info']) {
    if (asText((await said(ask, path))?.['model_path']) !== null) return true;
  }
  return false;
}

/** Its key protects the list of models, never the version. */
export async function isVllm(ask: Ask): Promise<boolean> {
  if (asText((await said(ask, '/version'))?.['version']) === null) return false;
  return (await ask('/v1/models')).status === 401 || (await hasOwner(ask, 'vllm'));
}

/** Its list is at the root, and names it as the owner. */
export async function isInfinity(ask: Ask): Promise<boolean> {
  const models = asObjects((await said(ask, '/models'))?.['data']);
  return models.some((model) => model['owned_by'] === 'infinity');
}

export async function isComfyUi(ask: Ask): Promise<boolean> {
  const system = asObject((await said(ask, '/system_stats'))?.['system']);
  return asText(system?.['comfyui_version']) !== null;
}

/** With a password its API's paths answer 401, and missing ones 404. */
export async function isWebUi(ask: Ask): Promise<boolean> {
  const { status, json } = await ask('/sdapi/v1/sd-models');
  if (status === 401) return (await ask('/v1/models')).status === 404;
  return status === 200 && Array.isArray(json);
}

/** While it loads, and after a load that failed, the path is 404. */
export async function isWhisperServer(ask: Ask): Promise<boolean> {
  return (await ask('/health')).server === 'whisper.cpp';
}

export async function isAceStep(ask: Ask): Promise<boolean> {
  return asObject((await said(ask, '/health'))?.['data'])?.['service'] === 'ACE-Step API';
}

/**
 * Many speech servers list `/v1/audio/models` for Open WebUI; only this one has this health answer.
 */
export async function isSpeaches(ask: Ask): Promise<boolean> {
  if (!(await answers(ask, '/v1/audio/models'))) return false;
  if ((await said(ask, '/health'))?.['message'] === 'OK') return true;
  return (await listOf(ask)).some((model) => asText(model['task']) !== null);
}

export async function hasOwner(ask: Ask, owner: string): Promise<boolean> {
  return (await listOf(ask)).some((model) => model['owned_by'] === owner);
}

export async function isTextGenerationWebUi(ask: Ask): Promise<boolean> {
  return answers(ask, '/v1/internal/model/info', 'model_name');
}

/** It has model names and a billing path as OpenAI has them, but its models belong to `user`. */
export async function isOpenedAiSpeech(ask: Ask): Promise<boolean> {
  const models = await listOf(ask);
  const isSpeech = models.some(({ id }) => id === 'tts-1');
  const isOwned = models.every((model) => model['owned_by'] === 'user');
  return isSpeech && isOwned && (await answers(ask, '/v1/billing/usage', 'total_usage'));
}

export async function isMlxAudio(ask: Ask): Promise<boolean> {
  return asText((await said(ask, '/'))?.['message'])?.includes('MLX Audio') ?? false;
}

/** The title of a FastAPI program; empty if there is none. */
export async function apiTitleOf(ask: Ask): Promise<string> {
  const info = asObject((await said(ask, '/openapi.json'))?.['info']);
  return asText(info?.['title']) ?? '';
}

export async function isWhisperWebService(ask: Ask): Promise<boolean> {
  const paths = asObject((await said(ask, '/openapi.json'))?.['paths']);
  return paths !== null && '/asr' in paths;
}

/** The owner chooses its title. */
export async function isChatterbox(ask: Ask): Promise<boolean> {
  const model = await said(ask, '/api/model-info');
  const isTurbo = model !== null && 'turbo_available_in_package' in model;
  return isTurbo || (asText(model?.['class_name'])?.startsWith('Chatterbox') ?? false);
}

/** Voices by name, and the one that it was started with. */
export async function isPiper(ask: Ask): Promise<boolean> {
  if ((await said(ask, '/voices')) === null) return false;
  const voice = asObject((await said(ask, '/info'))?.['voice']);
  return asText(voice?.['name']) !== null;
}

/**
 * Its health answer is llama-server's, without that server's header, and its models have no owner.
 */
export async function isMlxLm(ask: Ask): Promise<boolean> {
  if ((await said(ask, '/health'))?.['status'] !== 'ok') return false;
  if (!(await listsModels(ask, '/v1/models'))) return false;
  return (await listOf(ask)).every((model) => !('owned_by' in model));
}

/** Only its error message identifies it, and it always wants a key. */
export async function isJan(ask: Ask): Promise<boolean> {
  const { status, text } = await ask('/v1/models');
  return status === 401 && text.includes('Invalid or missing authorization token');
}

/** A proxy, mostly to servers elsewhere. */
export async function isLiteLlm(ask: Ask): Promise<boolean> {
  return answers(ask, '/health/readiness', 'litellm_version');
}

export async function isInvokeAi(ask: Ask): Promise<boolean> {
  return answers(ask, '/api/v1/app/version', 'version');
}

/** A server that wants a key also counts. */
export async function isAnyModelServer(ask: Ask): Promise<boolean> {
  return (await ask('/v1/models')).status === 401 || (await listsModels(ask, '/v1/models'));
}

export async function listsModels(ask: Ask, path: string): Promise<boolean> {
  return Array.isArray((await said(ask, path))?.['data']);
}

async function listOf(ask: Ask): Promise<JsonObject[]> {
  return asObjects((await said(ask, '/v1/models'))?.['data']);
}

// Which types of work one server does, as far as it reports: a service of the agent has one type.

export interface ServedType {
  readonly type: ServiceType;
  /** Null: all that the server lists for this type. */
  readonly models: readonly string[] | null;
}

/** What KoboldCpp has loaded; OpenAI's API has no path for its music. */
const KOBOLD_FLAGS = [
  ['llm', 'llm'],
  ['stt', 'transcribe'],
  ['tts', 'tts'],
  ['image', 'txt2img'],
] as const satisfies readonly (readonly [ServiceType, string])[];

/** Ollama's words in its list; models of old versions chat, as far as is known. */
const OLLAMA_WORDS = [
  ['llm', 'completion'],
  ['embedding', 'embedding'],
] as const satisfies readonly (readonly [ServiceType, string])[];

export async function ollamaTypes(ask: Ask): Promise<readonly ServedType[]> {
  const models = asObjects((await said(ask, '/api/tags'))?.['models']);
  const words = new Set(
    models.flatMap(({ capabilities: told }) => (Array.isArray(told) ? told : [])),
  );
  const found = OLLAMA_WORDS.filter(([, word]) => words.has(word));
  return found.map(([type]) => ({ type, models: null }));
}

/** The one model's type, by the key under which it is described. */
const TEI_WORDS = [
  ['embedding', 'embedding'],
  ['rerank', 'reranker'],
] as const satisfies readonly (readonly [ServiceType, string])[];

export async function teiTypes(ask: Ask): Promise<readonly ServedType[]> {
  const told = asObject((await said(ask, '/info'))?.['model_type']) ?? {};
  return TEI_WORDS.filter(([, word]) => word in told).map(([type]) => ({ type, models: null }));
}

export async function koboldTypes(ask: Ask): Promise<readonly ServedType[]> {
  const flags = await said(ask, '/api/extra/version');
  const loaded = KOBOLD_FLAGS.filter(([, flag]) => flags?.[flag] === true);
  return loaded.map(([type]) => ({ type, models: null }));
}

/** For a list that names each model's type; the server's backend separates the types likewise. */
export async function listedTypes(ask: Ask, path: string): Promise<readonly ServedType[]> {
  const items = await itemsOf(ask, path);
  return typesOf(items.filter(({ told }) => told)).map((type) => ({ type, models: null }));
}

/**
 * For a list that may not name types, although model names may. A service of several guessed types
 * names its models, as the list alone would not separate them.
 */
export async function namedTypes(ask: Ask): Promise<readonly ServedType[]> {
  const items = await itemsOf(ask, '/v1/models');
  const types = typesOf(items);
  const isParted = types.length < 2 || items.every(({ told }) => told);
  return types.map((type) => {
    const models = items.filter((item) => item.types.includes(type)).map(({ id }) => id);
    return { type, models: isParted ? null : models };
  });
}

function typesOf(items: readonly TypedItem[]): readonly ServiceType[] {
  return SERVICE_TYPES.filter((type) => items.some((item) => item.types.includes(type)));
}

async function itemsOf(ask: Ask, path: string): Promise<readonly TypedItem[]> {
  const list = (await said(ask, path)) ?? (await said(ask, '/v1/models'));
  return (readModelList(list) ?? []).map(readItem);
}

interface TypedItem {
  readonly id: string;
  readonly types: readonly ServiceType[];
  readonly told: boolean;
}

function readItem(item: ModelItem): TypedItem {
  const { id } = item;
  const told = tellsType(item);
  const fitting = SERVICE_TYPES.filter((type) => fitsType(item, type));
  if (fitting.length === SERVICE_TYPES.length) return { id, types: guess(id), told };
  return { id, types: narrow(fitting, item), told };
}

/** Text is output of chat and transcription, audio of speech and music. */
function narrow(fitting: readonly ServiceType[], item: ModelItem): readonly ServiceType[] {
  const inputs = item.architecture?.input_modalities ?? item.input_modalities ?? [];
  const isHeard = inputs.includes('audio') && !inputs.includes('text');
  const unlikely: readonly ServiceType[] = [isHeard ? 'llm' : 'stt', 'music'];
  const likely = fitting.filter((type) => !unlikely.includes(type));
  return likely.length === 0 ? fitting : likely;
}

const NAMES: readonly (readonly [RegExp, readonly ServiceType[]])[] = [
  [/rerank/i, ['rerank']],
  [/embed|(?:^|[/-])(?:bge|gte|e5)-/i, ['embedding']],
  [/whisper|parakeet|canary|moonshine/i, ['stt']],
  [/(?:^|[^a-z])tts(?:[^a-z]|$)|kokoro|orpheus|chatterbox|piper|xtts/i, ['tts']],
  [/flux|stable-?diffusion|sdxl|sd-?turbo|qwen-image|z-image|dall-e/i, ['image']],
];

/** A name without a hint counts as a language model: most are. */
function guess(id: string): readonly ServiceType[] {
  return NAMES.find(([pattern]) => pattern.test(id))?.[1] ?? ['llm'];
}
