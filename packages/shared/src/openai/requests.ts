/**
 * The request bodies of the JSON endpoints (specification, section 4): known fields are checked,
 * unknown ones pass unchanged, and `null` counts as absent.
 */
import * as z from 'zod';
import { ApiError } from '../errors.js';
import { findForeignUrl } from './media-urls.js';

/** The specification's default, injected where the caller names none. */
const DEFAULT_TEMPERATURE = 0.7;

const model = z.string().min(1).max(256);
const temperature = z.number().min(0).max(2).nullish();
const maxTokens = z.int().min(1).nullish();

const message = z
  .looseObject({
    role: z.string().min(1),
    content: z.union([z.string(), z.array(z.looseObject({}))]).nullish(),
    tool_calls: z.array(z.looseObject({})).nullish(),
  })
  .refine((value) => (value.content ?? null) !== null || mayLackContent(value), {
    path: ['content'],
    params: { missing: true },
  });

const chatRequest = z.looseObject({
  model,
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature,
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: maxTokens,
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  async: z.boolean().nullish(),
});

const completionRequest = z.looseObject({
  model,
  prompt: z.string(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature,
  max_tokens: maxTokens,
  async: z.boolean().nullish(),
});

const modelRequest = z.looseObject({ model, async: z.boolean().nullish() });

/** A checked request: `async` is taken out of the body, whatever it was. */
export interface ParsedRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly async: boolean;
  readonly body: Record<string, unknown>;
}

/** Checks the body of `POST /chat/completions`; throws an `ApiError` that names the field. */
export function parseChatRequest(value: unknown): ParsedRequest {
  const request = parse(chatRequest, value);
  const foreign = findForeignUrl(request);
  if (foreign !== null) {
    const text =
      `'${foreign}' must be a data: URL. ` +
      'A model server would fetch any other inside a home network.';
    throw new ApiError('unsupported_value', text, { param: foreign });
  }
  return finish({ ...request, temperature: request.temperature ?? DEFAULT_TEMPERATURE });
}

/** Checks the body of `POST /completions`. */
export function parseCompletionRequest(value: unknown): ParsedRequest {
  return finish(parse(completionRequest, value));
}

/** Checks what every JSON endpoint has in common: the model. */
export function parseModelRequest(value: unknown): ParsedRequest {
  return finish(parse(modelRequest, value));
}

function finish(request: z.infer<typeof modelRequest>): ParsedRequest {
  const { async: asynchronous, ...body } = request;
  const stream = body['stream'] === true;
  return { model: body.model, stream, async: asynchronous === true, body };
}

/** An assistant's turn may consist of tool calls alone. */
function mayLackContent(value: {
  role: string;
  tool_calls?: unknown[] | null | undefined;
}): boolean {
  return value.role === 'assistant' && (value.tool_calls?.length ?? 0) > 0;
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw toApiError(parsed.error.issues[0]);
}

/** The first thing wrong, in the words of the caller's own body. */
function toApiError(issue: z.core.$ZodIssue | undefined): ApiError {
  if (issue === undefined) return new ApiError('invalid_value', 'The request is not valid.');
  const param = fieldName(issue.path);
  const absent = issue.input === undefined || issue.input === null || isMissing(issue);
  if (absent && param !== '') {
    const text = `Missing required parameter: '${param}'. Add it to the request body.`;
    return new ApiError('missing_required_parameter', text, { param });
  }
  const wrongType = issue.code === 'invalid_type' || issue.code === 'invalid_union';
  const code = wrongType ? 'invalid_type' : 'invalid_value';
  const subject = param === '' ? 'The request body' : `'${param}'`;
  const text = `${subject} is ${show(issue.input)}: ${issue.message}.`;
  return new ApiError(code, text, param === '' ? {} : { param });
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'custom' && issue.params?.['missing'] === true;
}

/** `messages[0].role`, as the field's own documentation writes it. */
function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
