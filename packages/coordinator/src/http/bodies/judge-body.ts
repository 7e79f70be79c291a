/** From the bytes of a JSON body to a checked request: on the event loop, or in a thread. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { parseBatch } from '@inference-gateway/shared/openai/batch-requests';
import type { ParsedBatch } from '@inference-gateway/shared/openai/batch-requests';
import { parseRequest } from '@inference-gateway/shared/openai/requests';
import type { ParsedRequest, RequestLimits } from '@inference-gateway/shared/openai/requests';

/** What a body is checked for. */
export type Question =
  | {
      readonly kind: 'request';
      readonly endpoint: EndpointKey;
      readonly limits: RequestLimits;
      /** The caller whose conversation it may continue. */
      readonly memberId: string;
    }
  | { readonly kind: 'batch'; readonly limits: RequestLimits };

/** A body that is JSON. */
export interface Judged<T> {
  /** Whether it says `async: true`, even if something else is wrong with it. */
  readonly isSubmission: boolean;
  /** Throws an `ApiError` if the request is not valid for its endpoint. */
  readonly take: () => T;
}

/** What is read from messages that are no longer values of the body. */
export interface Reading {
  /** The first part of each kind of media. */
  readonly media: readonly MediaPart[];
  /** The conversations that it may continue. */
  readonly prefixes: readonly string[];
}

/** A request, and what the thread has read from it; absent: read from the body. */
export interface JudgedRequest {
  readonly request: ParsedRequest;
  readonly reading?: Reading;
}

export interface JudgedBatch extends Omit<ParsedBatch, 'items'> {
  readonly items: readonly ({ readonly endpoint: EndpointKey } & JudgedRequest)[];
}

export function judgeRequest(
  value: unknown,
  { endpoint, limits }: Extract<Question, { kind: 'request' }>,
): Judged<JudgedRequest> {
  return {
    isSubmission: isSubmission(value),
    take: () => ({ request: parseRequest(endpoint, value, limits) }),
  };
}

export function judgeBatch(
  value: unknown,
  { limits }: Extract<Question, { kind: 'batch' }>,
): JudgedBatch {
  return parseBatch(value, limits);
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

export function isSubmission(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'async' in body && body.async === true;
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
