/** Successful answers of the inference endpoints, by kind. */
import type { Endpoint, EndpointKind } from '@inference-gateway/shared/endpoints';
import type { MediaFamily, MediaFormat } from '@inference-gateway/shared/media/types';
import { contentTypeOf, PCM } from '@inference-gateway/shared/media/types';
import * as examples from './examples.js';
import type { Answer, Content, MediaType } from './open-api.js';
import { jsonAnswer } from './operation.js';
import type { ParameterName } from './parameters.js';
import { CALLER_HEADERS, headers, PROVIDER_HEADERS } from './response-headers.js';
import type { HeaderName } from './response-headers.js';
import { ref } from './schemas.js';
import type { SchemaName } from './schemas.js';

/** The description of a kind of endpoints. */
export interface DescribedKind {
  /** The successful answer. */
  readonly describe: (endpoint: Endpoint) => Answer;
  /** Parameters besides those of every call. */
  readonly parameters?: readonly ParameterName[];
  /** Headers besides those of every submission. */
  readonly queuedHeaders?: readonly HeaderName[];
}

export type DescribedKinds = Readonly<Record<EndpointKind, DescribedKind>>;

export function inferenceAnswers(
  endpoint: Endpoint,
  { describe, queuedHeaders }: DescribedKind,
): Record<string, Answer> {
  if (endpoint.inferenceType === null) return { 200: describe(endpoint) };
  return { 200: describe(endpoint), 202: jobAnswer('The call is queued.', queuedHeaders) };
}

/** A submission, or the job of an earlier one with the same key. */
export function jobAnswer(description: string, also: readonly HeaderName[] = []): Answer {
  return jsonAnswer({
    schema: 'Job',
    description,
    example: examples.queuedJob,
    headers: [...CALLER_HEADERS, 'Idempotency-Replayed', ...also],
  });
}

export function chat(): Answer {
  const schemas = { whole: 'ChatCompletion', chunk: 'ChatCompletionChunk' } as const;
  return textAnswer(schemas, examples.chatCompletion);
}

export function tokenCount(): Answer {
  return jsonAnswer({
    schema: 'TokenCount',
    description: 'The tokens of the prompt.',
    example: { input_tokens: 14 },
    headers: [...CALLER_HEADERS, 'x-provider'],
  });
}

export function completion(): Answer {
  return textAnswer({ whole: 'Completion', chunk: 'CompletionChunk' }, examples.completion);
}

export function voices(): Answer {
  return jsonAnswer({
    schema: 'VoiceList',
    description: 'Their names.',
    example: { voices: ['af_heart', 'bm_george'] },
  });
}

export function embeddings(): Answer {
  return jsonAnswer({
    schema: 'EmbeddingList',
    description: 'A vector for each input, in their order.',
    example: examples.embeddingList,
    headers: [...PROVIDER_HEADERS, 'x-usage'],
  });
}

export function rerank(): Answer {
  return jsonAnswer({
    schema: 'Ranking',
    description: 'The documents by their relevance, the best first.',
    example: examples.ranking,
    headers: [...PROVIDER_HEADERS, 'x-usage'],
  });
}

export function images(): Answer {
  return jsonAnswer({
    schema: 'ImageResponse',
    description: 'The images, by `url` or, with `b64_json`, themselves.',
    example: examples.imageResponse,
    headers: PROVIDER_HEADERS,
  });
}

/** The schema of a stream is that of the JSON after each `data:`. */
function textAnswer(
  { whole, chunk }: Readonly<Record<'whole' | 'chunk', SchemaName>>,
  example: object,
): Answer {
  const plain = jsonAnswer({
    schema: whole,
    description:
      'JSON; or, with `stream: true`, events, each a `data:` line with one chunk, and the last ' +
      'one `data: [DONE]`. A failure in the middle is one more event, with the error object.',
    example,
    headers: [...PROVIDER_HEADERS, 'x-max-tokens', 'x-usage'],
  });
  const events: MediaType = { schema: { anyOf: [ref(chunk), ref('Error')] } };
  return { ...plain, content: { ...plain.content, 'text/event-stream': events } };
}

export function transcript(): Answer {
  const json = jsonAnswer({
    schema: 'Transcription',
    description:
      'The transcript; its text alone with `response_format: "text"`, subtitles with `srt` and ' +
      '`vtt`.',
    example: examples.transcription,
    headers: [...PROVIDER_HEADERS, 'x-downgraded'],
  });
  const text: MediaType = { schema: { type: 'string' } };
  return {
    ...json,
    content: {
      ...json.content,
      'text/plain': text,
      'application/x-subrip': text,
      'text/vtt': text,
    },
  };
}

export function file({ media }: Endpoint): Answer {
  return {
    description: 'The file as it is made; or its address, with `response_format: "url"`.',
    headers: headers(...PROVIDER_HEADERS, 'x-voice-fallback', 'x-asset-url'),
    content: {
      ...fileTypes(media ?? 'audio'),
      ...listContent(),
    },
  };
}

function listContent(): Content {
  const { content = {} } = jsonAnswer({
    schema: 'FileList',
    description: '',
    example: examples.imageResponse,
  });
  return content;
}

// Raw bytes of files as the content of an answer.

const FORMATS: Readonly<Record<MediaFamily, readonly MediaFormat[]>> = {
  image: ['png', 'jpeg', 'webp'],
  audio: ['wav', 'ogg', 'mp3', 'aac', 'flac', 'mp4', 'webm'],
  video: ['mp4', 'webm'],
};

const BYTES: MediaType = { schema: { type: 'string', format: 'binary' } };

/** Every content type in which a file of these families may come. */
export function fileTypes(...families: readonly MediaFamily[]): Content {
  const types = families.flatMap((family) =>
    FORMATS[family].map((format) => contentTypeOf(format, family) ?? format),
  );
  const all = families.includes('audio') ? [...types, PCM] : types;
  return Object.fromEntries(all.map((type) => [type, BYTES]));
}
