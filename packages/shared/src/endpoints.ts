/**
 * One row per inference endpoint of the specification, section 4. Routing, validation, matching,
 * the link and the agent's allow-list read this table; adding an endpoint is adding a row.
 */

export const SERVICE_TYPES = ['llm', 'stt', 'image', 'tts', 'video', 'music'] as const;
/**
 * What a model does. `video` and `music` extend the specification's four: their endpoints exist.
 */
export type ServiceType = (typeof SERVICE_TYPES)[number];

export type InferenceType = 'LLM' | 'IMAGE' | 'VIDEO' | 'MUSIC' | 'TTS';

/** How a request body arrives, and where the model's name is found in it. */
export type BodyKind = 'json' | 'multipart' | 'query';

/** What a caller gets: OpenAI JSON (or its event stream), a JSON document, or raw media bytes. */
export type AnswerKind = 'chat' | 'completion' | 'json' | 'bytes';

export interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Below `{base_url}`; a local OpenAI-compatible server has it below its own `/v1`. */
  readonly path: string;
  readonly serviceType: ServiceType;
  readonly body: BodyKind;
  readonly answer: AnswerKind;
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
    answer: 'json',
  }),
  speech: post('/audio/speech', 'json', { serviceType: 'tts', answer: 'bytes', job: 'TTS' }),
  voices: get('/audio/voices', { serviceType: 'tts', answer: 'json' }),
  images: post('/images/generations', 'json', {
    serviceType: 'image',
    answer: 'json',
    job: 'IMAGE',
  }),
  edits: post('/images/edits', 'multipart', { serviceType: 'image', answer: 'json' }),
  videos: post('/videos/generations', 'json', {
    serviceType: 'video',
    answer: 'bytes',
    job: 'VIDEO',
  }),
  music: post('/music/generations', 'json', {
    serviceType: 'music',
    answer: 'bytes',
    job: 'MUSIC',
  }),
  voice: post('/voice/generations', 'multipart', { serviceType: 'tts', answer: 'bytes' }),
} as const satisfies Record<string, Endpoint>;

/** The name of an endpoint on the link: the coordinator names a kind, never a URL. */
export type EndpointKey = keyof typeof ENDPOINTS;

export const ENDPOINT_KEYS = Object.keys(ENDPOINTS) as [EndpointKey, ...EndpointKey[]];

interface Row {
  readonly serviceType: ServiceType;
  readonly answer: AnswerKind;
  readonly job?: InferenceType;
}

function post(path: string, body: BodyKind, row: Row): Endpoint {
  const { serviceType, answer, job } = row;
  return { method: 'POST', path, serviceType, body, answer, inferenceType: job ?? null };
}

function get(path: string, row: Row): Endpoint {
  return { ...post(path, 'query', row), method: 'GET' };
}
