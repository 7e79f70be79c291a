/** The signs by which model servers are told apart: what each answers that no other does. */
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import type { ProbeAnswer } from '../probe.js';
import { fitsType, readModelList, tellsType } from '../model-list.js';
import type { ModelItem } from '../model-list.js';

/** Asks one path of the server under examination, at most once. */
export type Ask = (path: string) => Promise<ProbeAnswer>;

/** The JSON object of a success; a 200 whose body is an error is none (LM Studio). */
export async function said(ask: Ask, path: string): Promise<JsonObject | null> {
  const { status, json } = await ask(path);
  const object = status === 200 ? asObject(json) : null;
  // ACE-Step has the key in every answer, null where all is well.
  return object === null || (object['error'] ?? null) !== null ? null : object;
}

/** Whether the path answers an object, with the key where one is named. */
export async function answers(ask: Ask, path: string, key?: string): Promise<boolean> {
  const object = await said(ask, path);
  return object !== null && (key === undefined || key in object);
}

/** Refused without a key, or told to be so (KoboldCpp, whose list is open). */
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

export async function hasOwner(ask: Ask, owner: string): Promise<boolean> {
  return (await listOf(ask)).some((model) => model['owned_by'] === owner);
}

/** The name of a FastAPI program; empty where there is none. */
export async function apiTitleOf(ask: Ask): Promise<string> {
  const info = asObject((await said(ask, '/openapi.json'))?.['info']);
  return asText(info?.['title']) ?? '';
}

export async function listsModels(ask: Ask, path: string): Promise<boolean> {
  return Array.isArray((await said(ask, path))?.['data']);
}

export async function listOf(ask: Ask): Promise<JsonObject[]> {
  return asObjects((await said(ask, '/v1/models'))?.['data']);
}

// Which kinds of work one server does, as far as it tells: a service of the agent has one each.

export interface ServedType {
  readonly type: ServiceType;
  /** Null: all that the server lists as of this type. */
  readonly models: readonly string[] | null;
}

/** By a list that tells what each model does, and which the server's backend parts likewise. */
export async function listedTypes(ask: Ask, path: string): Promise<readonly ServedType[]> {
  const items = await itemsOf(ask, path);
  return typesOf(items.filter(({ told }) => told)).map((type) => ({ type, models: null }));
}

/** The same of OpenAI's own list. */
export function listed(ask: Ask): Promise<readonly ServedType[]> {
  return listedTypes(ask, '/v1/models');
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
