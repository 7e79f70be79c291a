/**
 * The schemas of the endpoints' requests (specification, section 4; `videos`, `music` and `voice`
 * as decided). Only known fields are checked: all others pass unchanged.
 */
import * as z from 'zod';
import type { EndpointKey } from '../endpoints.js';
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
/** Number of answers per prompt. */
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

const chatRequest = z.looseObject({
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

/** What a chat template reads of a chat request: `TEMPLATE_FIELDS`. */
const countedChat = z.looseObject({
  model: modelName,
  messages: listOf(chatMessage).min(1),
  tools: listOf(z.looseObject({})).nullish(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.boolean().nullish(),
  chat_template_kwargs: z.looseObject({}).nullish(),
});

/** Checked in one pass without a schema per item: a prompt may have a million token ids. */
const anyPrompt = z.unknown().check((checked) => {
  const fault = promptFault(checked.value);
  if (fault !== null) checked.issues.push(fault as z.core.$ZodRawIssue);
});
LIST_ITEMS.set(
  anyPrompt,
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

const completionRequest = z.looseObject({
  model: modelName,
  prompt: anyPrompt,
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  temperature,
  max_tokens: maxTokens,
  n: answers,
  echo: z.boolean().nullish(),
  async: asyncFlag,
});

// Speech, images, films and music, and the fields of upload forms.

const MAX_PROMPT_CHARACTERS = 32_000;
const MIN_SIDE = 64;
const MAX_SIDE = 4_096;
const SIZE_RULE = `it must be <width>x<height>, each from ${MIN_SIDE} to ${MAX_SIDE}`;

const COUNT_RULE = 'How many; 1 where it is left away, and clamped to what the operator allows.';

const text = z.string().max(MAX_PROMPT_CHARACTERS);
const prompt = text.min(1);
const seed = z.int().nullish();
const side = z.int().min(MIN_SIDE).max(MAX_SIDE).nullish();
const speechFormat = z.enum(['wav', 'opus', 'mp3', 'aac', 'flac', 'pcm']).nullish();
const fileFormat = z.literal('url').nullish();
const size = z
  .string()
  // OpenAI's value for the model's default, which is the same as no size here.
  .transform((written) => (written === 'auto' ? null : written))
  .refine((written) => written === null || isSize(written), SIZE_RULE)
  .meta({ description: `${SIZE_RULE}, or auto`, pattern: String.raw`^(auto|\d{1,5}x\d{1,5})$` })
  .nullish();
const notStreamed = z
  .boolean()
  .refine((on) => !on, {
    message: 'the answer is not streamed here, leave it away',
    params: { unsupported: true },
  })
  .meta({ const: false })
  .nullish();

const speechRequest = z.looseObject({
  model: modelName,
  input: z.string().min(1),
  voice: z.string().min(1).max(256).nullish(),
  response_format: speechFormat,
  language: z.string().max(64).nullish(),
  speed: z.number().min(0.25).max(4).nullish(),
  stream_format: z
    .string()
    .refine((format) => format === 'audio', {
      message: 'only audio is streamed here, leave it away or send audio',
      params: { unsupported: true },
    })
    .meta({ const: 'audio' })
    .nullish(),
  async: asyncFlag,
});

const imageFields = {
  model: modelName,
  prompt,
  n: z.int().nullish().meta({ description: COUNT_RULE }),
  size,
  response_format: z.enum(['url', 'b64_json']).nullish(),
};
const imageRequest = z.looseObject({
  ...imageFields,
  stream: notStreamed,
  async: asyncFlag,
});
const editForm = z.looseObject({
  ...imageFields,
  n: numeric(z.int()).meta({ description: COUNT_RULE }),
  stream: flag(notStreamed),
});

const videoRequest = z.looseObject({
  model: modelName,
  prompt,
  negative_prompt: text.nullish(),
  image: z.string().nullish(),
  duration: z.number().positive().max(600).nullish(),
  fps: z.int().min(1).max(120).nullish(),
  width: side,
  height: side,
  num_inference_steps: z.int().min(1).max(1_000).nullish(),
  guidance_scale: z.number().min(0).max(100).nullish(),
  seed,
  response_format: fileFormat,
  async: asyncFlag,
});

const musicRequest = z.looseObject({
  model: modelName,
  prompt,
  lyrics: text.nullish(),
  audio_duration: z.number().positive().max(600).nullish(),
  audio_format: z.string().max(16).nullish(),
  seed,
  response_format: fileFormat,
  async: asyncFlag,
});

const transcriptionForm = z.looseObject({
  model: modelName,
  language: z.string().max(64).nullish(),
  prompt: text.nullish(),
  response_format: z.enum(['json', 'text', 'verbose_json', 'srt', 'vtt']).nullish(),
  timestamp_granularities: listOf(z.enum(['word', 'segment'])).nullish(),
  temperature: numeric(z.number().min(0).max(1)),
  stream: flag(notStreamed),
});

/** Into English, whatever is spoken. */
const translationForm = transcriptionForm.omit({ language: true });

const voiceForm = z.looseObject({
  model: modelName,
  input: z.string().min(1),
  transcript: text.nullish(),
  response_format: speechFormat,
});

/** OpenAI's own limit. */
export const MAX_INPUTS = 2_048;

const INPUT_RULE =
  `it must be a text, a list of at most ${MAX_INPUTS} texts, a list of token ids, or a list of ` +
  'such lists, none of them empty';

/** Checked in one pass, as a prompt. */
const anyInput = z.unknown().check((checked) => {
  const fault = inputFault(checked.value);
  if (fault !== null) checked.issues.push(fault as z.core.$ZodRawIssue);
});
LIST_ITEMS.set(
  anyInput,
  z.union([
    z.string().min(1),
    z.array(z.string().min(1)).min(1).max(MAX_INPUTS),
    z.array(z.int().min(0)).min(1),
    z
      .array(z.array(z.int().min(0)).min(1))
      .min(1)
      .max(MAX_INPUTS),
  ]),
);

/** More than any model has. */
const MAX_DIMENSIONS = 65_536;

const embeddingsRequest = z.looseObject({
  model: modelName,
  input: anyInput,
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).max(MAX_DIMENSIONS).nullish(),
  stream: notStreamed,
  async: asyncFlag,
});

const rerankRequest = z.looseObject({
  model: modelName,
  query: z.string().min(1),
  documents: listOf(
    z.union([z.string(), z.looseObject({ text: z.string() })], 'it must be a text, or have one'),
  )
    .min(1)
    .max(MAX_INPUTS),
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
  stream: notStreamed,
  async: asyncFlag,
});

const voicesQuery = z.looseObject({ model: modelName });

/** The text fields; the files of a form are in the endpoint's row. */
export const REQUEST_SCHEMAS = {
  chat: chatRequest,
  token_counts: countedChat,
  completions: completionRequest,
  transcriptions: transcriptionForm,
  translations: translationForm,
  speech: speechRequest,
  voices: voicesQuery,
  images: imageRequest,
  edits: editForm,
  videos: videoRequest,
  music: musicRequest,
  embeddings: embeddingsRequest,
  rerank: rerankRequest,
  voice: voiceForm,
} as const satisfies Record<EndpointKey, z.ZodType>;

/** The error of a prompt and its path; null if there is none. */
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

/** The same of an input: a prompt that is not empty, of which there may be more. */
function inputFault(value: unknown): object | null {
  const fault = promptFault(value);
  if (fault !== null) return { ...fault, message: INPUT_RULE };
  if (value === '') return outside(value, []);
  if (!Array.isArray(value) || typeof value[0] === 'number') return null;
  if (value.length > MAX_INPUTS) return outside(value, []);
  const empty = (value as unknown[]).indexOf('');
  return empty === -1 ? null : outside('', [empty]);
}

function outside(input: unknown, path: readonly number[]): object {
  return { code: 'custom', input, path, message: INPUT_RULE };
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

/** Fields that an assistant message may have without content, as in OpenAI's own answers. */
const INSTEAD_OF_CONTENT = ['function_call', 'refusal', 'audio'];

function mayLackContent(value: Readonly<Record<string, unknown>> & { role: string }): boolean {
  if (value.role !== 'assistant') return false;
  const { tool_calls: calls } = value;
  if (Array.isArray(calls) && calls.length > 0) return true;
  return INSTEAD_OF_CONTENT.some((name) => (value[name] ?? null) !== null);
}

/** Form fields are strings: numbers are parsed. */
function numeric(number: z.ZodNumber | z.ZodInt) {
  return z.preprocess(readNumber, number.nullish());
}

/** Python sends `True`, others send 1. */
function flag(boolean: z.ZodType<boolean | null | undefined>) {
  return z.preprocess(
    (written) =>
      typeof written === 'string' ? (FLAGS.get(written.toLowerCase()) ?? written) : written,
    boolean,
  );
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

function readNumber(written: unknown): unknown {
  const isNumber = typeof written === 'string' && /^-?\d+(\.\d+)?$/.test(written);
  return isNumber ? Number(written) : written;
}

function isSize(written: string): boolean {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(written) ?? [];
  return [Number(width), Number(height)].every((one) => one >= MIN_SIDE && one <= MAX_SIDE);
}
