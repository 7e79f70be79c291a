/**
 * The differences between the kinds of endpoints for both ends of the link: preparing a request,
 * its number of answers, and what is metered. The store's thread loads it, so that it must not use
 * zod.
 */
import { ENDPOINTS } from '../endpoints.js';
import type { EndpointKey, EndpointKind } from '../endpoints.js';
import { ApiError } from '../errors.js';
import { findForeignMedia, findForeignUrl } from './media-urls.js';
import { answersEach, listedPrompts, MAX_SEQUENCES } from './tokens.js';

type Fields = Readonly<Record<string, unknown>>;
type Body = Record<string, unknown>;

/** Settings of the operator. */
export interface RequestLimits {
  /** `n` of images is clamped to it. */
  readonly maxImages: number;
  /** Characters of text for speech. */
  readonly maxSpeechCharacters: number;
}

export interface RequestKind {
  /** Prepares a request after its schema. Throws an `ApiError`. */
  readonly prepare: (request: Body, limits: RequestLimits) => Body;
  /** Removes the fields that are only for the gateway. */
  readonly withoutForm: (prepared: Body) => Body;
  /** The first field that a model server would fetch in a home network; null: none. */
  readonly findForeign: (body: Fields) => string | null;
  /** The field with what the user has written: excerpts are made of it. Null: there is none. */
  readonly userText: 'messages' | 'prompt' | 'input' | 'query' | null;
  /** For kinds whose requests are prompts. */
  readonly text: TextKind | null;
  /** False: its answer does not need the model, and takes none of its slots. */
  readonly runsModel: boolean;
  /** What is metered of an answer besides its files. */
  readonly counts: 'tokens' | 'images' | null;
}

interface TextKind {
  /** The field that may contain several prompts; null if a request has one. */
  readonly prompts: string | null;
  /** Whether a request may continue an earlier one that a provider has in its prompt cache. */
  readonly isConversation: boolean;
}

const asItIs = (body: Body): Body => body;

const MEDIA = {
  prepare: asItIs,
  findForeign: findForeignMedia,
  userText: 'prompt',
  text: null,
  runsModel: true,
  counts: null,
} as const;

/** A request has one answer, of numbers, and its prompt tokens are counted. */
const VECTORS = {
  prepare: asItIs,
  withoutForm: asItIs,
  // vLLM also takes messages here, and fetches URLs in them.
  findForeign: findForeignUrl,
  userText: 'input',
  text: null,
  runsModel: true,
  counts: 'tokens',
} as const;

export const REQUEST_KINDS: Readonly<Record<EndpointKind, RequestKind>> = {
  chat: {
    prepare: (request) => prepareChat(request, ONE_PROMPT),
    withoutForm: asItIs,
    findForeign: findForeignUrl,
    userText: 'messages',
    text: { prompts: null, isConversation: true },
    runsModel: true,
    counts: 'tokens',
  },
  count: {
    prepare: asItIs,
    withoutForm: asItIs,
    findForeign: findForeignUrl,
    userText: null,
    // A chat without its answer: nothing is put into the prompt cache.
    text: { prompts: null, isConversation: false },
    // The tokenizer runs on the processor, beside the answers that the card makes.
    runsModel: false,
    counts: null,
  },
  completion: {
    prepare: (request) => prepareCompletion(request, listedPrompts(request['prompt'])),
    withoutForm: asItIs,
    // Some servers also accept messages here, and fetch URLs in them.
    findForeign: findForeignUrl,
    userText: 'prompt',
    text: { prompts: 'prompt', isConversation: false },
    runsModel: true,
    counts: 'tokens',
  },
  // Their prompts are hints for the spelling.
  transcript: { ...MEDIA, withoutForm, userText: null },
  translation: { ...MEDIA, withoutForm, userText: null },
  voices: { ...MEDIA, withoutForm, userText: null, findForeign: () => null },
  images: { ...MEDIA, withoutForm: asBytes, prepare: prepareImages, counts: 'images' },
  speech: { ...MEDIA, withoutForm, userText: 'input', prepare: prepareSpeech },
  film: { ...MEDIA, withoutForm },
  music: { ...MEDIA, withoutForm },
  embeddings: VECTORS,
  rerank: { ...VECTORS, userText: 'query' },
};

export function kindOf(endpoint: EndpointKey): RequestKind {
  return REQUEST_KINDS[ENDPOINTS[endpoint].kind];
}

const ONE_PROMPT = [null] as const;

/** The prompts of a request: one, unless its field is an array of prompts. */
export function promptsOf(endpoint: EndpointKey, fields: Fields): readonly unknown[] {
  const name = kindOf(endpoint).text?.prompts ?? null;
  return name === null ? ONE_PROMPT : listedPrompts(fields[name]);
}

/** The request for only one of its prompts. */
export function withPrompt(endpoint: EndpointKey, fields: Fields, prompt: unknown): Body {
  const name = kindOf(endpoint).text?.prompts ?? null;
  return name === null ? { ...fields } : { ...fields, [name]: prompt };
}

/** The number of parallel answers; files are generated one after the other, in one run. */
export function sequencesOf(endpoint: EndpointKey, fields: Fields): number {
  const { text } = kindOf(endpoint);
  return text === null ? 1 : promptsOf(endpoint, fields).length * answersEach(fields);
}

/** The largest number of files in an answer. */
export function filesOf(endpoint: EndpointKey, fields: () => Fields): number {
  if (kindOf(endpoint).counts !== 'images') return 1;
  const { n } = fields();
  return typeof n === 'number' ? n : 1;
}

function withoutForm(body: Body): Body {
  const { stream: _stream, stream_format: _streamFormat, ...kept } = body;
  return kept['response_format'] === 'url' ? asBytes(kept) : kept;
}

/** Images and videos are always requested as bytes, even if the caller gets another form. */
function asBytes(body: Body): Body {
  const { stream: _stream, stream_format: _streamFormat, response_format: _format, ...kept } = body;
  return kept;
}

// Preparation of a valid request.

/** The specification's default, added if the caller has none. */
export const DEFAULT_TEMPERATURE = 0.7;

/** LangChain and others send it for no limit. */
export const NO_LIMIT = -1;

/** `prompts`: the prompts of the request. */
function prepareChat(request: Body, prompts: readonly unknown[]): Body {
  const prepared = prepareCompletion(request, prompts);
  return { ...prepared, temperature: prepared['temperature'] ?? DEFAULT_TEMPERATURE };
}

function prepareCompletion(request: Body, prompts: readonly unknown[]): Body {
  requireFewAnswers(request, prompts.length);
  return withoutNoLimits(request);
}

const LIMITS = ['max_tokens', 'max_completion_tokens'];

/** Removes limits that mean no limit. */
function withoutNoLimits(request: Body): Body {
  if (LIMITS.every((name) => request[name] !== NO_LIMIT)) return request;
  const kept = Object.entries(request).filter(
    ([name, value]) => !(value === NO_LIMIT && LIMITS.includes(name)),
  );
  return Object.fromEntries(kept);
}

function requireFewAnswers(request: Body, prompts: number): void {
  const each = answersEach(request);
  const sequences = prompts * each;
  if (sequences <= MAX_SEQUENCES) return;
  const text =
    `${prompts} prompts with ${each} answers each are ${sequences} answers: ` +
    `one request may have ${MAX_SEQUENCES}. Send less at once.`;
  throw new ApiError('invalid_value', text, { param: prompts > 1 ? 'prompt' : 'n' });
}

/** `n` is clamped, never refused (specification, section 8). */
function prepareImages(request: Body, { maxImages }: RequestLimits): Body {
  // Only streams have them.
  const { partial_images: _partial, n, ...rest } = request;
  return { ...rest, n: Math.min(Math.max(typeof n === 'number' ? n : 1, 1), maxImages) };
}

function prepareSpeech(request: Body, { maxSpeechCharacters: limit }: RequestLimits): Body {
  const { length } = String(request['input']);
  if (length <= limit) return request;
  const message = `'input' has ${length} characters; ${limit} are allowed. Send it in parts.`;
  throw new ApiError('body_too_large', message, { param: 'input' });
}
