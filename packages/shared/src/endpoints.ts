/**
 * One row per inference endpoint of the specification, section 4. Routing, validation, matching,
 * the link and the agent's allow-list read this table; adding an endpoint is adding a row.
 */
import type { MediaFamily, MediaFormat } from './media/types.js';

export const SERVICE_TYPES = ['llm', 'stt', 'image', 'tts', 'video', 'music'] as const;
/**
 * What a model does. `video` and `music` extend the specification's four: their endpoints exist.
 */
export type ServiceType = (typeof SERVICE_TYPES)[number];

/** What a job does, as the specification, section 2, names it. */
export const INFERENCE_TYPES = ['LLM', 'IMAGE', 'VIDEO', 'MUSIC', 'TTS'] as const;
export type InferenceType = (typeof INFERENCE_TYPES)[number];

/** How a request body arrives, and where the model's name is found in it. */
export type BodyKind = 'json' | 'multipart' | 'query';

/**
 * What a caller gets: OpenAI JSON (or its event stream), a transcript, names, a list of images, or
 * the bytes of one file.
 */
export type AnswerKind = 'chat' | 'completion' | 'transcription' | 'voices' | 'images' | 'file';

/** A file that a form may hold. */
export interface UploadField {
  readonly name: string;
  readonly family: MediaFamily;
  readonly formats: readonly MediaFormat[];
  readonly required: boolean;
  /** How many of that name. */
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
  /** The files of a multipart body; none elsewhere. */
  readonly uploads: readonly UploadField[];
  readonly answer: AnswerKind;
  /** What the files of an answer are; null where an answer is text. */
  readonly media: MediaFamily | null;
  /** Null where the endpoint cannot run as a job (specification, Async submission). */
  readonly inferenceType: InferenceType | null;
}

export const ENDPOINTS = {
  chat: post('/chat/completions', 'json', { serviceType: 'llm', answer: 'chat', job: 'LLM' }),
  completions: post('/completions', 'json', {
    serviceType: 'llm',
    answer: 'completion',
    job: 'LLM',
  }),
  transcriptions: post('/audio/transcriptions', 'multipart', {
    serviceType: 'stt',
    uploads: [{ name: 'file', ...AUDIO }],
    answer: 'transcription',
  }),
  speech: post('/audio/speech', 'json', {
    serviceType: 'tts',
    answer: 'file',
    media: 'audio',
    job: 'TTS',
  }),
  voices: get('/audio/voices', { serviceType: 'tts', answer: 'voices' }),
  images: post('/images/generations', 'json', {
    serviceType: 'image',
    answer: 'images',
    media: 'image',
    job: 'IMAGE',
  }),
  edits: post('/images/edits', 'multipart', {
    serviceType: 'image',
    uploads: [
      { name: 'image', ...IMAGE, required: true, most: MAX_EDITED_IMAGES },
      { name: 'mask', ...IMAGE, required: false, most: 1 },
    ],
    answer: 'images',
    media: 'image',
  }),
  videos: post('/videos/generations', 'json', {
    serviceType: 'video',
    answer: 'file',
    media: 'video',
    job: 'VIDEO',
  }),
  music: post('/music/generations', 'json', {
    serviceType: 'music',
    answer: 'file',
    media: 'audio',
    job: 'MUSIC',
  }),
  voice: post('/voice/generations', 'multipart', {
    serviceType: 'tts',
    uploads: [{ name: 'file', ...AUDIO }],
    answer: 'file',
    media: 'audio',
  }),
} as const satisfies Record<string, Endpoint>;

/** The name of an endpoint on the link: the coordinator names a kind, never a URL. */
export type EndpointKey = keyof typeof ENDPOINTS;

export const ENDPOINT_KEYS = Object.keys(ENDPOINTS) as [EndpointKey, ...EndpointKey[]];

interface Row {
  readonly serviceType: ServiceType;
  readonly uploads?: readonly UploadField[];
  readonly answer: AnswerKind;
  readonly media?: MediaFamily;
  readonly job?: InferenceType;
}

function post(path: string, body: BodyKind, row: Row): Endpoint {
  const { serviceType, uploads = [], answer, media = null, job: inferenceType = null } = row;
  return { method: 'POST', path, serviceType, body, uploads, answer, media, inferenceType };
}

function get(path: string, row: Row): Endpoint {
  return { ...post(path, 'query', row), method: 'GET' };
}
