/** The voices that a speech server tells, in the many shapes in which servers write them. */
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { probe } from '../probe.js';
import type { ProbeOptions } from '../probe.js';
import { serverRoot } from '../server-root.js';

export interface ListedVoice {
  readonly name: string;
  /** The model that it belongs to; null where the server does not tell. */
  readonly model: string | null;
}

/** The most that the link carries for one model. */
const MAX_VOICES = 1_000;
const MAX_NAME_CHARACTERS = 256;
/** A list of models has the rest of the time. */
const TIMEOUT_MS = 2_000;

type Asking = Pick<ProbeOptions, 'apiKey' | 'signal'>;

/**
 * Empty where the server tells none, null where it did not answer: without a list it can speak all
 * the same.
 */
export async function listVoices(
  baseUrl: string,
  asking: Asking,
): Promise<readonly ListedVoice[] | null> {
  const told = await ask(`${baseUrl}/audio/voices`, asking);
  if (told === null || told.status >= 500) return null;
  return told.status === 200 ? readVoices(told.json) : [];
}

/** It may download whatever model it is asked to list the voices of. */
export async function isMlxAudio(baseUrl: string, asking: Asking): Promise<boolean> {
  const told = await ask(`${serverRoot(baseUrl)}/`, asking);
  return asText(asObject(told?.json)?.['message'])?.includes('MLX Audio') ?? false;
}

/** Those of no model in particular are everybody's. */
export function voicesOf(servedName: string, told: readonly ListedVoice[]): string[] {
  const own = told.filter(({ model }) => model === null || model === servedName);
  return [...new Set(own.map(({ name }) => name))].slice(0, MAX_VOICES);
}

function ask(url: string, { apiKey, signal }: Asking) {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  return probe(url, { apiKey, signal: limited }).catch(() => null);
}

/** `["a"]`, `[{id, name}]`, `{voices: …}` or `{data: …}`. */
export function readVoices(json: unknown): ListedVoice[] {
  const wrapped = asObject(json);
  const list = wrapped === null ? json : (wrapped['voices'] ?? wrapped['data']);
  if (!Array.isArray(list)) return [];
  const named = list.flatMap((item: unknown) => readVoice(item) ?? []);
  return named.filter(({ name }) => name.length <= MAX_NAME_CHARACTERS);
}

function readVoice(item: unknown): ListedVoice | null {
  const text = asText(item);
  if (text !== null) return { name: text, model: null };
  const [voice] = asObjects([item]);
  return voice === undefined ? null : readObject(voice);
}

function readObject(voice: JsonObject): ListedVoice | null {
  const name = asText(voice['voice_id']) ?? asText(voice['id']) ?? asText(voice['name']);
  const model = asText(voice['model_id']) ?? asText(voice['model']);
  return name === null ? null : { name, model };
}
