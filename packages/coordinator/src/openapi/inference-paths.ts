/** One operation for each row of the endpoint table. */
import { ENDPOINTS, ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';
import type { Endpoint, EndpointKey, UploadField } from '@inference-gateway/shared/endpoints';
import { contentTypeOf } from '@inference-gateway/shared/media/types';
import { REQUEST_SCHEMAS } from '@inference-gateway/shared/openai/request-schemas';
import type { ErrorAnswerName } from './error-answers.js';
import { REQUEST_EXAMPLES } from './examples.js';
import { inferenceAnswers } from './inference-answers.js';
import type { Operation, Paths, RequestBody, JsonSchema } from './open-api.js';
import { callerOperation, jsonBody, examplesOf } from './operation.js';
import type { ParameterName } from './parameters.js';
import type { SchemaName } from './schemas.js';
import { toJsonSchemas } from './to-json-schema.js';

export function inferencePaths(): Paths {
  const entries = ENDPOINT_KEYS.map((key) => {
    const { method, path } = ENDPOINTS[key];
    return [`/v1${path}`, { [method.toLowerCase()]: operationOf(key) }] as const;
  });
  return Object.fromEntries(entries);
}

/** Of the bodies that are JSON. */
const REQUESTS: Readonly<Partial<Record<EndpointKey, SchemaName>>> = {
  chat: 'ChatCompletionRequest',
  completions: 'CompletionRequest',
  speech: 'SpeechRequest',
  images: 'ImageRequest',
  videos: 'VideoRequest',
  music: 'MusicRequest',
};

function operationOf(key: EndpointKey): Operation {
  const { id, summary, description } = ENDPOINT_TEXTS[key];
  const body = bodyOf(key);
  const said = [description, jobNote(ENDPOINTS[key])].filter((text) => text !== '').join(' ');
  return callerOperation({
    id,
    tag: 'Inference',
    summary,
    ...(said !== '' && { description: said }),
    parameters: parametersOf(ENDPOINTS[key]),
    ...(body !== null && { body }),
    answers: inferenceAnswers(key),
    errors: errorsOf(ENDPOINTS[key]),
  });
}

function jobNote({ inferenceType }: Endpoint): string {
  return inferenceType === null
    ? ''
    : '`async: true` queues the call and answers 202 with the job; `async` and `webhook` are ' +
        'taken out of the body whether they are used or not.';
}

function parametersOf({ body, answer, inferenceType }: Endpoint): ParameterName[] {
  return [
    'ProviderScope',
    ...(answer === 'chat' ? (['ReasoningField'] as const) : []),
    ...(inferenceType === null ? [] : (['IdempotencyKey'] as const)),
    ...(body === 'query' ? (['VoiceModel'] as const) : []),
  ];
}

function bodyOf(key: EndpointKey): RequestBody | null {
  if (ENDPOINTS[key].body === 'multipart') return uploadBody(key);
  const schema = REQUESTS[key];
  return schema === undefined ? null : jsonBody(schema, REQUEST_EXAMPLES[key]);
}

function errorsOf(endpoint: Endpoint): ErrorAnswerName[] {
  if (endpoint.body === 'query') return ['InvalidQuery', 'NoProvider', 'Unavailable'];
  const isUpload = endpoint.body === 'multipart';
  const isJob = endpoint.inferenceType !== null;
  return [
    isUpload ? 'InvalidForm' : 'InvalidRequest',
    'NoProvider',
    isUpload ? 'UploadTooLarge' : 'BodyTooLarge',
    isUpload ? 'UnsupportedUpload' : 'UnsupportedBody',
    ...(isJob ? (['RateLimitedOrQueueFull'] as const) : []),
    'ProviderFailed',
    isJob ? 'UnavailableOrAsyncDisabled' : 'Unavailable',
    ...(endpoint.media === null ? [] : (['StorageFull'] as const)),
  ];
}

/** The specification's own name of it; the brackets may be left away. */
const LIST_NAMES: Readonly<Record<string, string>> = {
  timestamp_granularities: 'timestamp_granularities[]',
};

const FILE = { type: 'string', format: 'binary' } as const;

/** The form of an upload: its files from the endpoint's row, its fields from their schema. */
function uploadBody(key: EndpointKey): RequestBody {
  const { form = {} } = toJsonSchemas({ form: REQUEST_SCHEMAS[key] }, 'input');
  const { uploads } = ENDPOINTS[key];
  const files = uploads.filter(({ required }) => required).map(({ name }) => name);
  const schema: JsonSchema = {
    ...form,
    properties: {
      ...Object.fromEntries(uploads.map((upload) => [upload.name, fileSchema(upload)])),
      ...Object.fromEntries(Object.entries(form.properties ?? {}).map(renamed)),
    },
    required: [...files, ...(form.required ?? [])],
  };
  const media = { schema, ...examplesOf(REQUEST_EXAMPLES[key]) };
  return { required: true, content: { 'multipart/form-data': media } };
}

function renamed<T>([name, schema]: [string, T]): [string, T] {
  return [LIST_NAMES[name] ?? name, schema];
}

function fileSchema({ family, formats, most }: UploadField): JsonSchema {
  const types = formats.map((format) => contentTypeOf(format, family)).join(', ');
  const description = `Told by its first bytes: ${types}.`;
  if (most === 1) return { ...FILE, description };
  const several = { type: 'array', items: FILE, minItems: 1, maxItems: most } as const;
  return { anyOf: [FILE, several], description: `${description} Several repeat the field.` };
}

interface EndpointText {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
}

/** What is told of each inference endpoint beyond its row. */
const ENDPOINT_TEXTS: Readonly<Record<EndpointKey, EndpointText>> = {
  chat: {
    id: 'createChatCompletion',
    summary: 'Answer a conversation',
    description:
      'Media parts of `content` are `data:` URLs. With `stream: true` the answer is an event ' +
      'stream that ends with `data: [DONE]`.',
  },
  completions: {
    id: 'createCompletion',
    summary: 'Continue a text (legacy)',
    description: 'Chat completions are preferred.',
  },
  transcriptions: {
    id: 'createTranscription',
    summary: 'Write down what is said',
    description:
      'Audio in wav, mp3, m4a, flac, ogg or webm, up to 26,214,400 bytes. `verbose_json` with ' +
      'granularities is answered with the plain transcript where the model does not list ' +
      '`timestamps` in its `supported_features`. `srt` and `vtt` are subtitles, made of the ' +
      'segments; of a model that tells no times they are refused with 400.',
  },
  speech: {
    id: 'createSpeech',
    summary: 'Speak a text',
    description:
      'Formats other than `wav` and `opus` are served where the provider makes them, and else ' +
      'answered as wav: the content type tells.',
  },
  voices: { id: 'listVoices', summary: 'List the voices of a model', description: '' },
  images: { id: 'createImage', summary: 'Draw images', description: '' },
  edits: {
    id: 'createImageEdit',
    summary: 'Change an image',
    description: 'Images are png, jpeg or webp, up to 26,214,400 bytes each.',
  },
  videos: {
    id: 'createVideo',
    summary: 'Make a film',
    description: 'The film itself, or its address with `response_format: "url"`.',
  },
  music: {
    id: 'createMusic',
    summary: 'Make music',
    description: 'The music itself, or its address with `response_format: "url"`.',
  },
  voice: {
    id: 'createVoice',
    summary: 'Speak a text in the voice of a recording',
    description: 'Needs a model that lists `voice-cloning` in its `supported_features`.',
  },
};
