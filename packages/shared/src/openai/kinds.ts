/**
 * What differs between the kinds of endpoints for both ends of the link: how a request is prepared,
 * how many answers it asks for, and what is counted of them.
 */
import { ENDPOINTS } from '../endpoints.js';
import type { EndpointKey, EndpointKind } from '../endpoints.js';
import { prepareImages, prepareSpeech } from './media-requests.js';
import type { RequestLimits } from './media-requests.js';
import { findForeignMedia, findForeignUrl } from './media-urls.js';
import { prepareChat, prepareCompletion } from './text-requests.js';
import { answersEach, listedPrompts } from './tokens.js';

type Fields = Readonly<Record<string, unknown>>;
type Body = Record<string, unknown>;

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
  /** The field that may hold several prompts; null where a request is one. */
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
