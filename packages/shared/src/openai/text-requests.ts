/** The bodies of chat and completions (specification, section 4). */
import * as z from 'zod';
import { asyncFlag, LIST_ITEMS, listOf, modelName } from './check.js';
import { DEFAULT_TEMPERATURE, NO_LIMIT } from './kinds.js';
import { MAX_SEQUENCES } from './tokens.js';

const CONTENT_RULE = 'it must be text or an array of parts';
const STOP_RULE = 'it must be text or an array of texts';

const PROMPT_RULE =
  'it must be text, a list of texts, a list of token ids, or a list of such lists';

const temperature = z.number().min(0).max(2).nullish();
const maxTokens = z
  .int()
  .min(NO_LIMIT)
  .refine((limit) => limit !== 0, `it must be at least 1, or ${NO_LIMIT} for no limit`)
  .meta({ description: `At least 1; ${NO_LIMIT} counts as absent.` })
  .nullish();
/** Answers to each prompt. */
const answers = z.int().min(1).max(MAX_SEQUENCES).nullish();

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
  .meta({
    description:
      'Only an assistant with `tool_calls`, `function_call`, `refusal` or `audio` may leave ' +
      '`content` away.',
  });

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
  n: answers,
  async: asyncFlag,
});

/** Checked in one pass and without a schema an item: a prompt may be a million token ids long. */
const prompt = z.unknown().check((checked) => {
  const fault = promptFault(checked.value);
  if (fault !== null) checked.issues.push(fault as z.core.$ZodRawIssue);
});
LIST_ITEMS.set(
  prompt,
  z.union([
    z.string(),
    z.array(z.string()).min(1).max(MAX_SEQUENCES),
    z.array(z.int().min(0)).min(1),
    z
      .array(z.array(z.int().min(0)).min(1))
      .min(1)
      .max(MAX_SEQUENCES),
  ]),
);

export const completionRequest = z.looseObject({
  model: modelName,
  prompt,
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature,
  max_tokens: maxTokens,
  n: answers,
  echo: z.boolean().nullish(),
  async: asyncFlag,
});

/** What is wrong with a prompt, and where in it; null where nothing is. */
function promptFault(value: unknown): object | null {
  if (typeof value === 'string') return null;
  if (!Array.isArray(value) || value.length === 0) return notA('string', value, []);
  if (typeof value[0] === 'number') return tokensFault(value, []);
  const faultOf = typeof value[0] === 'string' ? textFault : tokensFault;
  for (const [index, item] of (value as unknown[]).entries()) {
    const fault = faultOf(item, [index]);
    if (fault !== null) return fault;
  }
  return null;
}

function textFault(value: unknown, path: readonly number[]): object | null {
  return typeof value === 'string' ? null : notA('string', value, path);
}

function tokensFault(value: unknown, path: readonly number[]): object | null {
  if (!Array.isArray(value) || value.length === 0) return notA('array', value, path);
  const index = (value as unknown[]).findIndex((id) => !Number.isSafeInteger(id) || Number(id) < 0);
  return index === -1 ? null : notA('int', value[index], [...path, index]);
}

function notA(expected: string, input: unknown, path: readonly number[]): object {
  return { code: 'invalid_type', expected, input, path, message: PROMPT_RULE };
}

/** What an assistant's turn may consist of alone, as OpenAI's own answers do. */
const INSTEAD_OF_CONTENT = ['function_call', 'refusal', 'audio'];

function mayLackContent(value: Readonly<Record<string, unknown>> & { role: string }): boolean {
  if (value.role !== 'assistant') return false;
  const { tool_calls: calls } = value;
  if (Array.isArray(calls) && calls.length > 0) return true;
  return INSTEAD_OF_CONTENT.some((name) => (value[name] ?? null) !== null);
}
