/**
 * One row per inference endpoint of the specification, section 4. Routing, validation, matching,
 * the link and the agent's allow-list read this table. Behaviour depends only on an endpoint's
 * kind, in one table for both ends (`openai/kinds.ts`), one in the coordinator
 * (`http/inference/kinds.ts`) and one in the agent (`backends/kinds.ts`).
 */
import type { MediaFamily, MediaFormat } from './media/types.js';

export const SERVICE_TYPES = [
  'llm',
  'stt',
  'image',
  'tts',
  'video',
  'music',
  'embedding',
  'rerank',
] as const;
/**
 * Types of models. Those from `video` on extend the specification's four: their endpoints exist.
 */
export type ServiceType = (typeof SERVICE_TYPES)[number];

/** Types of jobs, by the names in the specification, section 2, and two more in its way. */
export const INFERENCE_TYPES = [
  'LLM',
  'IMAGE',
  'VIDEO',
  'MUSIC',
  'TTS',
  'EMBEDDING',
  'RERANK',
] as const;
export type InferenceType = (typeof INFERENCE_TYPES)[number];

/** The form of a request body, and where the model's name is in it. */
export type BodyKind = 'json' | 'multipart' | 'query';

/** Endpoints of one kind are checked, answered, metered, described and proven in the same way. */
export const ENDPOINT_KINDS = [
  'chat',
  'count',
  'completion',
  'transcript',
  'translation',
  'voices',
  'images',
  'speech',
  'film',
  'music',
  'embeddings',
  'rerank',
] as const;
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];

/** A file of a form. */
export interface UploadField {
  readonly name: string;
  readonly family: MediaFamily;
  readonly formats: readonly MediaFormat[];
  readonly required: boolean;
  /** The largest number of files with that name. */
  readonly most: number;
}

const AUDIO = {
  family: 'audio',
  formats: ['wav', 'mp3', 'mp4', 'flac', 'ogg', 'webm'],
  required: true,
  most: 1,
} as const;
const IMAGE = { family: 'image', formats: ['png', 'jpeg', 'webp'] } as const;
/** OpenAI's own limit. */
const MAX_EDITED_IMAGES = 16;

export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Below `{base_url}`; a local OpenAI-compatible server has it below its own `/v1`. */
  readonly path: string;
  readonly serviceType: ServiceType;
  readonly body: BodyKind;
  /** The files of a multipart body; else empty. */
  readonly uploads: readonly UploadField[];
  readonly kind: EndpointKind;
  /** The type of an answer's files; null if an answer is text. */
  readonly media: MediaFamily | null;
  /** Null if the endpoint cannot run as a job (specification, Async submission). */
  readonly inferenceType: InferenceType | null;
  /** Many local servers lack it, and serve their models by the usual endpoint. */
  readonly isRare: boolean;
  /**
   * `gen_ai.operation.name` in metrics. OpenTelemetry has values only for text; the others name the
   * result.
   */
  readonly operation: string;
}

export const ENDPOINTS = {
  chat: post('/chat/completions', 'json', {
    kind: 'chat',
    serviceType: 'llm',
    job: 'LLM',
    operation: 'chat',
  }),
  token_counts: post('/messages/count_tokens', 'json', {
    kind: 'count',
    serviceType: 'llm',
    isRare: true,
    operation: 'token_count',
  }),
  completions: post('/completions', 'json', {
    kind: 'completion',
    serviceType: 'llm',
    job: 'LLM',
    isRare: true,
    operation: 'text_completion',
  }),
  transcriptions: post('/audio/transcriptions', 'multipart', {
    kind: 'transcript',
    serviceType: 'stt',
    uploads: [{ name: 'file', ...AUDIO }],
    operation: 'transcription',
  }),
  translations: post('/audio/translations', 'multipart', {
    kind: 'translation',
    serviceType: 'stt',
    uploads: [{ name: 'file', ...AUDIO }],
    isRare: true,
    operation: 'translation',
  }),
  speech: post('/audio/speech', 'json', {
    kind: 'speech',
    serviceType: 'tts',
    media: 'audio',
    job: 'TTS',
    operation: 'speech',
  }),
  voices: get('/audio/voices', { kind: 'voices', serviceType: 'tts', operation: 'voices' }),
  images: post('/images/generations', 'json', {
    kind: 'images',
    serviceType: 'image',
    media: 'image',
    job: 'IMAGE',
    operation: 'image_generation',
  }),
  edits: post('/images/edits', 'multipart', {
    kind: 'images',
    serviceType: 'image',
    uploads: [
      { name: 'image', ...IMAGE, required: true, most: MAX_EDITED_IMAGES },
      { name: 'mask', ...IMAGE, required: false, most: 1 },
    ],
    media: 'image',
    isRare: true,
    operation: 'image_edit',
  }),
  videos: post('/videos/generations', 'json', {
    kind: 'film',
    serviceType: 'video',
    media: 'video',
    job: 'VIDEO',
    operation: 'video_generation',
  }),
  music: post('/music/generations', 'json', {
    kind: 'music',
    serviceType: 'music',
    media: 'audio',
    job: 'MUSIC',
    operation: 'music_generation',
  }),
  embeddings: post('/embeddings', 'json', {
    kind: 'embeddings',
    serviceType: 'embedding',
    job: 'EMBEDDING',
    operation: 'embeddings',
  }),
  rerank: post('/rerank', 'json', {
    kind: 'rerank',
    serviceType: 'rerank',
    job: 'RERANK',
    operation: 'rerank',
  }),
  voice: post('/voice/generations', 'multipart', {
    kind: 'speech',
    serviceType: 'tts',
    uploads: [{ name: 'file', ...AUDIO }],
    media: 'audio',
    isRare: true,
    operation: 'voice_generation',
  }),
} as const satisfies Record<string, Endpoint>;

/** The name of an endpoint on the link: the coordinator names a kind, never a URL. */
export type EndpointKey = keyof typeof ENDPOINTS;

export const ENDPOINT_KEYS = Object.keys(ENDPOINTS) as [EndpointKey, ...EndpointKey[]];

/** The APIs that are translated to an endpoint (`openai/translated-apis.ts`), and their routes. */
export const API_ROUTES = {
  responses: { path: '/responses', endpoint: 'chat' },
  messages: { path: '/messages', endpoint: 'chat' },
} as const satisfies Record<string, { readonly path: string; readonly endpoint: EndpointKey }>;

export type ApiName = keyof typeof API_ROUTES;

/** Where requests of an endpoint come in; `api` is null for those in its own form. */
export function callPath({ endpoint, api }: Addressed): string {
  return `/v1${api === null ? ENDPOINTS[endpoint].path : API_ROUTES[api].path}`;
}

interface Addressed {
  readonly endpoint: EndpointKey;
  readonly api: ApiName | null;
}

/** Every path at which work for a model is requested, without those below another one. */
export const CALL_PATHS: readonly string[] = [
  ...ENDPOINT_KEYS.filter((key) => ENDPOINTS[key].method === 'POST').map((key) => ENDPOINTS[key]),
  ...Object.values(API_ROUTES),
]
  .map(({ path }) => `/v1${path}`)
  .filter((path, _, all) => !all.some((one) => path.startsWith(`${one}/`)));

interface Row {
  readonly kind: EndpointKind;
  readonly serviceType: ServiceType;
  readonly uploads?: readonly UploadField[];
  readonly media?: MediaFamily;
  readonly job?: InferenceType;
  readonly isRare?: boolean;
  readonly operation: string;
}

function post(path: string, body: BodyKind, row: Row): Endpoint {
  const { uploads = [], media = null, job: inferenceType = null, isRare = false, ...rest } = row;
  return { method: 'POST', path, body, uploads, media, inferenceType, isRare, ...rest };
}

function get(path: string, row: Row): Endpoint {
  return { ...post(path, 'query', row), method: 'GET' };
}
