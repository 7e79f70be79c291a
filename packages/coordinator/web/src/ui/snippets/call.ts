/** The call that a snippet shows, for the writers of all languages. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';

/** The variable with the key, if the key itself is not shown. */
export const KEY_VARIABLE = '$GATEWAY_KEY';

export interface SnippetCall {
  /** Including `/v1`. */
  readonly baseUrl: string;
  /** The key itself, or `KEY_VARIABLE`. */
  readonly key: string;
  readonly endpoint: EndpointKey;
  /** The fields of the JSON body, of the form (without its files), or of the query. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly files?: readonly SnippetFile[];
}

/** A file in the folder in which the snippet runs. */
interface SnippetFile {
  readonly field: string;
  readonly name: string;
}

/** A method of OpenAI's clients, and the fields that it knows. */
export interface ClientMethod {
  /** `chat.completions.create`; the name is the same in Python and Node. */
  readonly path: string;
  readonly fields: ReadonlySet<string>;
  /** Fields that Python's client requires. */
  readonly needs: readonly string[];
}

const SAMPLING = ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'seed', 'stop'];
const TEXT = ['model', 'stream', 'stream_options', 'max_tokens', 'n', 'user', ...SAMPLING];
const CHAT = ['messages', 'max_completion_tokens', 'reasoning_effort', 'response_format'].concat([
  'tools',
  'tool_choice',
  'logprobs',
  'top_logprobs',
]);
const PICTURE = ['model', 'prompt', 'n', 'size', 'response_format', 'user'];
const HEARD = ['model', 'file', 'language', 'prompt', 'response_format', 'temperature'];

const METHODS: Readonly<Partial<Record<EndpointKey, ClientMethod>>> = {
  chat: method('chat.completions.create', [...TEXT, ...CHAT], ['messages']),
  completions: method('completions.create', [...TEXT, 'prompt'], ['prompt']),
  speech: method('audio.speech.create', ['model', 'input', 'voice', 'response_format'], ['voice']),
  transcriptions: method('audio.transcriptions.create', [...HEARD, 'timestamp_granularities'], []),
  images: method('images.generate', PICTURE, []),
  edits: method('images.edit', [...PICTURE, 'image', 'mask'], []),
};

/** Null if the call is made by plain HTTP, like a job, which OpenAI's clients do not know. */
export function methodOf({ endpoint, body }: SnippetCall): ClientMethod | null {
  const found = METHODS[endpoint];
  if (found === undefined || body['async'] === true) return null;
  return found.needs.every((field) => body[field] !== undefined) ? found : null;
}

/** The kinds of answers that a snippet handles differently. */
export type Answer = 'stream' | 'text' | 'images' | 'file' | 'json';

export function answerOf({ endpoint, body }: SnippetCall): Answer {
  const { kind, media } = ENDPOINTS[endpoint];
  if (body['async'] === true) return 'json';
  if (kind === 'images') return 'images';
  if (kind === 'transcript') return 'text';
  if (media !== null) return 'file';
  return body['stream'] === true ? 'stream' : 'json';
}

/** The name under which a snippet saves the file of the answer. */
export function fileNameOf({ endpoint, body }: SnippetCall): string {
  const isOpus = body['response_format'] === 'opus';
  if (ENDPOINTS[endpoint].media === 'video') return 'film.mp4';
  if (endpoint === 'music') return 'music.wav';
  return isOpus ? 'speech.ogg' : 'speech.wav';
}

export function urlOf({ baseUrl, endpoint }: SnippetCall): string {
  return `${baseUrl}${ENDPOINTS[endpoint].path}`;
}

/** Undefined fields are not sent. */
export function fieldsOf({ body }: SnippetCall): readonly (readonly [string, unknown])[] {
  return Object.entries(body).filter(([, value]) => value !== undefined);
}

/** The name of the variable, if the key is one. */
export function variableOf(key: string): string | null {
  return /^\$([A-Z_][A-Z0-9_]*)$/.exec(key)?.[1] ?? null;
}

/** The fields of a form: each as text; a list becomes one field per item. */
export function formFieldsOf(call: SnippetCall): readonly (readonly [string, string])[] {
  return fieldsOf(call).flatMap(([name, value]) => {
    if (!Array.isArray(value)) return [[name, textOf(value)] as const];
    const listName = name.endsWith('[]') ? name : `${name}[]`;
    return value.map((item) => [listName, textOf(item)] as const);
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function method(path: string, fields: readonly string[], needs: readonly string[]): ClientMethod {
  return { path, fields: new Set(fields), needs };
}
