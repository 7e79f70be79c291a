/**
 * Answers of text and speech models (specification, section 2). Further fields of providers are
 * passed on unchanged.
 */
import * as z from 'zod';

const ESTIMATED = 'The model server did not count them.';

const usage = z.looseObject({
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  total_tokens: z.int().min(0),
  estimated: z.literal(true).optional().meta({ description: ESTIMATED }),
});

const frame = { id: z.string(), created: z.int(), model: z.string() };

export const chatCompletion = z.looseObject({
  ...frame,
  object: z.literal('chat.completion'),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: z.looseObject({
        role: z.literal('assistant'),
        content: z.string().nullable().meta({ description: 'Null only beside tool calls.' }),
        tool_calls: z.array(z.looseObject({})).optional(),
      }),
      finish_reason: z.string(),
    }),
  ),
  usage,
});

export const completion = z.looseObject({
  ...frame,
  object: z.literal('text_completion'),
  choices: z.array(z.looseObject({ index: z.int(), text: z.string(), finish_reason: z.string() })),
  usage,
});

const USAGE_CHUNK = 'Only in the last chunk, where `stream_options.include_usage` asks for it.';

export const chatCompletionChunk = z.looseObject({
  ...frame,
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      delta: z.looseObject({
        role: z.string().optional(),
        content: z.string().nullish(),
      }),
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: usage.nullish().meta({ description: USAGE_CHUNK }),
});

export const completionChunk = z.looseObject({
  ...frame,
  object: z.literal('text_completion'),
  choices: z.array(
    z.looseObject({ index: z.int(), text: z.string(), finish_reason: z.string().nullish() }),
  ),
  usage: usage.nullish().meta({ description: USAGE_CHUNK }),
});

const spent = z.looseObject({
  prompt_tokens: z.int().min(0),
  total_tokens: z.int().min(0),
  estimated: z.literal(true).optional().meta({ description: ESTIMATED }),
});

export const embeddingList = z.looseObject({
  object: z.literal('list'),
  data: z.array(
    z.looseObject({
      object: z.literal('embedding'),
      index: z.int().min(0),
      embedding: z
        .union([z.array(z.number()), z.string()])
        .meta({ description: 'Numbers; or base64 of 32-bit floats, little-endian.' }),
    }),
  ),
  model: z.string(),
  usage: spent,
});

export const ranking = z.looseObject({
  object: z.literal('list'),
  model: z.string(),
  results: z.array(
    z.looseObject({
      index: z.int().min(0),
      relevance_score: z.number(),
      document: z.object({ text: z.string() }).optional(),
    }),
  ),
  usage: spent,
});

export const transcription = z.object({
  text: z.string(),
  language: z.string().optional(),
  duration: z.number().min(0).optional().meta({ description: 'Seconds.' }),
  words: z
    .array(z.object({ word: z.string(), start: z.number(), end: z.number() }))
    .optional()
    .meta({ description: 'Only where `timestamp_granularities[]` asks for `word`.' }),
  segments: z
    .array(z.looseObject({ id: z.int(), start: z.number(), end: z.number(), text: z.string() }))
    .optional()
    .meta({ description: 'Only with `verbose_json`.' }),
  usage: z.object({ type: z.literal('duration'), seconds: z.number().min(0) }),
});

export const voiceList = z.object({ voices: z.array(z.string()) });
