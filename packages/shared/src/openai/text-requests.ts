/** The bodies of chat and completions (specification, section 4). */
import * as z from 'zod';
import { ApiError } from '../errors.js';
import { asyncFlag, check, listOf, modelName } from './check.js';
import { findForeignUrl } from './media-urls.js';

/** The specification's default, injected where the caller names none. */
const DEFAULT_TEMPERATURE = 0.7;

const CONTENT_RULE = 'it must be text or an array of parts';
const STOP_RULE = 'it must be text or an array of texts';

const temperature = z.number().min(0).max(2).nullish();
const maxTokens = z.int().min(1).nullish();

const chatMessage = z
  .looseObject({
    role: z.string().min(1),
    content: z.union([z.string(), listOf(z.looseObject({}))], CONTENT_RULE).nullish(),
    tool_calls: listOf(z.looseObject({})).nullish(),
  })
  .refine((value) => (value.content ?? null) !== null || mayLackContent(value), {
    path: ['content'],
    params: { missing: true },
  })
  .meta({ description: 'Only an assistant that calls tools may leave `content` away.' });

export const chatRequest = z.looseObject({
  model: modelName,
  messages: listOf(chatMessage).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature: temperature.meta({ default: DEFAULT_TEMPERATURE }),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: maxTokens,
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  stop: z.union([z.string(), listOf(z.string())], STOP_RULE).nullish(),
  async: asyncFlag,
});

export const completionRequest = z.looseObject({
  model: modelName,
  prompt: z.string(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature,
  max_tokens: maxTokens,
  async: asyncFlag,
});

/** The body as it goes to the provider. */
export function checkChat(value: unknown): Record<string, unknown> {
  const request = check(chatRequest, value);
  const foreign = findForeignUrl(request);
  if (foreign !== null) throw foreignUrl(foreign);
  return { ...request, temperature: request.temperature ?? DEFAULT_TEMPERATURE };
}

export function checkCompletion(value: unknown): Record<string, unknown> {
  return check(completionRequest, value);
}

export function foreignUrl(param: string): ApiError {
  const text =
    `'${param}' must be a data: URL. ` +
    'A model server would fetch any other inside a home network.';
  return new ApiError('unsupported_value', text, { param });
}

/** An assistant's turn may consist of tool calls alone. */
function mayLackContent(value: {
  role: string;
  tool_calls?: unknown[] | null | undefined;
}): boolean {
  return value.role === 'assistant' && (value.tool_calls?.length ?? 0) > 0;
}
