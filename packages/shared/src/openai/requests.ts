/**
 * The request bodies of the JSON endpoints (specification, section 4): known fields are checked,
 * unknown ones pass unchanged, and `null` counts as absent.
 */
import * as z from 'zod';
import { ApiError } from '../errors.js';
import { findForeignUrl } from './media-urls.js';

/** The specification's default, injected where the caller names none. */
const DEFAULT_TEMPERATURE = 0.7;

/** Characters of a wrong value that are told back. */
const MAX_SHOWN = 80;

const model = z.string().min(1).max(256);
const CONTENT_RULE = 'it must be text or an array of parts';
const STOP_RULE = 'it must be text or an array of texts';

const temperature = z.number().min(0).max(2).nullish();
const maxTokens = z.int().min(1).nullish();

const message = z
  .looseObject({
    role: z.string().min(1),
    content: z.union([z.string(), listOf(z.looseObject({}))], CONTENT_RULE).nullish(),
    tool_calls: listOf(z.looseObject({})).nullish(),
  })
  .refine((value) => (value.content ?? null) !== null || mayLackContent(value), {
    path: ['content'],
    params: { missing: true },
  });

const chatRequest = z.looseObject({
  model,
  messages: listOf(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature,
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: maxTokens,
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  stop: z.union([z.string(), listOf(z.string())], STOP_RULE).nullish(),
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

/**
 * Looks no further than the first item that is wrong. zod's own lists note each, some 700 bytes a
 * time (measured), and 32 MiB hold 16 million of them.
 */
function listOf(item: z.ZodType) {
  return z.array(z.unknown()).check((list) => {
    for (const [index, value] of list.value.entries()) {
      if (item.safeParse(value).success) continue;
      const issue = item.safeParse(value, { reportInput: true }).error?.issues[0];
      list.issues.push({ ...issue, path: [index, ...(issue?.path ?? [])] } as z.core.$ZodRawIssue);
      return;
    }
  });
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

/** Lists and objects by their kind alone: they may be megabytes long, or too deep to be written. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
}
