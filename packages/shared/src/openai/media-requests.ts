/**
 * The bodies of speech, image, video and music requests, and the fields of upload forms
 * (specification, section 4; `videos`, `music` and `voice` as decided).
 */
import * as z from 'zod';
import { asyncFlag, listOf, modelName } from './check.js';

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
  // OpenAI's own word for "as the model likes", which is what no size means here.
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

export const speechRequest = z.looseObject({
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
export const imageRequest = z.looseObject({
  ...imageFields,
  stream: notStreamed,
  async: asyncFlag,
});
export const editForm = z.looseObject({
  ...imageFields,
  n: numeric(z.int()).meta({ description: COUNT_RULE }),
  stream: flag(notStreamed),
});

export const videoRequest = z.looseObject({
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

export const musicRequest = z.looseObject({
  model: modelName,
  prompt,
  lyrics: text.nullish(),
  audio_duration: z.number().positive().max(600).nullish(),
  audio_format: z.string().max(16).nullish(),
  seed,
  response_format: fileFormat,
  async: asyncFlag,
});

export const transcriptionForm = z.looseObject({
  model: modelName,
  language: z.string().max(64).nullish(),
  prompt: text.nullish(),
  response_format: z.enum(['json', 'text', 'verbose_json', 'srt', 'vtt']).nullish(),
  timestamp_granularities: listOf(z.enum(['word', 'segment'])).nullish(),
  temperature: numeric(z.number().min(0).max(1)),
  stream: flag(notStreamed),
});

export const voiceForm = z.looseObject({
  model: modelName,
  input: z.string().min(1),
  transcript: text.nullish(),
  response_format: speechFormat,
});

export const voicesQuery = z.looseObject({ model: modelName });

/** Form fields are texts: a number is read from one. */
function numeric(number: z.ZodNumber | z.ZodInt) {
  return z.preprocess(readNumber, number.nullish());
}

/** Python writes `True`, and others write 1. */
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
