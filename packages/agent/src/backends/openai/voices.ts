/** The voices that a speech server tells, in the many shapes in which servers write them. */
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { refusal } from '../../openai-wire/error-document.js';
import { probe, serverRoot } from '../probe.js';
import type { ProbeOptions } from '../probe.js';
import type { DocumentAnswer, LocalCall } from '../backend.js';

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

// Voices that a server takes for the name of a file. The coordinator has compared the voice with
// the list that it was sent, but it is not for the coordinator to say what is opened here.

/** Null where the voice is one of the model's, or the model's are not known and it is no path. */
export function refuseVoice({ body, model }: LocalCall): DocumentAnswer | null {
  const voice = asText(body['voice']);
  if (voice === null) return null;
  const isFit = model.voices?.includes(voice) ?? !PATH.test(voice);
  return isFit ? null : refused(voice, model.id);
}

/**
 * For servers of which nothing is known: they may blend voices, or have more than they list, and
 * some, such as mlx-audio, open whatever looks like a file.
 */
export function refuseVoiceFile({ body, model }: LocalCall): DocumentAnswer | null {
  const voice = asText(body['voice']);
  const isFile = voice !== null && (PATH.test(voice) || FILE.test(voice));
  return !isFile || model.voices?.includes(voice) ? null : refused(voice, model.id);
}

function refused(voice: string, model: string): DocumentAnswer {
  const message = `'voice' is ${JSON.stringify(voice)}, which ${model} does not have here.`;
  const detail = { code: 'unsupported_value', param: 'voice' };
  return refusal(400, `${message} Choose one of its list of voices.`, detail);
}

const PATH = /[/\\]|\.\./;

const FILE = /\.(?:safetensors|pth?|bin|npy|onnx|json|wav|mp3|flac|ogg|opus|m4a)$/i;
