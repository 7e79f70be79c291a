/** One operation for each row of the endpoint table. */
import { ENDPOINTS, ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';
import type { Endpoint, EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ErrorAnswerName } from './error-answers.js';
import { ENDPOINT_TEXTS } from './endpoint-texts.js';
import { REQUEST_EXAMPLES } from './examples.js';
import { inferenceAnswers } from './inference-answers.js';
import type { Operation, Paths, RequestBody } from './open-api.js';
import { callerOperation, jsonBody } from './operation.js';
import type { ParameterName } from './parameters.js';
import type { SchemaName } from './schemas.js';
import { uploadBody } from './upload-body.js';

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
