/** The APIs that are translated to chat completions. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { API_NAMES, TRANSLATED_APIS } from '@inference-gateway/shared/openai/translated-apis';
import type { ApiName } from '@inference-gateway/shared/openai/translated-apis';
import type { ErrorAnswerName } from '../error-answers.js';
import * as examples from '../examples.js';
import { jobAnswer, tokenCount } from '../inference-answers.js';
import type { Answer, Operation, Paths } from '../open-api.js';
import { callerOperation, jsonAnswer, jsonBody } from '../operation.js';
import { headers, PLAIN_HEADERS, PROVIDER_HEADERS } from '../response-headers.js';
import { ref } from '../schemas.js';
import type { SchemaName } from '../schemas.js';

interface Described {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly request: { readonly schema: SchemaName; readonly example: object };
  readonly answer: { readonly schema: SchemaName; readonly example: object };
  readonly event: SchemaName;
}

const QUESTION = 'Why is the sky blue?';

const DESCRIBED: Readonly<Record<ApiName, Described>> = {
  responses: {
    id: 'createResponse',
    summary: 'Answer a conversation, by OpenAI’s Responses API',
    description:
      'Any `llm` model serves it. The gateway keeps no conversations: `previous_response_id` and ' +
      '`conversation` are refused, and `store` is ignored. Tools that only OpenAI can run are ' +
      'left out, and named in `x-ignored-tools`. With `background: true` the answer is a ' +
      'response that is `queued`.',
    request: {
      schema: 'ResponseRequest',
      example: { model: 'llama3.1:8b', input: QUESTION },
    },
    answer: { schema: 'Response', example: examples.response },
    event: 'ResponseEvent',
  },
  messages: {
    id: 'createMessage',
    summary: 'Answer a conversation, by Anthropic’s Messages API',
    description:
      'Any `llm` model serves it. The key may be sent as `x-api-key`. Tools that only Anthropic ' +
      'can run are left out, and named in `x-ignored-tools`.',
    request: {
      schema: 'MessagesRequest',
      example: {
        model: 'llama3.1:8b',
        max_tokens: 256,
        messages: [{ role: 'user', content: QUESTION }],
      },
    },
    answer: { schema: 'Message', example: examples.message },
    event: 'MessageEvent',
  },
};

/** Of a call that a provider answers and that may run as a job. */
const CALL_ERRORS = [
  'InvalidRequest',
  'EndpointNotAllowed',
  'NoProvider',
  'BodyTooLarge',
  'UnsupportedBody',
  'CallLimitedOrQueueFull',
  'ProviderFailed',
  'UnavailableOrAsyncDisabled',
] as const satisfies readonly ErrorAnswerName[];

export function translatedPaths(): Paths {
  const calls = API_NAMES.map((api) => {
    const { path } = TRANSLATED_APIS[api];
    return [`/v1${path}`, { post: operationOf(api) }] as const;
  });
  return {
    ...Object.fromEntries(calls),
    '/v1/responses/{id}': { get: getResponse() },
    '/v1/responses/{id}/cancel': { post: cancelResponse() },
    '/v1/messages/count_tokens': { post: inMessagesForm(countTokens()) },
  };
}

function operationOf(api: ApiName): Operation {
  const { id, summary, description, request, answer, event } = DESCRIBED[api];
  const isJob = ENDPOINTS[TRANSLATED_APIS[api].endpoint].inferenceType !== null;
  const operation = callerOperation({
    id,
    tag: 'Inference',
    summary,
    description,
    parameters: ['ProviderScope', 'IdempotencyKey'],
    body: jsonBody(request.schema, request.example),
    answers: {
      200: eventsToo(answer, event),
      ...(isJob && { 202: jobAnswer('The call is queued.', ['x-ignored-tools']) }),
    },
    errors: CALL_ERRORS,
  });
  return api === 'messages' ? inMessagesForm(operation) : operation;
}

function eventsToo({ schema, example }: Described['answer'], event: SchemaName): Answer {
  const plain = jsonAnswer({
    schema,
    description: 'JSON; or, with `stream: true`, the API’s own events.',
    example,
    headers: [...PROVIDER_HEADERS, 'x-max-tokens', 'x-usage', 'x-ignored-tools'],
  });
  return { ...plain, content: { ...plain.content, 'text/event-stream': { schema: ref(event) } } };
}

function getResponse(): Operation {
  return callerOperation({
    id: 'getResponse',
    tag: 'Jobs',
    summary: 'Get a response that runs in the background',
    parameters: ['ResponseId'],
    answers: { 200: responseAnswer() },
    errors: ['InvalidQuery', 'JobNotFound', 'UnavailableOrAsyncDisabled'],
  });
}

function cancelResponse(): Operation {
  return callerOperation({
    id: 'cancelResponse',
    tag: 'Jobs',
    summary: 'Cancel a response that is queued or in progress',
    parameters: ['ResponseId'],
    answers: { 200: responseAnswer() },
    errors: ['JobNotFound', 'UnavailableOrAsyncDisabled'],
  });
}

function responseAnswer(): Answer {
  return jsonAnswer({
    schema: 'Response',
    description: 'The response as it is now.',
    example: examples.response,
  });
}

function countTokens(): Operation {
  return callerOperation({
    id: 'countTokens',
    tag: 'Inference',
    summary: 'Count the tokens of a message before it is sent',
    description:
      'Counted by the model server of a provider, which `x-provider` names; no slot is taken. ' +
      'Estimated, with `estimated: true`, where none counts within 3 s.',
    parameters: ['ProviderScope'],
    body: jsonBody('TokenCountRequest', {
      model: 'llama3.1:8b',
      messages: [{ role: 'user', content: QUESTION }],
    }),
    answers: {
      200: tokenCount(),
    },
    errors: [
      'InvalidRequest',
      'EndpointNotAllowed',
      'NoProvider',
      'BodyTooLarge',
      'UnsupportedBody',
      'Unavailable',
    ],
  });
}

/** Every error has the envelope of Anthropic's API. */
function inMessagesForm(operation: Operation): Operation {
  const errors = Object.keys(operation.responses).filter((status) => Number(status) >= 400);
  const told: Answer = {
    description: 'The error, in the form of Anthropic’s API.',
    headers: headers(...PLAIN_HEADERS),
    content: { 'application/json': { schema: ref('MessagesError') } },
  };
  const answers = Object.fromEntries(errors.map((status) => [status, told]));
  return { ...operation, responses: { ...operation.responses, ...answers } };
}
