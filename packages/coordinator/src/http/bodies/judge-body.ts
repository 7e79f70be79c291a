/** From the bytes of a JSON body to a checked request: on the event loop, or in a thread. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { parseBatchLine } from '@inference-gateway/shared/openai/batch-files';
import type { BatchLine } from '@inference-gateway/shared/openai/batch-files';
import { parseBatch } from '@inference-gateway/shared/openai/batch-requests';
import type { ParsedBatch } from '@inference-gateway/shared/openai/batch-requests';
import { toCountedChat } from '@inference-gateway/shared/openai/messages/request';
import { estimatePromptTokens, TEMPLATE_FIELDS } from '@inference-gateway/shared/openai/tokens';
import { parseRequest } from '@inference-gateway/shared/openai/requests';
import type { ParsedRequest, RequestLimits } from '@inference-gateway/shared/openai/requests';
import { isBackground, parseTranslated } from '@inference-gateway/shared/openai/translated-apis';
import type { ApiName, Translated } from '@inference-gateway/shared/openai/translated-apis';

/** What a body is checked for. */
export type Question =
  | {
      readonly kind: 'request';
      readonly endpoint: EndpointKey;
      /** The API in which it is written; null for that of its endpoint. */
      readonly api: ApiName | null;
      readonly limits: RequestLimits;
      /** The caller whose conversation it may continue. */
      readonly memberId: string;
    }
  | { readonly kind: 'batch'; readonly limits: RequestLimits }
  | { readonly kind: 'line'; readonly limits: RequestLimits }
  | { readonly kind: 'count' };

/** A job by `async: true`, or one that its API calls an answer in the background. */
export type Submission = 'job' | 'background';

/** A body that is JSON. */
export interface Judged<T> {
  /** Whether it asks for a job, even if something else is wrong with it. */
  readonly submission: Submission | null;
  /** Throws an `ApiError` if the request is not valid for its endpoint. */
  readonly take: () => T;
}

/** What is read from members that are no longer values of the body. */
export interface Reading {
  /** The first part of each kind of media. */
  readonly media: readonly MediaPart[];
  /** The conversations that it may continue. */
  readonly prefixes: readonly string[];
  /** The session that it names. */
  readonly session: string | null;
  /** By which its owner finds it again. */
  readonly excerpt: string | null;
}

/** A request, and what the thread has read from it; absent: read from the body. */
export interface JudgedRequest {
  readonly request: ParsedRequest;
  /** Absent for a request in the form of its endpoint. */
  readonly translated?: Translated;
  readonly reading?: Reading;
}

export interface JudgedBatch extends Omit<ParsedBatch, 'items'> {
  readonly items: readonly ({ readonly endpoint: EndpointKey } & JudgedRequest)[];
}

export function judgeRequest(
  value: unknown,
  { endpoint, api, limits }: Extract<Question, { kind: 'request' }>,
): Judged<JudgedRequest> {
  return {
    submission: submissionOf(value, api),
    take: () =>
      api === null
        ? { request: parseRequest(endpoint, value, limits) }
        : parseTranslated(api, value, limits),
  };
}

export function judgeBatch(
  value: unknown,
  { limits }: Extract<Question, { kind: 'batch' }>,
): JudgedBatch {
  return parseBatch(value, limits);
}

/** A line of a file of requests. */
export interface JudgedLine extends Omit<BatchLine, 'take'> {
  readonly take: () => { readonly endpoint: EndpointKey } & JudgedRequest;
}

/** Throws an `ApiError` if the form of the line is wrong. */
export function judgeLine(value: unknown, limits: RequestLimits): JudgedLine {
  return parseBatchLine(value, limits);
}

/** A prompt in the form of Anthropic's API that is only counted. */
export interface CountedPrompt {
  readonly model: string;
  /** Estimated. */
  readonly tokens: number;
  /** The chat for a model server that counts; null if only the estimate counts it. */
  readonly chat: Uint8Array | null;
}

/** In the form of a chat. Longer than any model's context. */
const MAX_COUNTED_BYTES = 4 * 1024 * 1024;

/** Throws an `ApiError` if the request is not valid. */
export function countPrompt(value: unknown): CountedPrompt {
  const chat = toCountedChat(value);
  const model = String(chat['model']);
  return { model, tokens: estimatePromptTokens(chat), chat: chatToCount(model, chat) };
}

/** Tokenizers count text alone: images and sounds become tokens elsewhere. */
function chatToCount(model: string, chat: Readonly<Record<string, unknown>>): Uint8Array | null {
  for (const _medium of mediaIn(chat['messages'])) return null;
  const fields = TEMPLATE_FIELDS.flatMap((name): [string, unknown][] =>
    chat[name] === undefined ? [] : [[name, chat[name]]],
  );
  const written = Buffer.from(JSON.stringify({ model, ...Object.fromEntries(fields) }));
  return written.length > MAX_COUNTED_BYTES ? null : written;
}

/** Throws `invalid_json`. */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString();
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = text.trim() === '' ? 'it is empty' : (cause as Error).message;
    throw new ApiError('invalid_json', `The request body is not valid JSON: ${reason}.`);
  }
}

export function submissionOf(body: unknown, api: ApiName | null): Submission | null {
  if (typeof body !== 'object' || body === null) return null;
  if ('async' in body && body.async === true) return 'job';
  return api !== null && isBackground(api, body) ? 'background' : null;
}

/** By the `type` of a part of a message: the input kind that a model must accept. */
const INPUT_OF_PART: Readonly<Record<string, string>> = {
  image_url: 'image',
  input_image: 'image',
  input_audio: 'audio',
  audio_url: 'audio',
  video_url: 'video',
  input_video: 'video',
};

export interface MediaPart {
  readonly input: string;
  readonly param: string;
}

/** The parts of messages that are not text, in order. */
export function* mediaIn(messages: unknown): Generator<MediaPart> {
  if (!Array.isArray(messages)) return;
  for (const [at, message] of (messages as { readonly content?: unknown }[]).entries()) {
    const content = message?.content;
    // Plain text is by far the most common content, and has no parts.
    if (!Array.isArray(content)) continue;
    for (const [index, part] of (content as ({ readonly type?: unknown } | null)[]).entries()) {
      const type = part?.type;
      const input = typeof type === 'string' ? INPUT_OF_PART[type] : undefined;
      if (input !== undefined) yield { input, param: `messages[${at}].content[${index}]` };
    }
  }
}
