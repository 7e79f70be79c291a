/** An operation of the document, with the common parts of its kind. */
import { errorAnswers } from './error-answers.js';
import type { ErrorAnswerName } from './error-answers.js';
import type { Answer, Example, Operation, RequestBody } from './open-api.js';
import { parameters } from './parameters.js';
import type { ParameterName } from './parameters.js';
import { CALLER_HEADERS, headers } from './response-headers.js';
import type { HeaderName } from './response-headers.js';
import { ref } from './schemas.js';
import type { SchemaName } from './schemas.js';

export type Tag = 'Inference' | 'Models' | 'Files' | 'Jobs' | 'Batches' | 'Accounts' | 'Operation';

export interface OperationParts {
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ParameterName[];
  readonly body?: RequestBody;
  /** By status. */
  readonly answers: Readonly<Record<string, Answer>>;
  /** At most one per status. */
  readonly errors?: readonly ErrorAnswerName[];
}

/** With an API key. */
export function callerOperation(parts: OperationParts): Operation {
  return operation({ ...parts, errors: callerErrors(parts, 'Unauthenticated') }, 'apiKey');
}

/** With an API key, or the session of a browser. */
export function eitherOperation(parts: OperationParts): Operation {
  const errors = callerErrors(parts, 'NeitherKeyNorSession');
  const security = [{ apiKey: [] }, { session: [] }];
  return { ...operation({ ...parts, errors }, null), security };
}

/** With an API key, a session, or only a signed URL. */
export function linkedOperation(parts: OperationParts): Operation {
  const errors = callerErrors(parts, 'NeitherKeyNorLink');
  const security = [{ apiKey: [] }, { session: [] }, {}];
  return { ...operation({ ...parts, errors }, null), security };
}

function callerErrors(
  { errors = [] }: OperationParts,
  unauthenticated: ErrorAnswerName,
): readonly ErrorAnswerName[] {
  const isNamed = errors.some((name) => LIMITED.has(name));
  const limited = isNamed ? [] : (['RateLimited'] as const);
  return [...errors, unauthenticated, ...limited, 'InternalError'];
}

/** Answers that include the rate limit. */
const LIMITED: ReadonlySet<ErrorAnswerName> = new Set([
  'RateLimitedOrQueueFull',
  'CallLimited',
  'CallLimitedOrQueueFull',
]);

export function operation(parts: OperationParts, scheme: string | null): Operation {
  const { id, tag, summary, description, body, answers, errors = [] } = parts;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: scheme === null ? [] : [{ [scheme]: [] }],
    ...(parts.parameters !== undefined && { parameters: parameters(...parts.parameters) }),
    ...(body !== undefined && { requestBody: body }),
    responses: { ...answers, ...errorAnswers(errors) },
  };
}

interface JsonParts {
  readonly schema: SchemaName;
  readonly description: string;
  readonly example?: unknown;
  readonly headers?: readonly HeaderName[];
}

export function jsonAnswer(parts: JsonParts): Answer {
  const { schema, description, example, headers: names = CALLER_HEADERS } = parts;
  const media = { schema: ref(schema), ...examplesOf(example) };
  return { description, headers: headers(...names), content: { 'application/json': media } };
}

export function jsonBody(schema: SchemaName, example: unknown): RequestBody {
  const media = { schema: ref(schema), ...examplesOf(example) };
  return { required: true, content: { 'application/json': media } };
}

/** Empty if there is no example. */
export function examplesOf(value: unknown): { examples?: Record<string, Example> } {
  return value === undefined ? {} : { examples: { example: { value } } };
}
