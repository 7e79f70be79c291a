/**
 * Makes a local server's request from the caller's checked body, without fields that must not reach
 * the server.
 */
import { estimatePromptTokens } from '@inference-gateway/shared/openai/tokens';
import { writeSparse } from '@inference-gateway/shared/json/sparse';
import { foldName } from '@inference-gateway/shared/openai/fold-name';
import type { LocalCall } from '../backends/backend.js';
import { asObject, asText } from './json.js';
import type { JsonObject } from './json.js';
import type { AnswerForm } from './answer-form.js';

export interface ShapedRequest {
  readonly body: Buffer;
  readonly form: Omit<AnswerForm, 'wire'>;
}

/** The form of a local server's requests; absent: unchanged. */
export interface RequestWays {
  /** False: it refuses to stream, so its whole answer is converted into a stream. */
  readonly streams?: false;
  /**
   * Whether to request a plain call as a stream and fold its chunks: the server notices a caller
   * that leaves at the stream's next token, but in a plain call later, or never.
   */
  folds?(fields: Readonly<Record<string, unknown>>): boolean;
  shape?(fields: Readonly<Record<string, unknown>>, call: LocalCall): object;
}

/** `dropFields` are the fields that the backend or the owner does not allow. */
export function shapeRequest(
  call: LocalCall,
  dropFields: ReadonlySet<string>,
  ways: RequestWays = {},
): ShapedRequest {
  const kept = withoutFields(call.body, dropFields);
  const { stream_options: given, stream: asked, ...body } = kept;
  const stream = asked === true;
  const options = asObject(given);
  const form: ShapedRequest['form'] = {
    model: call.model.id,
    stream,
    usage: stream && options?.['include_usage'] === true,
    promptTokens: () => call.promptTokens?.[0] ?? estimatePromptTokens(call.body),
    ...(call.reasoningField !== undefined && { reasoning: call.reasoningField }),
  };
  const fields = { ...body, model: call.model.served_name };
  const asStream = stream || ways.folds?.(fields) === true;
  const sent = {
    ...(ways.shape?.(fields, call) ?? fields),
    ...(ways.streams !== false && streaming(asStream || asked, options)),
  };
  return { body: writeSparse(sent), form };
}

/** vLLM refuses the options in a request that does not stream. */
function streaming(stream: unknown, options: JsonObject | null): object {
  if (stream !== true) return stream === undefined ? {} : { stream };
  return { stream, stream_options: { ...options, include_usage: true } };
}

// sd-server reads settings from inside a prompt, `<sd_cpp_extra_args>{…}</sd_cpp_extra_args>`, and
// they override everything else: a caller must not be able to do that.
const OPEN = '<sd_cpp_extra_args>';

const CLOSE = '</sd_cpp_extra_args>';

const PROMPTS = ['prompt', 'negative_prompt'];

export function withoutHiddenArguments(body: Readonly<JsonObject>): JsonObject {
  const prompts = PROMPTS.flatMap((name): [string, unknown][] => {
    const prompt = body[name];
    return typeof prompt === 'string' && prompt.includes(OPEN) ? [[name, strip(prompt)]] : [];
  });
  return { ...body, ...Object.fromEntries(prompts) };
}

/**
 * In one pass over the prompt, which may be long and hostile. A space replaces the removed text, so
 * that its two sides cannot form another mark.
 */
function strip(prompt: string): string {
  const pieces = prompt.split(CLOSE);
  const rest = pieces.pop() ?? '';
  return [...pieces.map(upToOpen), rest].join(' ').replaceAll(OPEN, ' ').trim();
}

function upToOpen(piece: string): string {
  const at = piece.indexOf(OPEN);
  return at === -1 ? piece : piece.slice(0, at);
}

/** The agent's own settings, which the server accepts in no other way. */
export function withHiddenArguments(prompt: string, settings: Readonly<JsonObject>): string {
  return `${prompt}<sd_cpp_extra_args>${JSON.stringify(settings)}</sd_cpp_extra_args>`;
}

/**
 * Removes the fields that the owner or a kind of server never allows, in any spelling that a server
 * in Go would accept; never removes the model.
 */
export function withoutFields(
  fields: Readonly<Record<string, unknown>>,
  dropped: Iterable<string>,
): Record<string, unknown> {
  const names = new Set(Array.from(dropped, foldName));
  const isKept = (name: string): boolean => name === 'model' || !names.has(foldName(name));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isKept(name)));
}

// Numbers in a caller's fields; form fields are text, so a text may be a number.

export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** The nearest value within the range; null if it is not a number. */
export function readNumber(value: unknown, { from, to }: NumberRange): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) return null;
  return Math.min(Math.max(number, from), to);
}

/** `1024x768`; null for anything else. */
export function readSize(size: unknown): PixelSize | null {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(asText(size) ?? '') ?? [];
  return width === undefined ? null : { width: Number(width), height: Number(height) };
}
