/** What a local server is sent: the caller's checked body, less what must not reach it. */
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

/** How a local server wants its requests; absent, as they are. */
export interface RequestWays {
  /** False: it refuses to stream, so its whole answer is told as a stream. */
  readonly streams?: false;
  /**
   * Whether a plain call is asked for as a stream, whose chunks are folded: its server notices at
   * the next token of a stream that the caller has left, and of a plain call later, or never.
   */
  folds?(fields: Readonly<Record<string, unknown>>): boolean;
  shape?(fields: Readonly<Record<string, unknown>>, call: LocalCall): object;
}

/** `dropFields` are the fields of the body that neither the backend nor the owner lets through. */
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

/** vLLM refuses the options on a request that does not stream. */
function streaming(stream: unknown, options: JsonObject | null): object {
  if (stream !== true) return stream === undefined ? {} : { stream };
  return { stream, stream_options: { ...options, include_usage: true } };
}

// sd-server takes settings from inside a prompt, `<sd_cpp_extra_args>{…}</sd_cpp_extra_args>`, and
// lets them override everything else: nothing that a caller should be able to do.
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
 * In one pass over the prompt, which may be long and hostile. A space takes the place of what goes,
 * so that its two sides cannot join into another mark.
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

/** Settings of ours, for what the server takes in no other way. */
export function withHiddenArguments(prompt: string, settings: Readonly<JsonObject>): string {
  return `${prompt}<sd_cpp_extra_args>${JSON.stringify(settings)}</sd_cpp_extra_args>`;
}

/**
 * Less what the owner, or a kind of server, never lets through, in any spelling that a server in Go
 * would take for the same; the model is no such field.
 */
export function withoutFields(
  fields: Readonly<Record<string, unknown>>,
  dropped: Iterable<string>,
): Record<string, unknown> {
  const names = new Set(Array.from(dropped, foldName));
  const isKept = (name: string): boolean => name === 'model' || !names.has(foldName(name));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isKept(name)));
}

// Numbers of a caller's fields; those of forms are texts, so a text may be a number.

export interface NumberRange {
  readonly from: number;
  readonly to: number;
}

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** The nearest within the range; null for what is no number. */
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
