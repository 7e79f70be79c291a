/** The voices of a speech server, from the many formats that servers use. */
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { refusal } from '../../openai-wire/error-document.js';
import { probe, serverRoot } from '../probe.js';
import type { ProbeOptions } from '../probe.js';
import type { DocumentAnswer, LocalCall } from '../backend.js';

export interface ListedVoice {
  readonly name: string;
  /** The model that it belongs to; null if the server does not report it. */
  readonly model: string | null;
}

/** The link's limit for one model. */
const MAX_VOICES = 1_000;

const MAX_NAME_CHARACTERS = 256;

/** The rest of the time is for the list of models. */
const TIMEOUT_MS = 2_000;

type Asking = Pick<ProbeOptions, 'apiKey' | 'signal'>;

/** Empty if the server lists none, null if it did not answer: it can speak without a list. */
export async function listVoices(
  baseUrl: string,
  asking: Asking,
): Promise<readonly ListedVoice[] | null> {
  const told = await ask(`${baseUrl}/audio/voices`, asking);
  if (told === null || told.status >= 500) return null;
  return told.status === 200 ? readVoices(told.json) : [];
}

/** It may download any model whose voices are requested. */
export async function isMlxAudio(baseUrl: string, asking: Asking): Promise<boolean> {
  const told = await ask(`${serverRoot(baseUrl)}/`, asking);
  return asText(asObject(told?.json)?.['message'])?.includes('MLX Audio') ?? false;
}

/** Voices without a model belong to all models. */
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

// Refuses voices that a server would read as a file name. The coordinator compares the voice with
// its list, but the agent does not trust the coordinator with which files are opened here.

/**
 * Null if the voice is one of the model's, or the model's voices are unknown and it is not a path.
 */
export function refuseVoice({ body, model }: LocalCall): DocumentAnswer | null {
  const voice = asText(body['voice']);
  if (voice === null) return null;
  const isFit = model.voices?.includes(voice) ?? !PATH.test(voice);
  return isFit ? null : refused(voice, model.id);
}

/**
 * For unknown servers: they may blend voices, or have more than they list, and some, such as
 * mlx-audio, open anything that looks like a file.
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
