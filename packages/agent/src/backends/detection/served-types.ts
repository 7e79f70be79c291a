/** Which kinds of work one server does, as far as it tells: a service of the agent has one each. */
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { said } from './fingerprint-signs.js';
import type { Ask } from './fingerprint-signs.js';
import { fitsType, readModelList, tellsType } from '../model-list.js';
import type { ModelItem } from '../model-list.js';

export interface ServedType {
  readonly type: ServiceType;
  /** Null: all that the server lists as of this type. */
  readonly models: readonly string[] | null;
}

/** What KoboldCpp has loaded; its music has no path in OpenAI's API. */
const KOBOLD_FLAGS = [
  ['llm', 'llm'],
  ['stt', 'transcribe'],
  ['tts', 'tts'],
  ['image', 'txt2img'],
] as const satisfies readonly (readonly [ServiceType, string])[];

export async function koboldTypes(ask: Ask): Promise<readonly ServedType[]> {
  const flags = await said(ask, '/api/extra/version');
  const loaded = KOBOLD_FLAGS.filter(([, flag]) => flags?.[flag] === true);
  return loaded.map(([type]) => ({ type, models: null }));
}

/** By a list that tells what each model does, and which the server's backend parts likewise. */
export async function listedTypes(ask: Ask, path: string): Promise<readonly ServedType[]> {
  const items = await itemsOf(ask, path);
  return typesOf(items.filter(({ told }) => told)).map((type) => ({ type, models: null }));
}

/**
 * By a list that may tell nothing of what a model does, where its name may. A service of several
 * guessed types names its models, as the list alone would not part them.
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

/** Text comes of chats and of sounds, sound of texts and of music. */
function narrow(fitting: readonly ServiceType[], item: ModelItem): readonly ServiceType[] {
  const inputs = item.architecture?.input_modalities ?? item.input_modalities ?? [];
  const isHeard = inputs.includes('audio') && !inputs.includes('text');
  const unlikely: readonly ServiceType[] = [isHeard ? 'llm' : 'stt', 'music'];
  const likely = fitting.filter((type) => !unlikely.includes(type));
  return likely.length === 0 ? fitting : likely;
}

const NAMES: readonly (readonly [RegExp, readonly ServiceType[]])[] = [
  [/embed|rerank|(?:^|[/-])bge-/i, []],
  [/whisper|parakeet|canary|moonshine/i, ['stt']],
  [/(?:^|[^a-z])tts(?:[^a-z]|$)|kokoro|orpheus|chatterbox|piper|xtts/i, ['tts']],
  [/flux|stable-?diffusion|sdxl|sd-?turbo|qwen-image|z-image|dall-e/i, ['image']],
];

/** A name that says nothing is that of a language model: most are. */
function guess(id: string): readonly ServiceType[] {
  return NAMES.find(([pattern]) => pattern.test(id))?.[1] ?? ['llm'];
}
