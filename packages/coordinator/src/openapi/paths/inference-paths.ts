/** One operation for each row of the endpoint table that has a route of its own. */
import { ENDPOINTS, ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';
import type { Endpoint, EndpointKey, UploadField } from '@inference-gateway/shared/endpoints';
import { contentTypeOf } from '@inference-gateway/shared/media/types';
import { REQUEST_SCHEMAS } from '@inference-gateway/shared/openai/request-schemas';
import type { ErrorAnswerName } from '../error-answers.js';
import { ENDPOINT_TEXTS } from '../endpoint-texts.js';
import { inferenceAnswers } from '../inference-answers.js';
import type { DescribedKind, DescribedKinds } from '../inference-answers.js';
import type { Operation, Paths, RequestBody, JsonSchema } from '../open-api.js';
import { callerOperation, jsonBody, examplesOf } from '../operation.js';
import type { ParameterName } from '../parameters.js';
import { toJsonSchemas } from '../to-json-schema.js';

export function inferencePaths(kinds: DescribedKinds): Paths {
  const entries = ENDPOINT_KEYS.flatMap((key) => {
    const { method, path, kind } = ENDPOINTS[key];
    const text = ENDPOINT_TEXTS[key];
    if (text === null) return [];
    const operation = operationOf(key, text, kinds[kind]);
    return [[`/v1${path}`, { [method.toLowerCase()]: operation }] as const];
  });
  return Object.fromEntries(entries);
}

type Text = NonNullable<(typeof ENDPOINT_TEXTS)[EndpointKey]>;

function operationOf(key: EndpointKey, text: Text, kind: DescribedKind): Operation {
  const { id, summary, description } = text;
  const body = bodyOf(key, text);
  const said = [description, jobNote(ENDPOINTS[key])].filter((text) => text !== '').join(' ');
  return callerOperation({
    id,
    tag: 'Inference',
    summary,
    ...(said !== '' && { description: said }),
    parameters: parametersOf(ENDPOINTS[key], kind),
    ...(body !== null && { body }),
    answers: inferenceAnswers(ENDPOINTS[key], kind),
    errors: errorsOf(ENDPOINTS[key]),
  });
}

function jobNote({ inferenceType }: Endpoint): string {
  return inferenceType === null
    ? ''
    : '`async: true` queues the call and answers 202 with the job; `async` and `webhook` are ' +
        'taken out of the body whether they are used or not.';
}

function parametersOf({ inferenceType }: Endpoint, { parameters = [] }: DescribedKind) {
  const ofJobs = inferenceType === null ? [] : (['IdempotencyKey'] as const);
  return ['ProviderScope', ...parameters, ...ofJobs] satisfies ParameterName[];
}

function bodyOf(key: EndpointKey, { schema, example }: Text): RequestBody | null {
  if (ENDPOINTS[key].body === 'multipart') return uploadBody(key, example);
  return schema === null ? null : jsonBody(schema, example);
}

function errorsOf(endpoint: Endpoint): ErrorAnswerName[] {
  if (endpoint.body === 'query') return ['InvalidQuery', 'NoProvider', 'Unavailable'];
  const isUpload = endpoint.body === 'multipart';
  const isJob = endpoint.inferenceType !== null;
  return [
    isUpload ? 'InvalidForm' : 'InvalidRequest',
    'EndpointNotAllowed',
    'NoProvider',
    isUpload ? 'UploadTooLarge' : 'BodyTooLarge',
    isUpload ? 'UnsupportedUpload' : 'UnsupportedBody',
    isJob ? 'CallLimitedOrQueueFull' : 'CallLimited',
    'ProviderFailed',
    isJob ? 'UnavailableOrAsyncDisabled' : 'Unavailable',
    ...(endpoint.media === null ? [] : (['StorageFull'] as const)),
  ];
}

/** The name in the specification; the brackets are optional. */
const LIST_NAMES: Readonly<Record<string, string>> = {
  timestamp_granularities: 'timestamp_granularities[]',
};

const FILE = { type: 'string', format: 'binary' } as const;

/** The form of an upload: its files from the endpoint's row, its fields from their schema. */
function uploadBody(key: EndpointKey, example: object): RequestBody {
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
  const media = { schema, ...examplesOf(example) };
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
