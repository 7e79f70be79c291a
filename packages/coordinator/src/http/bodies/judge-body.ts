/** From the bytes of a JSON body to a checked request: on the loop, or in a thread beside it. */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { parseBatch } from '@inference-gateway/shared/openai/batch-requests';
import type { ParsedBatch } from '@inference-gateway/shared/openai/batch-requests';
import { parseRequest } from '@inference-gateway/shared/openai/requests';
import type { ParsedRequest, RequestLimits } from '@inference-gateway/shared/openai/requests';

/** What is asked of a body. */
export type Question =
  | {
      readonly kind: 'request';
      readonly endpoint: EndpointKey;
      readonly limits: RequestLimits;
      /** Whose conversation it may go on with. */
      readonly memberId: string;
    }
  | { readonly kind: 'batch'; readonly limits: RequestLimits };

/** A body that is JSON. */
export interface Judged<T> {
  /** Whether it says `async: true`, whatever else is wrong with it. */
  readonly isSubmission: boolean;
  /** Throws an `ApiError` if the request is not what its endpoint takes. */
  readonly take: () => T;
}

/** What is asked of messages that are no values of the body any more. */
export interface Reading {
  /** The first part of every kind of media. */
  readonly media: readonly MediaPart[];
  /** The conversations that it may go on with. */
  readonly prefixes: readonly string[];
}

/** A request, and what was read of it in the thread; absent, it is read from the body. */
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

/** By the `type` of a part of a message: what a model must take beside text. */
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

/** The parts of messages that are more than text, in their order. */
export function* mediaIn(messages: unknown): Generator<MediaPart> {
  if (!Array.isArray(messages)) return;
  for (const [at, message] of (messages as { readonly content?: unknown }[]).entries()) {
    const content = message?.content;
    // Plain text is by far the commonest content and holds no parts.
    if (!Array.isArray(content)) continue;
    for (const [index, part] of (content as ({ readonly type?: unknown } | null)[]).entries()) {
      const type = part?.type;
      const input = typeof type === 'string' ? INPUT_OF_PART[type] : undefined;
      if (input !== undefined) yield { input, param: `messages[${at}].content[${index}]` };
    }
  }
}
