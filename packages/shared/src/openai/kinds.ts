/**
 * What differs between the kinds of endpoints for both ends of the link: how a request is prepared,
 * how many answers it asks for, and what is counted of them. The store's thread loads it: no zod.
 */
import { ENDPOINTS } from '../endpoints.js';
import type { EndpointKey, EndpointKind } from '../endpoints.js';
import { ApiError } from '../errors.js';
import { findForeignMedia, findForeignUrl } from './media-urls.js';
import { answersEach, listedPrompts, MAX_SEQUENCES } from './tokens.js';

type Fields = Readonly<Record<string, unknown>>;
type Body = Record<string, unknown>;

/** What an operator sets. */
export interface RequestLimits {
  /** `n` of images is clamped to it. */
  readonly maxImages: number;
  /** Characters of text to be spoken. */
  readonly maxSpeechCharacters: number;
}

export interface RequestKind {
  /** From what the endpoint's schema let through. Throws an `ApiError`. */
  readonly prepare: (request: Body, limits: RequestLimits) => Body;
  /** Less the fields that say how the gateway is to answer. */
  readonly withoutForm: (prepared: Body) => Body;
  /** Where a request names what a model server would fetch inside a home network; null: nowhere. */
  readonly findForeign: (body: Fields) => string | null;
  /** Of kinds that a model answers with text: it may be streamed, and its tokens be capped. */
  readonly text: TextKind | null;
  /** What of an answer is counted beside its files. */
  readonly counts: 'tokens' | 'images' | null;
}

interface TextKind {
  /** The field that may hold several prompts; null if a request is one. */
  readonly prompts: string | null;
  /** A request may go on with an earlier one, whose beginning some provider has in its cache. */
  readonly isConversation: boolean;
}

const asItIs = (body: Body): Body => body;

const MEDIA = { prepare: asItIs, findForeign: findForeignMedia, text: null, counts: null } as const;

export const REQUEST_KINDS: Readonly<Record<EndpointKind, RequestKind>> = {
  chat: {
    prepare: (request) => prepareChat(request, ONE_PROMPT),
    withoutForm: asItIs,
    findForeign: findForeignUrl,
    text: { prompts: null, isConversation: true },
    counts: 'tokens',
  },
  completion: {
    prepare: (request) => prepareCompletion(request, listedPrompts(request['prompt'])),
    withoutForm: asItIs,
    // Some servers take messages here as well, and fetch what they name.
    findForeign: findForeignUrl,
    text: { prompts: 'prompt', isConversation: false },
    counts: 'tokens',
  },
  transcript: { ...MEDIA, withoutForm },
  voices: { ...MEDIA, withoutForm, findForeign: () => null },
  images: { ...MEDIA, withoutForm: asBytes, prepare: prepareImages, counts: 'images' },
  speech: { ...MEDIA, withoutForm, prepare: prepareSpeech },
  film: { ...MEDIA, withoutForm },
  music: { ...MEDIA, withoutForm },
};

export function kindOf(endpoint: EndpointKey): RequestKind {
  return REQUEST_KINDS[ENDPOINTS[endpoint].kind];
}

const ONE_PROMPT = [null] as const;

/** What is answered one by one: a request that is no list of prompts is one. */
export function promptsOf(endpoint: EndpointKey, fields: Fields): readonly unknown[] {
  const name = kindOf(endpoint).text?.prompts ?? null;
  return name === null ? ONE_PROMPT : listedPrompts(fields[name]);
}

/** The request of one of its prompts alone. */
export function withPrompt(endpoint: EndpointKey, fields: Fields, prompt: unknown): Body {
  const name = kindOf(endpoint).text?.prompts ?? null;
  return name === null ? { ...fields } : { ...fields, [name]: prompt };
}

/** How many answers are computed; files are made one after the other, in one run. */
export function sequencesOf(endpoint: EndpointKey, fields: Fields): number {
  const { text } = kindOf(endpoint);
  return text === null ? 1 : promptsOf(endpoint, fields).length * answersEach(fields);
}

/** How many files an answer may have. */
export function filesOf(endpoint: EndpointKey, fields: () => Fields): number {
  if (kindOf(endpoint).counts !== 'images') return 1;
  const { n } = fields();
  return typeof n === 'number' ? n : 1;
}

function withoutForm(body: Body): Body {
  const { stream: _stream, stream_format: _streamFormat, ...kept } = body;
  return kept['response_format'] === 'url' ? asBytes(kept) : kept;
}

/** Pictures and films are always asked for as bytes, whatever is made of them here. */
function asBytes(body: Body): Body {
  const { stream: _stream, stream_format: _streamFormat, response_format: _format, ...kept } = body;
  return kept;
}

// What is done to a request that its schema has let through.

/** The specification's default, injected where the caller names none. */
export const DEFAULT_TEMPERATURE = 0.7;

/** LangChain and others write it where they want no limit. */
export const NO_LIMIT = -1;

/** `prompts` are those of the request. */
function prepareChat(request: Body, prompts: readonly unknown[]): Body {
  const prepared = prepareCompletion(request, prompts);
  return { ...prepared, temperature: prepared['temperature'] ?? DEFAULT_TEMPERATURE };
}

function prepareCompletion(request: Body, prompts: readonly unknown[]): Body {
  requireFewAnswers(request, prompts.length);
  return withoutNoLimits(request);
}

const LIMITS = ['max_tokens', 'max_completion_tokens'];

/** Less those limits that are none. */
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
  // They are of a stream, so that there are none here.
  const { partial_images: _partial, n, ...rest } = request;
  return { ...rest, n: Math.min(Math.max(typeof n === 'number' ? n : 1, 1), maxImages) };
}

function prepareSpeech(request: Body, { maxSpeechCharacters: limit }: RequestLimits): Body {
  const { length } = String(request['input']);
  if (length <= limit) return request;
  const message = `'input' has ${length} characters; ${limit} are allowed. Send it in parts.`;
  throw new ApiError('body_too_large', message, { param: 'input' });
}
